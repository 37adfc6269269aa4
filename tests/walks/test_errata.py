"""What is wrong in the paper, row by row: the plain algorithm is right, goes wrong with the trap, and gvoys is right.

Polynomials f of two or three terms keep walks short and make the traps' biases large beside the noise.
"""

from dataclasses import dataclass, field

import networkx as nx
import numpy as np
import paper
import pytest
from paper import Plan, products, truth, z_score

import gvoys as gv
from gvoys.errors import ModulationError
from gvoys.reference import DenseGraph, kernel_by_vec_trick

RUNS = 60_000
F = (1.0, 0.6, 0.2)


def dense(A, labels=None):
    A = np.array(A, float)
    uniform = np.full(len(A), 1.0 / len(A))
    return DenseGraph(A, uniform, uniform, None if labels is None else list(labels))


def as_batch(graph):
    directed = not np.array_equal(graph.A, graph.A.T)
    edges = np.argwhere(graph.A if directed else np.triu(graph.A))
    weights = graph.A[tuple(edges.T)]
    return gv.GraphBatch.from_arrays(
        edges, [len(graph.A)], node_labels=graph.node_labels, edge_weights=weights, directed=directed
    )


def matrix(graph):
    return nx.to_numpy_array(graph)


PAW = dense([[0, 1, 1, 1], [1, 0, 1, 0], [1, 1, 0, 0], [1, 0, 0, 0]])
SQUARE = dense([[1, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]])  # with a loop
LIKE_PAW = dense(PAW.A + np.diag([0, 0, 0, 1]))
NAMED = dense(matrix(nx.path_graph(4)), "CONC"), dense(matrix(nx.cycle_graph(4)), "NCOO")
ONE_WAY = dense([[0, 1, 1, 1], [0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 1, 0]]), dense([[0, 1, 1], [0, 0, 1], [0, 0, 0]])
LONELY = dense([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]])


@dataclass(frozen=True)
class Row:
    number: int
    trap: str
    plan: Plan
    pair: tuple = field(default=(PAW, SQUARE))

    def __str__(self):
        return f"{self.number}: {self.trap}{', shared signs' * self.plan.share_signs}"


ROWS = [
    Row(1, "stop outside the anchors", Plan(F, n_anchors=3)),
    Row(2, "anchors of C and D differ", Plan(F, n_anchors=2)),
    Row(3, "C and D share g and z", Plan(F)),
    Row(3, "C and D share g, z and walks", Plan(F)),
    Row(3, "C and D share coins", Plan(F)),
    Row(4, "norm of the other mode", Plan(F, m=2)),
    Row(4, "norm of the other mode", Plan(F, m=2, share_signs=True)),
    Row(5, "coins of walkers differ", Plan(F, m=3, share_signs=True)),
    Row(6, "weight of the other halting", Plan(F, share_halting=False)),
    Row(6, "weight of the other halting", Plan(F, share_halting=True)),
    Row(7, "z without the step", Plan((1.0, 1.5)), NAMED),
    Row(11, "D along the edges", Plan(F), ONE_WAY),
    Row(12, "walks repeat on each graph", Plan((1.0, 2.0)), (PAW, LIKE_PAW)),
    Row(13, "isolated nodes left out", Plan(F), (LONELY, PAW)),
]


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_the_trap_is_a_trap(row):
    expected = truth(*row.pair, row.plan)
    assert abs(z_score(products(*row.pair, row.plan, RUNS), expected)) < 4
    assert abs(z_score(products(*row.pair, row.plan, RUNS, trap=row.trap), expected)) > 5


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_gvoys_does_not_step_into_it(row):
    plan = row.plan
    voyagers = gv.GraphVoyagers(
        gv.Coefficients(plan.mu),
        n_components=4 * RUNS,
        n_walks=plan.m,
        p_halt=plan.p_halt,
        n_anchors=plan.n_anchors,
        share_signs=plan.share_signs,
        share_halting=plan.share_halting,
        random_state=row.number,
    )
    X = voyagers.fit_transform([as_batch(graph) for graph in row.pair])
    np.testing.assert_allclose(voyagers.deposits_**2 / voyagers.scale_ ** (2.0 * np.arange(len(plan.f))), plan.f)
    assert abs(z_score(X[0] * X[1] * X.shape[1], truth(*row.pair, plan))) < 4


def test_every_trap_has_its_row():
    assert {row.trap for row in ROWS} == set(paper.TRAPS)


def test_row_8_the_modulation_of_a_geometric_series_has_its_decay():
    decay, length = 0.05, 40
    series = gv.Geometric(decay)
    np.testing.assert_allclose(
        np.convolve(series.modulation(length), series.modulation(length))[: length + 1], series.coefficients(length)
    )
    plan = Plan(tuple(series.modulation(3)), p_halt=0.3)
    expected = truth(PAW, SQUARE, plan)
    assert abs(z_score(products(PAW, SQUARE, plan, RUNS), expected)) < 4
    as_printed = Plan(tuple(series.modulation(3) / decay ** np.arange(4)), p_halt=0.3)
    assert abs(z_score(products(PAW, SQUARE, as_printed, RUNS), expected)) > 5
    assert truth(PAW, SQUARE, as_printed) > 10 * expected


MU = (1.0, 1.2)  # every other f from f_2 on is negative


def roots_of(mu, n):
    """f_0 … f_(n-1) of the square root of a polynomial with mu_0 = 1."""
    f = [1.0]
    for k in range(1, n):
        f.append(0.5 * ((mu[k] if k < len(mu) else 0.0) - sum(f[p] * f[k - p] for p in range(1, k))))
    return tuple(f)


FAINT = dense(0.3 * PAW.A), dense(0.3 * SQUARE.A)  # within the radius of f


def test_row_9_negative_f_is_refused():
    """Real walkers cannot carry it: with square roots of |f| the mean is another; complex ones would be right."""
    f = roots_of(MU, 9)
    plan = Plan(f, p_halt=0.2)
    expected = float(np.array(MU) @ kernel_by_vec_trick(*FAINT, 1))
    assert abs(truth(*FAINT, plan) / expected - 1) < 0.002
    assert abs(z_score(products(*FAINT, plan, RUNS), truth(*FAINT, plan))) < 4
    trapped = Plan(tuple(np.abs(f)), p_halt=0.2)
    assert abs(z_score(products(*FAINT, trapped, RUNS), expected)) > 5
    with pytest.raises(ModulationError, match=r"negative at k = 2.*use moments, sequences, sketch or OneSided"):
        gv.GraphVoyagers(gv.Coefficients(MU)).fit([as_batch(graph) for graph in FAINT])


def test_row_10_the_f_of_a_finite_mu_goes_on():
    """Cut where mu ends, f * f is another series; one that is a square has a finite f, which is found."""
    whole, cut = Plan(roots_of(MU, 9), p_halt=0.2), Plan(roots_of(MU, 2), p_halt=0.2)
    expected = float(np.array(MU) @ kernel_by_vec_trick(*FAINT, 1))
    assert abs(truth(*FAINT, whole) / expected - 1) < 0.002
    assert abs(z_score(products(*FAINT, cut, RUNS), expected)) > 5
    assert gv.Coefficients([1, 1.2, 0.76, 0.24, 0.04]).modulation(4).round(12).tolist() == [1, 0.6, 0.2, 0, 0]


def test_more_walks_do_not_make_one_component_converge():
    """The spread that g brings stays: at d_G = 1 the variance has a floor, whichever signs walkers have."""
    pair = [as_batch(PAW), as_batch(SQUARE)]
    expected = truth(PAW, SQUARE, Plan(F))

    def variance(n_walks, share_signs):
        voyagers = gv.GraphVoyagers(
            gv.Coefficients(Plan(F).mu), n_components=4000, n_walks=n_walks, share_signs=share_signs
        )
        X = voyagers.fit_transform(pair)
        return (X[0] * X[1] * X.shape[1]).var() / expected**2

    for share_signs in (False, True):
        many, more = variance(100, share_signs), variance(400, share_signs)
        assert more > 0.8 * many > 0.05
    one = variance(1, False)
    assert one / 100 < 0.2 * variance(100, False)  # the same 100 walks in 100 components of one


def test_the_diagonal_is_biased_and_replicates_are_not():
    """E phi(G)^2 = K + E Var(x | g, z, t), whatever the number of components; two replicates of the walks have K."""
    plan = Plan(F)
    expected = truth(PAW, PAW, plan)
    for n_components in (1000, 10_000):
        n_seeds = 200_000 // n_components
        own, crossed = [], []
        for seed in range(n_seeds):
            X, Y = (
                gv.GraphVoyagers(gv.Coefficients(plan.mu), n_components, random_state=seed)
                .set_params(replicate=replicate)
                .fit_transform([as_batch(PAW)])[0]
                for replicate in (0, 1)
            )
            own.append(X @ X)
            crossed.append(X @ Y)
        assert np.mean(own) > 1.08 * expected
        assert z_score(np.array(own), expected) > 5
        assert abs(z_score(np.array(crossed), expected)) < 4
