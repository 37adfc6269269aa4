"""The sections of the benchmark, task by task: a set, a split and a method, and how one task is computed."""

import time
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

import gvoys as gv
from gvoys.apps.evaluation.evaluate import measure
from studies.learning_data import COPIED, GENERATED, MOLECULEACE, Molecules, Split, places, read
from studies.learning_methods import CLASSIFIER, FOREST, PARTS, REGRESSOR, TANIMOTO, Compared, learner
from studies.memory import peak_memory

GAUCHE = {"ESOL": 10, "FreeSolv": 10, "Photoswitch": 10, "Lipophilicity": 10}  # number of splits
N_SEEDS = 3  # of the sets with classes
SMALL = ("CHEMBL4616_EC50", "CHEMBL2034_Ki", "CHEMBL1862_Ki", "CHEMBL262_Ki", "ESOL", "FreeSolv")
# most seconds
SPEED = {
    ("Lipophilicity", 1000): 10.0,
    ("Lipophilicity", 3400): 120.0,
    (GENERATED, 100_000): None,
    (COPIED, 1_000_000): 600.0,
}
N_THREADS = 2
_WARM = 100  # molecules of the fit that compiles


class Task(NamedTuple):
    """What one line of the results is about."""

    section: str
    set: str
    split: Split
    method: Compared


def _tasks(section: str, sets: Any, splits: Any, methods: Any) -> list[Task]:
    return [Task(section, *each) for each in product(sets, splits, methods)]


def _random(count: int) -> list[Split]:
    return [Split("random", seed) for seed in range(count)]


_IN_TIME = learner("gvoys", gv.RandomWalkRegressor(n_jobs=N_THREADS))

SECTIONS = {
    "moleculeace": _tasks("moleculeace", MOLECULEACE, [Split("own")], (REGRESSOR, TANIMOTO)),
    "gauche": [
        task
        for name, count in GAUCHE.items()
        for task in _tasks("gauche", [name], _random(count), (REGRESSOR, TANIMOTO))
    ],
    "classes": _tasks(
        "classes",
        ("bace", "bbbp"),
        [Split(kind, seed) for kind in ("random", "scaffold") for seed in range(N_SEEDS)],
        (CLASSIFIER, FOREST),
    ),
    "qm7": _tasks("qm7", ["qm7"], _random(1), (REGRESSOR, FOREST)),
    "parts": _tasks("parts", SMALL, [Split("inner")], PARTS),
    "speed": [Task("speed", name, Split("first", count), _IN_TIME) for name, count in SPEED],
}


def compute(task: Task, warm: set[str]) -> dict[str, Any]:
    """What the results keep of a task; methods that are not in `warm` are compiled first."""
    molecules = read(task.set)
    train, test = places(molecules, task.split)
    method = task.method.make(molecules)
    sizes = {"n_train": len(train), "n_test": len(test), "n_skipped": molecules.n_skipped}
    if task.method.name not in warm:
        method.fit(train[:: max(1, len(train) // _WARM)])
        warm.add(task.method.name)
    if task.section == "speed":
        with threadpool_limits(N_THREADS):
            memory, seconds = peak_memory(lambda: method.fit(train))
        return sizes | {"seconds": seconds, "memory": memory}
    begin = time.perf_counter()
    predict = method.fit(train)
    seconds = time.perf_counter() - begin
    found = predict(test)
    scores = measure(molecules.y[test], found, molecules.classes)
    return sizes | scores | _on_cliffs(molecules, test, found.values) | {"seconds": seconds}


def _on_cliffs(molecules: Molecules, test: np.ndarray, values: np.ndarray) -> dict[str, float]:
    if molecules.cliffs is None:
        return {}
    error = (values - molecules.y[test])[molecules.cliffs[test]]
    return {"cliff RMSE": float(np.sqrt(np.mean(error**2)))}
