"""The bound on walks of directed graphs holds at every length, and is near the spectral radius where that tells all."""

import networkx as nx
import numpy as np
import pytest
from pairs import Kind, random_graph, true_radius

import gvoys as gv
from gvoys.graphs.spectrum import early_growth, max_degree


@pytest.mark.parametrize("seed", range(20))
def test_it_bounds_walks_of_every_length(seed):
    rng = np.random.default_rng(seed)
    batch, dense = random_graph(rng, int(rng.integers(1, 12)), Kind(directed=True, weighted=True), density=0.3)
    rate = early_growth(batch)[0]
    assert rate <= max_degree(batch) * (1 + 1e-9)
    power, rows, columns = np.eye(len(dense.A)), [], []
    for _ in range(200):
        power = power @ np.abs(dense.A) / max(rate, 1e-300)
        rows.append(power.sum(axis=1).max())
        columns.append(power.sum(axis=0).max())
    assert min(max(rows), max(columns)) <= 10 * (1 + 1e-9)


def test_it_is_tight():
    graphs = [nx.gnp_random_graph(60, 0.1, seed=s, directed=True) for s in range(3)]
    batch = gv.as_batch(graphs)
    radii = [true_radius(type("Dense", (), {"A": nx.to_numpy_array(graph)})) for graph in graphs]
    assert (early_growth(batch) < 1.05 * np.array(radii)).all()
    assert early_growth(gv.as_batch([nx.DiGraph([(0, 1), (1, 2)])]))[0] < 0.5
    assert early_growth(gv.as_batch([nx.empty_graph(2, nx.DiGraph)]))[0] == 0
