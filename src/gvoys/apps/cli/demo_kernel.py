"""gvoys demo --kernel: the exact kernel of MUTAG, a classifier on it, and the same by GraKeL."""

from __future__ import annotations

import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from gvoys.graphs.batch import GraphBatch
    from gvoys.series import Series


INSTALL = 'pip install "gvoys[peers]"'


def compare_kernels(console: Console, root: Path | None, compare: bool, seed: int) -> None:
    """Classify the 188 molecules of MUTAG by the walks they share, with GraKeL beside it.

    The kernel is the exact geometric random walk kernel of the graphs without labels; a support vector machine is
    cross-validated on it in ten folds.
    """
    from rich.table import Table

    from gvoys.graphs.degrees import max_degree
    from gvoys.series import Geometric

    batch, y = _load(root)
    series: Any = Geometric("auto").resolved(max_degree(batch))
    console.print(
        f"\n[bold]MUTAG[/bold]: {len(batch)} molecules, {batch.n_nodes} atoms, {batch.n_edges} bonds, two classes"
    )
    console.print(f"kernel: all walks that two molecules share, mu_i = decay^i, decay = 1/d_max² = {series.rate:g}\n")
    exact_gram(batch[:2], series)  # compile, or read the compiled kernels from disk
    K, seconds = _timed(lambda: exact_gram(batch, series))
    title = f"Gram matrix of {len(batch)} x {len(batch)} graphs"
    table = Table("", "seconds", "accuracy, 10 folds", "largest difference", title=title)
    table.add_row("gvoys, exact moments", f"{seconds:.4f}", _accuracy(K, y, seed), "")
    has_grakel = compare and find_spec("grakel") is not None
    if has_grakel:
        with console.status("GraKeL computes the same kernel …"):
            grakel_matrix, their_seconds = _timed(lambda: grakel_gram(batch, series.rate))
        off = f"{float(abs(grakel_matrix / K - 1).max()):.1e} relative"
        table.add_row("GraKeL, RandomWalk fast", f"{their_seconds:.4f}", _accuracy(grakel_matrix, y, seed), off)
    console.print(table)
    if has_grakel:
        console.print(f"The same kernel, {their_seconds / seconds:,.0f} times faster.\n")
    elif compare:
        console.print(
            f"GraKeL is not installed, so there is nothing to compare with; install it with {INSTALL}.\n", markup=False
        )


def exact_gram(batch: GraphBatch, series: Series) -> Any:
    """The Gram matrix of the infinite series between unlabelled graphs, walks starting and stopping anywhere."""
    from gvoys.graphs.spectrum import spectral_radius
    from gvoys.walks.arrays import compute_gram, profiles
    from gvoys.walks.walk import Walk

    length = series.truncation_length(float(spectral_radius(batch, 1e-3).max()) ** 2, 1e-12)
    walk = Walk(length, labels=None, start="ones", stop="ones")
    return compute_gram(profiles(batch, walk, "moments"), series)


def grakel_gram(batch: GraphBatch, decay: float) -> Any:
    """The same by GraKeL: conjugate gradients, pair by pair."""
    from grakel.kernels import RandomWalk

    graphs = [[graph.adjacency().toarray()] for graph in batch]
    return RandomWalk(lamda=decay, method_type="fast", kernel_type="geometric").fit_transform(graphs)


def _load(root: Path | None) -> tuple[GraphBatch, Any]:
    from gvoys.datasets import load_tu
    from gvoys.errors import DatasetError

    try:
        return load_tu("MUTAG", root)
    except DatasetError as error:
        if root is not None:
            raise
        raise DatasetError(f"{error}; GraKeL carries MUTAG: {INSTALL}") from None


def _timed(work: Any) -> tuple[Any, float]:
    begin = time.perf_counter()
    result = work()
    return result, time.perf_counter() - begin


def _accuracy(K: Any, y: Any, seed: int) -> str:
    """Nested cross-validation: C is chosen inside each training fold."""
    import numpy as np
    from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
    from sklearn.svm import SVC

    machine = GridSearchCV(SVC(kernel="precomputed", max_iter=1_000_000), {"C": 10.0 ** np.arange(-2, 5)}, cv=5)
    folds = StratifiedKFold(10, shuffle=True, random_state=seed)
    norms = np.sqrt(np.diag(K))
    scores = 100 * cross_val_score(machine, K / np.outer(norms, norms), y, cv=folds)
    return f"{scores.mean():.1f} ± {scores.std():.1f} %"
