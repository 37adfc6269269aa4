"""One row of `python -m studies against`, under the gvoys that PYTHONPATH gives.

Old and new code run this same file, so it uses names of 0.1 only, and defaults wherever there are any.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import gvoys as gv
from gvoys.errors import DatasetError

Work = Callable[[], Any]


def _data(name: str, count: int) -> tuple[gv.GraphBatch, np.ndarray]:
    """A dataset with its classes, or as many generated molecules in two classes."""
    try:
        return gv.datasets.load_tu(name)
    except DatasetError:
        batch = gv.datasets.molecules(count)
        return batch, batch.graph_sizes > np.median(batch.graph_sizes)


def _conversion() -> Work:
    graphs = gv.datasets.molecules(2000).to_networkx()
    return lambda: gv.as_batch(graphs)


def walk_parameters(**fields: Any) -> dict[str, Any]:
    """The fields of a walk as this version of gvoys takes them."""
    return {"walk": gv.Walk(**fields)} if hasattr(gv, "Walk") else fields


def _profiles(method: str, n_components: int = 512, dataset: str = "NCI1", count: int = 4110, **fields: Any) -> Work:
    how = walk_parameters(**fields)
    batch, _ = _data(dataset, count)
    return lambda: gv.profiles(batch, method=method, n_components=n_components, **how)


def _sketch(n_components: int = 1024, **how: Any) -> Work:
    return _profiles("sketch", n_components, max_length=8, **how)


def _transform(model: Any, batch: gv.GraphBatch) -> Work:
    return lambda: model.fit_transform(batch)


def _classifier(name: str, count: int) -> Work:
    batch, y = _data(name, count)
    return lambda: gv.RandomWalkClassifier().fit(batch, y).predict(batch)


def _regressor() -> Work:
    batch = gv.datasets.molecules(500)
    fields = {"max_length": 5, "refine": 0, "backtrack": False, "start": "ones", "stop": "ones"}
    how = walk_parameters(labels="node", **fields)
    return lambda: gv.RandomWalkRegressor(kernel="linear", **how).fit(batch, batch.graph_sizes)


def _exact() -> Work:
    g, h = gv.datasets.erdos_renyi(2, 300, 0.05, connected=True)
    return lambda: gv.exact_kernel(g, h, gv.Geometric(1e-3))


def _store() -> Work:
    batch = gv.datasets.molecules(20_000)

    def work() -> None:
        with tempfile.TemporaryDirectory() as folder:
            gv.write_store(batch, Path(folder) / "store")
            gv.open_store(Path(folder) / "store")

    return work


def _embed() -> Work:
    from rdkit import RDConfig

    molecules = Path(RDConfig.RDDataDir) / "NCI" / "first_5K.smi"

    def work() -> None:
        with tempfile.TemporaryDirectory() as folder:
            _python("-m", "gvoys", "embed", str(molecules), "-o", f"{folder}/features")

    return work


def _python(*arguments: str) -> None:
    done = subprocess.run([sys.executable, "-P", *arguments], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError((done.stderr or done.stdout).strip()[-300:])


_EIGHT = walk_parameters(max_length=8)
ROWS: dict[str, Callable[[], Work]] = {
    "import gvoys": lambda: lambda: _python("-c", "import gvoys"),
    "as_batch, 2000 networkx graphs": _conversion,
    "moments, NCI1": lambda: _profiles("moments", max_length=8),
    "sketch, NCI1": _sketch,
    "sketch, NCI1, non-backtracking": lambda: _sketch(256, backtrack=False),
    "sketch, MUTAG, edge labels": lambda: _sketch(dataset="MUTAG", count=188, labels="both"),
    "sequences, NCI1, up to length 4": lambda: _profiles("sequences", max_length=4),
    "RandomWalkKernel, MUTAG": lambda: _transform(gv.RandomWalkKernel(**_EIGHT), _data("MUTAG", 188)[0]),
    "RandomWalkFeatures, NCI1": lambda: _transform(gv.RandomWalkFeatures(**_EIGHT), _data("NCI1", 4110)[0]),
    "RandomWalkClassifier, MUTAG": lambda: _classifier("MUTAG", 188),
    "RandomWalkClassifier, ENZYMES": lambda: _classifier("ENZYMES", 600),
    "RandomWalkRegressor, 500 molecules": _regressor,
    "GraphVoyagers, 200 molecules": lambda: _transform(gv.GraphVoyagers(), gv.datasets.molecules(200)),
    "exact_kernel, a pair of 300 nodes": _exact,
    "store of 20,000 molecules": _store,
    "gvoys embed, 5000 SMILES": _embed,
}


def seconds_of(work: Work, repeats: int) -> float:
    """The best of some runs."""
    found = []
    for _ in range(repeats):
        begin = time.perf_counter()
        work()
        found.append(time.perf_counter() - begin)
    return min(found)


def main() -> None:
    """Make the row named, run it twice to warm up, then answer every number of repeats that comes in with seconds."""
    answers, sys.stdout = sys.stdout, sys.stderr  # what gvoys may print is no answer
    try:
        work = ROWS[sys.argv[1]]()
        work()
        print(json.dumps({"seconds": seconds_of(work, 1), "file": gv.__file__}), file=answers, flush=True)
        for line in sys.stdin:
            print(json.dumps({"seconds": seconds_of(work, int(line))}), file=answers, flush=True)
    except Exception as error:
        print(json.dumps({"error": f"{type(error).__name__}: {error}"}), file=answers, flush=True)
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
