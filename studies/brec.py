"""Which of BREC's 400 pairs, none of which Weisfeiler–Lehman refinement tells apart, structural labels tell apart."""

from dataclasses import replace
from pathlib import Path
from time import perf_counter

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

import gvoys as gv
from gvoys.errors import DatasetError
from gvoys.graphs.labels import combine_hashes
from gvoys.graphs.transform import refinement_rounds
from gvoys.io.fetch import data_folder
from gvoys.walks import structural_labels

CATEGORIES = ("basic", "regular", "str", "extension", "cfi", "4vtx", "dr")
FAMILIES = ("sr16622", "sr251256")  # strongly regular graphs, all of one family with equal parameters
STRUCTURES = {
    "refinement alone": (),
    "closed": ("closed",),
    "rows": ("rows",),
    "deleted": ("deleted",),
    "ball1": ("ball1",),
    "ball1 and deleted": ("ball1", "deleted"),
}
BEST = STRUCTURES["ball1 and deleted"]
LENGTH, ITERATIONS, COPIES = 20, 4, 1000
WANTED, SECONDS = 305, 10.0


def run(console: Console) -> None:
    folder = data_folder("brec")
    try:
        pairs = {name: read_pairs(folder / f"{name}.npy") for name in CATEGORIES}
    except FileNotFoundError:
        raise DatasetError(f"{folder / CATEGORIES[0]}.npy is not here: set GVOYS_DATA to the folder of brec/") from None
    fingerprint(pairs["basic"], BEST)  # compiles
    title = f"pairs of BREC told apart: walks up to {LENGTH}, {ITERATIONS} iterations of refinement"
    table = Table("structure", *CATEGORIES, "all", "time", title=title)
    for name, structure in STRUCTURES.items():
        begin = perf_counter()
        found = [int(np.count_nonzero(tells_apart(batch, structure))) for batch in pairs.values()]
        table.add_row(name, *map(str, found), str(sum(found)), f"{perf_counter() - begin:.2f} s")
    table.caption = f"{WANTED} of 400 wanted, in {SECONDS:.0f} s"
    console.print(table)
    for name in FAMILIES:
        family = read_family(folder / f"{name}.g6")
        kinds = len(np.unique(fingerprint(family, BEST)))
        console.print(f"{name}: {kinds} of {len(family)} told apart by ball1 and deleted")
    every = gv.GraphBatch.concatenate(list(pairs.values()))
    chosen = np.random.default_rng(0).integers(len(every), size=COPIES)
    copies = relabelled(every[chosen])
    wrong = int(np.count_nonzero(fingerprint(every, BEST)[chosen] != fingerprint(copies, BEST)))
    console.print(f"{wrong} of {COPIES:,} relabelled copies told apart from their graph (0 wanted)")


def read_pairs(path: Path) -> gv.GraphBatch:
    """The two graphs of one pair after the other."""
    import networkx as nx

    lines = np.load(path).ravel().tolist()
    return gv.as_batch([nx.from_graph6_bytes(line if isinstance(line, bytes) else line.encode()) for line in lines])


def read_family(path: Path) -> gv.GraphBatch:
    """All graphs of a file in graph6."""
    import networkx as nx

    return gv.as_batch(nx.read_graph6(path))


def fingerprint(batch: gv.GraphBatch, structure: tuple[str, ...]) -> NDArray[np.uint64]:
    """A hash of the multiset of refined labels of every graph."""
    if structure:
        batch = replace(batch, node_labels=structural_labels(batch, structure, LENGTH))
    *_, refined = refinement_rounds(batch, ITERATIONS, bool(structure), edge_labels=False)
    labels = refined.node_labels.hashed
    totals = np.concatenate([np.zeros(1, np.uint64), np.cumsum(combine_hashes(labels, labels), dtype=np.uint64)])
    return totals[batch.node_offsets[1:]] - totals[batch.node_offsets[:-1]]


def tells_apart(batch: gv.GraphBatch, structure: tuple[str, ...]) -> NDArray[np.bool_]:
    """Whether the first graph of each pair differs from the second."""
    found = fingerprint(batch, structure)
    return found[0::2] != found[1::2]


def relabelled(batch: gv.GraphBatch, seed: int = 0) -> gv.GraphBatch:
    """The same graphs with their nodes in another order."""
    rng, numbers = np.random.default_rng(seed), batch.node_graphs()
    order = np.lexsort([rng.random(batch.n_nodes), numbers])  # nodes of a graph stay together
    new = np.empty_like(order)
    new[order] = np.arange(batch.n_nodes)
    once = batch.rows() <= batch.columns()
    edges = np.column_stack([new[batch.rows()[once]], new[batch.columns()[once]]])
    return gv.GraphBatch.from_arrays(edges=edges, graph_sizes=batch.graph_sizes)
