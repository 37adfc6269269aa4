"""estimate: one value to a relative error."""

import networkx as nx
import numpy as np
import pytest

import gvoys as gv
from gvoys.errors import ConvergenceError, DivergenceError, ParameterError

WALK = gv.Walk(None, start="ones", stop="ones")
MOLECULES = gv.datasets.molecules(6, mean_nodes=15)


def test_reaches_the_tolerance_and_the_truth():
    series = gv.Exponential(0.4)
    z = []
    for g, h in zip(MOLECULES[:3], MOLECULES[3:], strict=True):
        for rtol in (0.05, 0.005):
            found = gv.estimate(g, h, series, rtol=rtol)
            assert found.stderr <= rtol * found.value
            z.append((found.value - gv.exact_kernel(g, h, series)) / found.stderr)
            assert found.interval[0] < found.value < found.interval[1]
    assert np.abs(z).max() < 5


def test_tighter_tolerances_take_more_components():
    loose, tight = (gv.estimate(MOLECULES[0], MOLECULES[1], gv.Exponential(1.0), rtol=r) for r in (0.1, 0.003))
    assert tight.n_components > loose.n_components


@pytest.mark.parametrize(
    ("series", "how", "error", "message"),
    [
        (gv.Geometric(5.0), {}, DivergenceError, "the decay must be below"),
        (gv.Geometric(0.1), {"rtol": 0}, ParameterError, "rtol must lie between 0 and 0.3"),
        (gv.Exponential(1.0), {"rtol": 1e-6, "max_components": 2048}, ConvergenceError, "raise rtol, atol or max_comp"),
        (gv.Exponential(1.0), {"max_components": 1}, ParameterError, "max_components must be an integer of at least"),
        *(
            (gv.Exponential(0.5), {"atol": atol}, ParameterError, "atol must be a number of at least 0")
            for atol in (-1.0, np.inf, "little")
        ),
    ],
)
def test_refusals(series, how, error, message):
    with pytest.raises(error, match=message):
        gv.estimate(MOLECULES[0], MOLECULES[1], series, **how)


def test_directed_graphs_without_cycles_have_walks_too():
    chain = nx.DiGraph([(0, 1), (1, 2), (2, 3)])
    found = gv.estimate(chain, chain, gv.Geometric(0.5), WALK)
    assert found.value == pytest.approx(21.625, rel=1e-4)
    kernel = gv.RandomWalkKernel(gv.Geometric(0.5), WALK)
    assert kernel.fit_transform([chain])[0, 0] == pytest.approx(21.625, rel=1e-8)
    found = gv.estimate(chain, chain, gv.Geometric(1.5), WALK)  # they end, whatever the decay
    assert found.value == pytest.approx(16 + 13.5 + 9 + 3.375, rel=1e-4)
    ring = nx.DiGraph([(0, 1), (1, 2), (2, 0)])
    with pytest.raises(DivergenceError, match="directed graphs may multiply by 1 at every step"):
        gv.estimate(ring, ring, gv.Geometric(1.5), WALK)


def test_a_series_by_round_goes_with_its_rounds():
    series = gv.Coefficients([[1.0, 0.5, 0.2], [0.3, 0.1, 0.7]])
    pair = MOLECULES[:2]
    exact = gv.RandomWalkKernel(series, gv.Walk(2, refine=1), method="sequences").fit_transform(pair)[0, 1]
    found = gv.estimate(pair[0], pair[1], series, gv.Walk(2, refine=1), rtol=0.003)
    assert abs(found.value - exact) < 5 * found.stderr
    with pytest.raises(ParameterError, match="use it with refine=1"):
        gv.estimate(pair[0], pair[1], series, gv.Walk(2))


def test_values_near_zero_have_an_absolute_tolerance():
    def path(labels):
        graph = nx.path_graph(len(labels))
        nx.set_node_attributes(graph, dict(enumerate(labels)), "label")
        return graph

    g, h = path("CCCC"), path("NNNN")  # no walk in common: K = 0
    with pytest.raises(ConvergenceError, match=r"above rtol = 0.01; raise rtol, atol"):
        gv.estimate(g, h, gv.Exponential(0.5), max_components=4096)
    found = gv.estimate(g, h, gv.Exponential(0.5), atol=0.01)
    assert found.stderr <= 0.01 + 0.01 * abs(found.value)
    assert abs(found.value) < 5 * found.stderr
    assert found.n_components < 2**18
