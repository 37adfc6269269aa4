"""How long graphs take to come in."""

import numpy as np
import scipy.sparse as sp
from rich.console import Console
from rich.table import Table

import gvoys as gv
from benchmarks.timing import measure
from gvoys.errors import DatasetError


def run(console: Console) -> None:
    table = Table("input", "time", "limit", title="Graphs in")
    graphs = gv.datasets.molecules(4110).to_networkx()
    table.add_row("4110 networkx molecules", str(measure(lambda: gv.as_batch(graphs))), "2 s")
    matrix = _symmetric_matrix(10**6, 5_100_000)
    table.add_row(f"SciPy matrix, {matrix.nnz:.3g} non-zeros", str(measure(lambda: gv.as_batch([matrix]))), "1 s")
    weighted = matrix * 0.3
    table.add_row("the same, weighted", str(measure(lambda: gv.as_batch([weighted]))), "1 s")
    try:
        table.add_row("load_tu('NCI1')", str(measure(lambda: gv.datasets.load_tu("NCI1"))), "1 s")
    except DatasetError:
        table.add_row("load_tu('NCI1')", "the dataset is not here: set GVOYS_DATA", "1 s")
    console.print(table)


def _symmetric_matrix(n_nodes: int, n_edges: int) -> sp.csr_array:
    ends = np.random.default_rng(0).integers(0, n_nodes, (2, n_edges))
    matrix = sp.csr_array((np.ones(n_edges), tuple(ends)), shape=(n_nodes, n_nodes))
    matrix = sp.csr_array(matrix + matrix.T)
    matrix.data[:] = 1.0
    return matrix
