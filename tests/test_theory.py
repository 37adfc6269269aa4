"""The constants of Theorem 3.2: closed forms, infinities, and bounds that hold."""

import math

import networkx as nx
import numpy as np
import pytest
from paper import Plan

import gvoys as gv
from gvoys import theory
from gvoys.errors import ParameterError

PATH, CYCLE = nx.path_graph(4), nx.cycle_graph(5)


def test_the_load_bound_is_the_sum():
    """c(G) = sum_l sqrt(f_l) (d_max / sqrt(1 - p))^l, with the exponent l."""
    series, p = gv.Exponential(0.3), 0.36
    expected = sum(math.sqrt(0.15**k / math.factorial(k)) * (2 / 0.8) ** k for k in range(120))
    assert theory.load_bound(CYCLE, series, p) == pytest.approx(expected, rel=1e-12)
    expected = sum(math.sqrt(0.15**k / math.factorial(k)) * (2 / 0.64) ** k for k in range(120))
    assert theory.load_bound(CYCLE, series, p, share_halting=False) == pytest.approx(expected, rel=1e-12)


def test_the_load_bound_counts_weights_and_both_directions():
    fan = nx.DiGraph([(0, 1), (2, 1), (3, 1)])
    series = gv.Coefficients([1, 2, 1])  # f = 1 + x
    assert theory.load_bound(fan, series, 0.19) == pytest.approx(1 + 3 / 0.9)
    heavy = nx.Graph()
    heavy.add_edge(0, 1, weight=-5.0)
    assert theory.load_bound(heavy, series, 0.19) == pytest.approx(1 + 5 / 0.9)
    assert theory.load_bound(nx.empty_graph(3), gv.Geometric("auto")) == 1.0


@pytest.mark.parametrize("graph", [PATH, CYCLE, nx.star_graph(4)])
def test_infinite_where_it_is(graph):
    d = max(dict(graph.degree).values())
    assert theory.load_bound(graph, gv.Geometric("auto"), 0.2) == math.inf
    assert theory.load_bound(graph, gv.Geometric(0.8 / d**2), 0.2) == math.inf
    assert theory.load_bound(graph, gv.Geometric(0.75 / d**2), 0.2) < math.inf
    assert theory.difference_bound(graph, PATH, gv.Geometric("auto"), 10) == math.inf
    assert theory.concentration_bound(graph, PATH, gv.Geometric("auto"), 10, epsilon=0.1) == 1.0
    assert theory.walks_needed(graph, PATH, gv.Geometric("auto"), epsilon=0.1, delta=0.1) == math.inf


def test_near_its_radius_the_sum_is_still_found():
    """sum_l sqrt(f_l) q^l with f_l about (pi l)^(-1/2): the closed form is not known, a direct sum is."""
    q = 0.9999  # per step
    series = gv.Geometric(q**2 * 0.8 / 4)
    f = gv.Geometric(q**2).modulation(400_000)
    assert theory.load_bound(CYCLE, series, 0.2) == pytest.approx(np.sqrt(f).sum(), rel=1e-9)


def test_the_difference_bound():
    series = gv.Coefficients([1, 2, 1])
    c = [1 + 2 / math.sqrt(0.8)] * 2
    m = 7
    k = 2 * (4 * (2 * m - 1) / m**2 + 4 * (2 * m - 1) ** 2 / m**4) * c[0] ** 2 * c[1] ** 2
    assert theory.difference_bound(PATH, CYCLE, series, m) == pytest.approx(k)  # uniform ends have norm 1
    ones = theory.difference_bound(PATH, CYCLE, series, m, start="ones", stop="ones")
    assert ones == pytest.approx(k * 4 * 4 * 5 * 5)


def test_the_bounds_hold_for_walkers():
    """Given g, z and coins: estimates from many replicates of the walks stay within what the theorem allows."""
    mu, n_walks = Plan((1.0, 0.02)).mu, 40
    pair = gv.as_batch([PATH, CYCLE])
    values = []
    for replicate in range(200):
        X = gv.GraphVoyagers(gv.Coefficients(mu), 1, n_walks, share_signs=True, random_state=3)
        X.set_params(replicate=replicate)
        values.append(np.prod(X.fit_transform(pair)))
    spread = np.abs(np.array(values) - np.mean(values))
    assert spread.max() > 0  # walks do differ
    for epsilon in (0.5, 1.0, 2.0):
        bound = theory.concentration_bound(PATH, CYCLE, gv.Coefficients(mu), n_walks, epsilon)
        assert (spread >= epsilon).mean() <= bound
    assert spread.max() <= theory.difference_bound(PATH, CYCLE, gv.Coefficients(mu), 1)


def test_walks_needed_are_the_fewest():
    series = gv.Exponential(0.01)
    needed = theory.walks_needed(PATH, CYCLE, series, epsilon=0.5, delta=0.05)
    assert isinstance(needed, int)
    assert theory.concentration_bound(PATH, CYCLE, series, needed, 0.5) <= 0.05
    assert theory.concentration_bound(PATH, CYCLE, series, needed - 1, 0.5) > 0.05
    assert theory.walks_needed(PATH, CYCLE, series, epsilon=0.5, delta=0.01) > needed


@pytest.mark.parametrize("degree", [2, 3, 4])
@pytest.mark.parametrize(("share", "power"), [(True, 0.5), (False, 1.0)])
def test_finite_variance_on_regular_graphs(degree, share, power):
    """decay * rho^2 < sqrt(1 - p_halt), or 1 - p_halt with independent coins."""
    graph = nx.random_regular_graph(degree, 10, seed=1)
    edge = (1 - 0.3) ** power / degree**2
    assert theory.finite_variance([graph], gv.Geometric(0.999 * edge), 0.3, share_halting=share)
    assert not theory.finite_variance([graph], gv.Geometric(1.001 * edge), 0.3, share_halting=share)
    assert theory.finite_variance([graph], gv.Exponential(10.0), 0.3, share_halting=share)


def test_finite_variance_sees_weights_and_stars():
    """On a star the mean square of a load multiplies by n at every second step's n-fold choice."""
    n = 6
    star = nx.star_graph(n)
    # degree(u) A(u, x)^2 has the spectral radius sqrt(n * n * 1)... of [[0, n], [1, 0]] blocks: n
    assert theory.load_growth(gv.as_batch([star])) == pytest.approx(n, rel=1e-4)
    double = nx.Graph()
    double.add_weighted_edges_from((u, v, 2.0) for u, v in nx.cycle_graph(5).edges)
    assert theory.load_growth(gv.as_batch([double])) == pytest.approx(2 * 4 * 2, rel=1e-4)
    arrows = nx.DiGraph([(0, 1), (1, 0), (0, 2), (2, 0)])
    assert theory.load_growth(gv.as_batch([arrows])) == pytest.approx(2, rel=1e-4)


def test_the_variance_does_blow_up_beyond_the_condition():
    graphs = [nx.cycle_graph(5), nx.cycle_graph(6)]

    def heaviest(decay):
        """The share of the largest tenth of a percent in the sum of squares."""
        X = gv.GraphVoyagers(gv.Geometric(decay), 100_000, p_halt=0.5).fit_transform(graphs)
        squares = np.sort((X[0] * X[1]) ** 2)
        return squares[-100:].sum() / squares.sum()

    with pytest.warns(gv.errors.VarianceWarning):
        outside = heaviest(0.24)
    assert heaviest(0.05) < 0.2 < 0.8 < outside


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.load_bound(PATH, gv.Exponential(1.0), 1.0), "p_halt must lie"),
        (lambda: theory.load_bound(PATH, "x"), "series must be"),
        (lambda: theory.difference_bound(PATH, PATH, gv.Exponential(1.0), 0), "n_walks must be"),
        (lambda: theory.concentration_bound(PATH, PATH, gv.Exponential(1.0), 5, 0.0), "epsilon must be"),
        (lambda: theory.finite_variance([PATH], gv.Geometric(0.1), -3.0, share_halting=False), "p_halt must lie"),
        (lambda: theory.finite_variance([PATH], gv.Coefficients([0, 1])), "odd power"),
        (lambda: theory.load_bound(PATH, gv.Coefficients([1, 1])), "negative at k = 2"),
        (lambda: theory.walks_needed(PATH, PATH, gv.Exponential(1.0), 0.1, 1.0), "delta must lie"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ParameterError, match=message):
        call()


def test_numbers_beyond_floating_point_are_infinite():
    complete = nx.complete_graph(20)
    assert theory.walks_needed(complete, complete, gv.Exponential(1.0), 0.5, 0.05) == math.inf
    heavy = nx.Graph()
    heavy.add_edge(0, 1, weight=1e160)
    assert theory.load_bound(heavy, gv.Exponential(1.0)) == math.inf
