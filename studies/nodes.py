"""Gaussian processes on the nodes of one large graph: a million nodes on two cores, and beside graph random features.

`python -m studies nodes-gpu` fits a graph of 10^8 entries on a GPU.
"""

import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import scipy.sparse as sp
from rich.console import Console
from rich.table import Table
from scipy.sparse.linalg import LinearOperator, cg
from scipy.spatial import cKDTree

import gvoys as gv
from gvoys.nodes import Diffusion
from studies.memory import peak_memory

N_NODES, SHARE, NOISE = 10**6, 0.1, 0.3
SECONDS, GIGABYTES = 60.0, 4.0
KINDS = ("grid", "random geometric", "scale-free")
SIDE = 300  # of the grid on which graph random features are compared
DECAY, WALKS = gv.Exponential(0.5), (4, 16, 64, 256)


def run(console: Console) -> None:
    _million(console)
    _beside_random_features(console)


def run_on_gpu(console: Console) -> None:
    title = f"10^8 entries on a GPU, {SHARE:.0%} of the nodes observed ({SECONDS:.0f} s wanted)"
    table = _table(title)
    for name, graph in _of_a_hundred_million_entries():
        _fit_small("cuda")
        _row(table, name, _fitted(graph, "cuda"))
    console.print(table)


# -- a million nodes


def _million(console: Console) -> None:
    title = f"{N_NODES:,} nodes, {SHARE:.0%} observed ({SECONDS:.0f} s and {GIGABYTES:.0f} GB wanted)"
    table = _table(title)
    for kind in KINDS:
        with ProcessPoolExecutor(1, get_context("spawn")) as alone:  # so that memory is that of one fit
            _row(table, kind, alone.submit(_fitted_kind, kind).result())
    console.print(table)


def _fitted_kind(kind: str) -> dict[str, float]:
    _fit_small("cpu")
    return _fitted(made(kind, N_NODES), "cpu")


def _fit_small(device: str) -> None:
    """Compile the kernels, or read them from the disk."""
    _fitted(made("grid", 40_000), device)


def _fitted(graph: gv.GraphBatch, device: str) -> dict[str, float]:
    """Learn from a tenth of the nodes, and predict all of them with intervals."""
    rng = np.random.default_rng(0)
    f = gv.node_kernel(graph, Diffusion(16.0), tol=1e-4) @ rng.normal(size=graph.n_nodes)
    f /= f.std()
    y = f + NOISE * rng.normal(size=graph.n_nodes)
    seen = np.sort(rng.choice(graph.n_nodes, int(SHARE * graph.n_nodes), replace=False))
    new = np.setdiff1d(np.arange(graph.n_nodes), seen)
    model = gv.NodeRegressor(**({} if device == "cpu" else {"device": device}))
    found = []

    def work() -> None:
        found.extend(model.fit(graph, seen, y[seen]).predict(return_std=True))

    peak, seconds = peak_memory(work, beyond=False)
    mean, std = found
    return {
        "entries": graph.n_entries,
        "seconds": seconds,
        "bytes": peak,
        "rmse": float(np.sqrt(np.mean((mean[new] - f[new]) ** 2))),
        "noise": model.noise_,
        "covered": float(np.mean(np.abs(y[new] - mean[new]) <= 1.96 * std[new])),
    }


def _table(title: str) -> Table:
    columns = ("graph", "entries", "fit and predict", "memory", "RMSE of f (its deviation is 1)", "noise", "covered")
    return Table(*columns, title=title)


def _row(table: Table, name: str, found: dict[str, float]) -> None:
    table.add_row(
        name,
        f"{found['entries']:,}",
        f"{found['seconds']:.1f} s",
        f"{found['bytes'] / 1e9:.1f} GB",
        f"{found['rmse']:.3f}",
        f"{found['noise']:.3f} of {NOISE}",
        f"{found['covered']:.1%}",
    )


# -- graphs


def made(kind: str, n_nodes: int) -> gv.GraphBatch:
    """A graph of one of the kinds, with about so many nodes."""
    if kind == "grid":
        return grid(round(n_nodes**0.5))
    if kind == "random geometric":
        places = np.random.default_rng(0).random((n_nodes, 2))
        edges = cKDTree(places).query_pairs((10.0 / np.pi / n_nodes) ** 0.5, output_type="ndarray")
        return gv.GraphBatch.from_arrays(edges=edges, graph_sizes=[n_nodes])
    return with_hubs(n_nodes)


def grid(side: int) -> gv.GraphBatch:
    """A square grid."""
    places = np.arange(side * side).reshape(side, side)
    across = np.column_stack([places[:, :-1].ravel(), places[:, 1:].ravel()])
    down = np.column_stack([places[:-1].ravel(), places[1:].ravel()])
    return gv.GraphBatch.from_arrays(edges=np.concatenate([across, down]), graph_sizes=[side * side])


def with_hubs(n_nodes: int) -> gv.GraphBatch:
    """Five edges a node, and degrees that fall off as k^-3."""
    shares = np.cumsum((1.0 + np.arange(n_nodes)) ** -0.5)
    ends = np.searchsorted(shares / shares[-1], np.random.default_rng(0).random((5 * n_nodes, 2)))
    edges = np.minimum(ends, n_nodes - 1).astype(np.int32)
    return gv.GraphBatch.from_arrays(edges=edges, graph_sizes=[n_nodes])


def _of_a_hundred_million_entries() -> Iterator[tuple[str, gv.GraphBatch]]:
    yield "grid, 25,000,000 nodes", grid(5000)
    n, rng = 10**7, np.random.default_rng(0)
    edges = rng.integers(n, size=(5 * n, 2), dtype=np.int32)
    yield "uniform, 10,000,000 nodes", gv.GraphBatch.from_arrays(edges=edges, graph_sizes=[n])
    del edges
    yield "hubs, 10,000,000 nodes", with_hubs(n)


# -- beside graph random features


def _beside_random_features(console: Console) -> None:
    """Posterior means of the same process with the same noise: relative errors, and times from graph to means."""
    graph, rng = grid(SIDE), np.random.default_rng(0)
    n = graph.n_nodes
    seen = np.sort(rng.choice(n, n // 10, replace=False))
    exact = gv.node_kernel(graph, DECAY, tol=1e-12)
    y = (exact @ rng.normal(size=n))[seen] + NOISE * rng.normal(size=len(seen))
    truth = _means(lambda x: exact @ x, n, seen, y, 1e-12)
    column = exact.columns([n // 2])[:, 0]
    table = Table("method", "means: time", "error", "a column: time", "error", title=f"a grid of {n:,} nodes")
    for tol in (1e-2, 1e-4, 1e-8):

        def means(tol: float = tol) -> np.ndarray:
            kernel = gv.node_kernel(graph, DECAY, tol=tol)
            return _means(lambda x: kernel @ x, n, seen, y, tol)

        def one(tol: float = tol) -> np.ndarray:
            return gv.node_kernel(graph, DECAY, tol=tol).columns([n // 2])[:, 0]

        table.add_row(f"node_kernel, tol={tol:g}", *_timed(means, truth), *_timed(one, column))
    for antithetic in (False, True):
        for n_walks in WALKS:

            def means(n_walks: int = n_walks, antithetic: bool = antithetic) -> np.ndarray:
                F = gv.GraphRandomFeatures(DECAY, n_walks, antithetic=antithetic).fit_transform(graph)
                return _means(lambda x: F @ (F.T @ x), n, seen, y, 1e-4)

            def one(n_walks: int = n_walks, antithetic: bool = antithetic) -> np.ndarray:
                features = gv.GraphRandomFeatures(DECAY, 1000 * n_walks, antithetic=antithetic).fit(graph)
                return sp.csr_array(features.columns(graph, [n // 2])).toarray()[:, 0]

            name = f"graph random features, {n_walks} walks a node (1000 times for a column)"
            table.add_row(name + (", antithetic" if antithetic else ""), *_timed(means, truth), *_timed(one, column))
    console.print(table)


def _means(multiply, n: int, seen: np.ndarray, y: np.ndarray, tol: float) -> np.ndarray:
    """Posterior means of all nodes, by SciPy's conjugate gradients."""

    def spread(alpha: np.ndarray) -> np.ndarray:
        x = np.zeros(n)
        x[seen] = alpha
        return multiply(x)

    m = len(seen)
    A = LinearOperator((m, m), lambda alpha: spread(alpha)[seen] + NOISE**2 * alpha, dtype=float)
    return spread(cg(A, y, rtol=tol)[0])


def _timed(work, truth: np.ndarray) -> tuple[str, str]:
    work()
    begin = time.perf_counter()
    found = work()
    seconds = time.perf_counter() - begin
    return f"{seconds:.3f} s", f"{np.linalg.norm(found - truth) / np.linalg.norm(truth):.1e}"
