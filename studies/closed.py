"""Closed walks: every node of NCI1 exactly, and a graph of 10^6 nodes and 10^7 edges with error bars."""

from time import perf_counter

import numpy as np
from rich.console import Console
from rich.table import Table

import gvoys as gv
from gvoys.errors import DatasetError
from gvoys.walks import closed_walk_totals, closed_walks, structural_labels
from studies.timing import measure

N_NODES, N_EDGES, LENGTH = 10**6, 10**7, 16
SECONDS = 60.0


def run(console: Console) -> None:
    _collection(console)
    title = f"one graph of {N_NODES:,} nodes and {N_EDGES:,} edges, closed walks of length 0 … {LENGTH}"
    table = Table("graph", "time", "random vectors", "even, within", "triangles", "odd, standard errors", title=title)
    for name, edges in large_graphs():
        graph = gv.GraphBatch.from_arrays(edges=edges, graph_sizes=[N_NODES])
        begin = perf_counter()
        found = closed_walk_totals(graph, LENGTH)
        seconds = perf_counter() - begin
        with np.errstate(divide="ignore", invalid="ignore"):
            relative = found.standard_errors[0] / np.abs(found.values[0])
        odd = ", ".join(f"{length}: {relative[length]:.1%}" for length in range(5, LENGTH, 2))
        within = f"{1.96 * relative[4::2].max():.2%}"
        triangles = f"{found.values[0, 3] / 6:,.0f}"
        table.add_row(name, f"{seconds:.1f} s", str(found.n_vectors[0]), within, triangles, odd)
    table.caption = f"{SECONDS:.0f} s and 1 % wanted"
    console.print(table)


def _collection(console: Console) -> None:
    try:
        name, batch = "NCI1", gv.datasets.load_tu("NCI1")[0]
    except DatasetError:
        name, batch = "4,110 generated molecules", gv.datasets.molecules(4110, mean_nodes=30)
    console.print(f"{name}, lengths 0 … {LENGTH}, every node (0.5 s wanted):")
    for what, work in (
        ("numbers of closed walks", lambda: closed_walks(batch, LENGTH)),
        ("return probabilities", lambda: gv.return_probabilities(batch, LENGTH)),
        ("labels by closed walks, modulo two primes", lambda: structural_labels(batch, "closed", LENGTH)),
    ):
        console.print(f"  {what} {measure(work, repeats=3)}")


def large_graphs(seed: int = 0):
    """Names and edges of three kinds: uniform, with hubs, and with many triangles."""
    rng = np.random.default_rng(seed)
    yield "uniform", rng.integers(N_NODES, size=(N_EDGES, 2))
    shares = (1.0 + np.arange(N_NODES)) ** -0.5  # degrees that fall off as k^-3
    ends = np.searchsorted(np.cumsum(shares) / shares.sum(), rng.random((N_EDGES, 2)))
    yield "hubs", np.minimum(ends, N_NODES - 1)
    first = rng.integers(N_NODES, size=N_EDGES)
    yield "ring of near neighbours", np.column_stack([first, (first + rng.integers(1, 16, size=N_EDGES)) % N_NODES])
