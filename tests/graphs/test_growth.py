"""The bound on walks of directed graphs holds at every length, and is near the spectral radius where that tells all."""

import math

import networkx as nx
import numpy as np
import pytest
from pairs import Kind, random_graph, true_radius

import gvoys as gv
from gvoys.errors import DivergenceError
from gvoys.graphs import spectrum as growth
from gvoys.graphs.spectrum import early_growth, max_degree


def length_of(series, most=1e-9):
    def length(rate):
        try:
            return series.truncation_length(rate**2, most / 100)
        except DivergenceError:
            return math.inf

    return length


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("decay", [None, 0.001, 0.01, 0.1])
def test_it_bounds_walks_of_every_length(seed, decay):
    """And wherever it stops, since a series needs no more."""
    rng = np.random.default_rng(seed)
    batch, dense = random_graph(rng, int(rng.integers(1, 12)), Kind(directed=True, weighted=True), density=0.3)
    rate = early_growth(batch, *([length_of(gv.Geometric(decay))] if decay else []))[0]
    assert decay or rate <= max_degree(batch) * (1 + 1e-9)
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


@pytest.fixture
def products(monkeypatch):
    """How many products with the adjacency matrix were made."""
    made = []
    real = growth._multiply
    monkeypatch.setattr(growth, "_multiply", lambda *matrix: (made.append(1), real(*matrix))[1])
    return made


def test_rows_that_sum_to_one_need_no_product(products):
    batch = gv.datasets.erdos_renyi(3, 200, 0.1).normalized("row")
    rates = early_growth(batch, length_of(gv.Geometric(0.9)))
    np.testing.assert_allclose(rates, 1, rtol=1e-9)
    assert products == []


@pytest.mark.parametrize("n", [100, 400])
def test_no_more_products_than_the_series_takes(products, n):
    batch = gv.as_batch([nx.gnp_random_graph(n, 0.1, seed=s, directed=True) for s in range(2)])
    series = gv.Geometric("auto").resolved(max_degree(batch))
    kernel = gv.RandomWalkKernel(series, gv.Walk(None)).fit(batch)
    assert 0 < len(products) <= kernel.max_length_
    truth = gv.exact_kernel(batch[0], batch[1], series)
    assert kernel.transform(batch)[0, 1] == pytest.approx(truth, rel=1e-9)


def test_columns_are_looked_at_where_rows_diverge():
    """A tree that branches outwards has many walks from its root, and one to each leaf."""
    outwards = nx.balanced_tree(4, 4, create_using=nx.DiGraph)
    for graph in (outwards, outwards.reverse()):
        batch = gv.as_batch([graph, graph])
        assert early_growth(batch, length_of(gv.Geometric(0.5))).max() <= 1 + 1e-9
        gv.RandomWalkKernel(gv.Geometric(0.5), gv.Walk(None)).fit(batch)
    both = gv.as_batch([nx.disjoint_union(outwards, outwards.reverse())] * 2)
    assert early_growth(both, length_of(gv.Geometric(0.1))).max() < 2.5  # no walk has over four steps
