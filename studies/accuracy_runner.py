"""Accuracies of one dataset, under the gvoys that PYTHONPATH gives: dataset, number of seeds, folds of each.

Old and new code run this same file, so it uses names of 0.1 only, and defaults.
"""

import json
import sys

import numpy as np
from sklearn.model_selection import StratifiedKFold

import gvoys as gv

N_FOLDS = 10


def main() -> None:
    name, n_seeds, n_folds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    batch, y = gv.datasets.load_tu(name)
    y = np.asarray(y)
    scores = []
    for seed in range(n_seeds):
        folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed).split(y, y)
        for train, test in list(folds)[:n_folds]:
            model = gv.RandomWalkClassifier().fit(batch[train], y[train])
            scores.append(float(model.score(batch[test], y[test])))
    print(json.dumps({"file": gv.__file__, "scores": scores}))


if __name__ == "__main__":
    main()
