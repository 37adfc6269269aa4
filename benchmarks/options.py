"""What the options of a sketch cost beside labels on nodes alone: python -m benchmarks options [--arcs 10000000]

On one thread: NCI1 with 1024 components, and one graph with hubs with 128, since a large graph is sketched one group of
128 after the other. Then the same graph on all threads, which share the entries of its hubs.
"""

import argparse
import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np
from rich.console import Console
from rich.table import Table

import gvoys as gv
from benchmarks.timing import show
from gvoys.errors import DatasetError
from gvoys.graphs.labels import Labels, hash_integers

MAX_LENGTH, N_EDGE_LABELS, N_NODE_LABELS = 8, 3, 8
COLLECTION, ONE_GRAPH = 1024, 128  # components
DEGREE = 10
# times the plain sketch
BARS = {"plain": 1.0, "weights": 1.5, "edge labels": 4.0, "backtrack=False": 5.0, "both": 6.0}


def main(arguments: Sequence[str], console: Console) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks options", description="The cost of a sketch's options.")
    parser.add_argument("--arcs", type=int, default=10**7, help="entries of the graph with hubs; 0 for none")
    n_arcs = parser.parse_args(arguments).arcs
    met = _compare(console, *_collection(), COLLECTION, repeats=6)
    if n_arcs:
        met &= _compare(console, with_hubs(n_arcs), "one graph with hubs", ONE_GRAPH, repeats=2)
    return 0 if met else 1


def _collection() -> tuple[gv.GraphBatch, str]:
    try:
        return gv.datasets.load_tu("NCI1")[0], "NCI1"
    except DatasetError:
        return gv.datasets.molecules(4110), "generated molecules of the size of NCI1"


def _compare(console: Console, batch: gv.GraphBatch, name: str, n_components: int, repeats: int) -> bool:
    batch = _labelled(batch)
    weighted = replace(batch, edge_weights=0.5 + batch.edge_labels.codes)
    cases = {
        "plain": (batch, {"labels": "node"}),
        "weights": (weighted, {"labels": "node"}),
        "edge labels": (batch, {"labels": "both"}),
        "backtrack=False": (batch, {"labels": "node", "backtrack": False}),
        "both": (batch, {"labels": "both", "backtrack": False}),
    }
    seconds: dict[tuple[str, int], list[float]] = {(case, n): [] for case in cases for n in (1, -1)}
    for _ in range(repeats):  # in turn, so that noise of the machine does not fall on one of them
        for case, n_jobs in product(cases, (-1, 1, -1)):  # the first finds the memory, gigabytes of one graph's state
            graphs, options = cases[case]
            begin = time.perf_counter()
            gv.profiles(graphs, gv.Walk(MAX_LENGTH, **options), "sketch", n_components, scale=16.0, n_jobs=n_jobs)
            seconds[case, n_jobs].append(time.perf_counter() - begin)
    table, met = Table("", "one thread", "times plain", "required", "all threads", title=_title(name, batch)), True
    for case, bar in BARS.items():
        one, several = (min(seconds[case, n]) for n in (1, -1))
        ratio = one / min(seconds["plain", 1])
        met &= ratio <= bar
        speed_up = f"{show(several)}, {one / several:.2f} times as fast"
        table.add_row(case, show(one), f"{ratio:.2f}", f"at most {bar:g}", speed_up)
    console.print(table)
    console.print(f"d = {n_components}, L = {MAX_LENGTH}, {N_EDGE_LABELS} edge labels\n")
    return met


def _title(name: str, batch: gv.GraphBatch) -> str:
    return f"Sketch of {name}: {batch!r}, largest degree {int(np.diff(batch.indptr).max())}"


def _labelled(batch: gv.GraphBatch) -> gv.GraphBatch:
    """Draw the label of each edge from a hash of its ends, the same in both directions."""
    rows, columns = batch.rows().astype(np.int64), batch.columns()
    ends = np.minimum(rows, columns) * batch.n_nodes + np.maximum(rows, columns)
    labels = (hash_integers(ends) % np.uint64(N_EDGE_LABELS)).astype(np.int64)
    return replace(batch, edge_labels=Labels.from_values(labels))


def with_hubs(n_arcs: int) -> gv.GraphBatch:
    """One graph of about so many entries whose first nodes are hubs: the first has about one edge in a hundred."""
    n_nodes, rng = n_arcs // DEGREE, np.random.default_rng(0)
    edges = np.stack([(n_nodes * rng.random(n_arcs // 2) ** 3), n_nodes * rng.random(n_arcs // 2)], axis=1)
    labels = rng.integers(0, N_NODE_LABELS, n_nodes)
    return gv.GraphBatch.from_arrays(edges.astype(np.int64), [n_nodes], node_labels=labels)
