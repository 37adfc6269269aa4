"""The way back along each entry."""

import networkx as nx
import numpy as np
import pytest

import gvoys as gv
from gvoys.graphs.transform import reverse_entries


def random_graphs(kind, n_graphs=40):
    rng = np.random.default_rng(0)
    for _ in range(n_graphs):
        n = int(rng.integers(1, 9))
        graph = nx.empty_graph(n, kind)
        graph.add_edges_from(rng.integers(0, n, (rng.integers(0, 20), 2)).tolist())
        yield graph


@pytest.mark.parametrize("kind", [nx.Graph, nx.MultiGraph, nx.DiGraph, nx.MultiDiGraph])
def test_all_entries_back_are_found(kind):
    batch = gv.as_batch(list(random_graphs(kind)))
    rows, columns = batch.rows(), batch.columns()
    found = reverse_entries(batch)
    for e in range(batch.n_entries):
        expected = np.flatnonzero((rows == columns[e]) & (columns == rows[e]))
        np.testing.assert_array_equal(np.arange(*found[e]), expected)
