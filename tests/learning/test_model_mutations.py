"""Model files changed at random, with checksums that fit: one sentence when they are loaded, or the same predictions.

GVOYS_MODEL_MUTATIONS is the number of changes; with -s, outcomes are counted by kind of change.
"""

import os
from collections import Counter

import numpy as np
import pytest
from model_files import ModelFile, change
from spelling import classifier, regressor
from test_saving import BATCH, MODELS, NEW, answers, with_attributes

import gvoys as gv
from gvoys.errors import ModelError

CHANGES = int(os.environ.get("GVOYS_MODEL_MUTATIONS", "150"))  # make fuzz tries 3,000
SIZES = BATCH.graph_sizes
IDS = {"target": "size", "ids": [f"graph {k}" for k in range(len(BATCH))]}
FIXED = {"refine": 1, "C": 1.0}
MORE = {
    "sketched": (classifier(2, kernel="linear", n_components=16, method="sketch", **FIXED), SIZES > 12),
    "several columns": (classifier(2, kernel="gaussian", **FIXED), np.column_stack([SIZES > 12, SIZES % 3])),
    "linear": (regressor(2, kernel="linear"), SIZES),
    "linear by features": (regressor(2, kernel="linear", max_exact=10, n_components=64), SIZES),
    "several targets": (regressor(2, kernel="matern32 + linear"), np.column_stack([SIZES, -SIZES % 7])),
}
KINDS = [*MORE, *(name for name in MODELS if name not in ("a random state", "classes as objects", "in pieces"))]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Files of several models, with what they predict for some graphs."""
    folder, found = tmp_path_factory.mktemp("models"), {}
    for kind in KINDS:
        model = MORE[kind][0].fit(BATCH, MORE[kind][1]) if kind in MORE else MODELS[kind]()
        model.training_ = IDS
        model.save(folder / kind)
        graphs = with_attributes(NEW) if kind == "attributes" else NEW
        found[kind] = folder / kind, graphs, predictions(gv.load_model(folder / kind), graphs)
    return found


def predictions(model, graphs):
    """All columns, and the decisions of classifiers; the nearest fitted graphs have names where there are any."""
    table, ids = model.predict_table(graphs), getattr(model, "training_", {}).get("ids")
    assert ids is None or all(isinstance(ids[place], str) for place in table.get("nearest", []))
    return [answers(model, graphs) if model.predict(graphs).ndim == 1 else np.zeros(0), *table.values()]


def outcome(path, graphs, expected):
    """\"sentence\", \"same\", or what went wrong."""
    try:
        model = gv.load_model(path)
    except ModelError as error:
        return "sentence" if "\n" not in str(error) and str(path) in str(error) else f"no sentence: {error}"
    except Exception as error:
        return f"{type(error).__name__} at load: {error}"
    try:
        found = predictions(model, graphs)
    except Exception as error:
        return f"{type(error).__name__} in predict: {error}"
    same = len(found) == len(expected) and all(map(np.array_equal, found, expected))
    return "same" if same else "predicts something else"


@pytest.mark.filterwarnings("ignore")
def test_changed_models_are_not_loaded_or_predict_the_same(files, tmp_path):
    counts, wrong = Counter(), []
    for seed in range(CHANGES):
        rng, kind = np.random.default_rng(seed), KINDS[seed % len(KINDS)]
        path, graphs, expected = files[kind]
        file = ModelFile(path)
        name = change(file, rng)
        file.write(tmp_path / "m")
        found = outcome(tmp_path / "m", graphs, expected)
        counts[name, found] += 1
        wrong += [] if found in ("sentence", "same") else [(seed, kind, name, found)]
    print(*sorted(counts.items()), sep="\n")
    assert not wrong, "\n".join(map(str, wrong))
    assert sum(count for (_, found), count in counts.items() if found == "sentence") > 0.5 * CHANGES
