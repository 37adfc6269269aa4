"""What everybody computes: Gram matrices of geometric and exponential kernels, walks from every node to every node."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.datasets import load_tu, molecules, regular
from gvoys.errors import DatasetError
from gvoys.estimators import RandomWalkKernel
from gvoys.exact import exact_kernel
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.spectrum import max_degree
from gvoys.series import Exponential, Geometric, Series
from gvoys.walks import Walk

__all__ = ["Task", "Way", "make_tasks", "our_ways", "true_gram"]

_QUICK, _FEW = 20, 60  # graphs that the slowest of all can compare


@dataclass(frozen=True)
class Task:
    """One Gram matrix to compute."""

    name: str
    batch: GraphBatch
    decay: float
    kind: str = "geometric"  # or exponential
    labelled: bool = False

    @property
    def series(self) -> Series:
        return Geometric(self.decay) if self.kind == "geometric" else Exponential(self.decay)

    @property
    def labels(self) -> str | None:
        return "node" if self.labelled else None


@dataclass(frozen=True)
class Way:
    """One way of ours to a Gram matrix."""

    name: str
    run: Callable[[Task], NDArray[np.float64]]


def make_tasks(quick: bool, root: str | None) -> list[Task]:
    """Molecules and random graphs, as many as the slowest peer can do in a minute or two, and all of MUTAG."""
    try:
        whole, name = load_tu("MUTAG", root)[0], "MUTAG"
    except DatasetError:
        if root is not None:
            raise
        whole, name = molecules(188, mean_nodes=18, n_labels=7), "synthetic molecules"
    few, decay = whole[: _QUICK if quick else _FEW], 1.0 / max_degree(whole) ** 2
    tasks = [
        Task(f"{name}, {len(few)} graphs, geometric", few, decay),
        Task(f"{name}, {len(few)} graphs, exponential", few, decay, "exponential"),
        Task(f"{name}, {len(few)} graphs, geometric, labels", few, decay, labelled=True),
    ]
    if quick:
        return tasks
    return [
        *tasks,
        Task(f"{name}, {len(whole)} graphs, geometric", whole, decay),
        Task(f"{name}, {len(whole)} graphs, geometric, labels", whole, decay, labelled=True),
        Task("10 random graphs of 100 nodes and degree 4, geometric", regular(10, 100, 4), 1.0 / 20),
    ]


def our_ways(task: Task) -> list[Way]:
    """Exact methods, and for labels an estimate and a cut as well."""
    if not task.labelled:
        return [Way("gvoys, moments", _kernel(None, method="moments"))]
    return [
        Way("gvoys, sequences up to length 4", _kernel(4, method="sequences")),
        Way("gvoys, sequences up to length 8", _kernel(8, method="sequences")),
        Way("gvoys, sketch, 4096 components", _kernel(8, method="sketch", n_components=4096)),
    ]


def true_gram(task: Task) -> NDArray[np.float64]:
    """The whole series, pair by pair, by the product graph's definition (the vec trick)."""
    n = len(task.batch)
    K = np.zeros((n, n))
    for i in range(n):
        for j in range(i, n):
            K[i, j] = K[j, i] = exact_kernel(
                task.batch[i], task.batch[j], task.series, Walk(None, labels=task.labels, start="ones", stop="ones")
            )
    return K


def _kernel(max_length: int | None, **how: Any) -> Callable[[Task], NDArray[np.float64]]:
    def run(task: Task) -> NDArray[np.float64]:
        walk = Walk(max_length, labels=task.labels, start="ones", stop="ones")
        kernel = RandomWalkKernel(task.series, walk, **how)
        return kernel.fit_transform(task.batch)

    return run
