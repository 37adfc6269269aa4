"""What the exact solvers refuse, and in which words."""

import networkx as nx
import numpy as np
import pytest
from spelling import with_walk

import gvoys as gv
from gvoys.errors import ConvergenceError, DivergenceError, GvoysError, ParameterError

PATH = nx.path_graph(4)
DIRECTED = nx.DiGraph([(0, 1), (1, 2), (2, 0)])


LABELLED = nx.path_graph(4)
nx.set_node_attributes(LABELLED, dict(enumerate("CNOC")), "label")
DENSE, SERIES = gv.datasets.erdos_renyi(1, 400, 0.5), gv.Geometric(0.1)


@pytest.mark.parametrize(
    ("g", "h", "series", "how", "message"),
    [
        *(
            (PATH, PATH, series, {"solver": solver}, f"'{solver}' solves a linear system, which only Geometric.*'vec'")
            for solver in ("cg", "fixed-point", "sylvester")
            for series in (gv.Exponential(0.1), gv.Coefficients([1, 1]))
        ),
        *(
            (LABELLED, LABELLED, SERIES, {"solver": solver}, f"'{solver}' needs unlabelled graphs.*labels=None")
            for solver in ("sylvester", "spectral", "lanczos")
        ),
        *(
            (DIRECTED, DIRECTED, SERIES, {"solver": solver}, f"'{solver}' needs undirected graphs.*'vec'")
            for solver in ("spectral", "lanczos")
        ),
        (DENSE, DENSE, gv.Geometric(1e-6), {"solver": "product"}, r"may have 6\...e\+09 entries.*use 'vec'"),
        (LABELLED, PATH, SERIES, {}, "h has no node labels; give them to both graphs or pass labels=None"),
        (LABELLED, LABELLED, SERIES, {"walk": gv.Walk(None, labels="both")}, "g has no edge labels"),
        (
            gv.as_batch([PATH, PATH]),
            PATH,
            SERIES,
            {},
            r"g must be one graph, .* select one, as in batch\[0\]",
        ),
    ],
)
def test_graphs_and_series_that_a_solver_cannot_use(g, h, series, how, message):
    with pytest.raises(GvoysError, match=message) as caught:
        gv.exact_kernel(g, h, series, **how)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("solver", ["product", "vec", "cg", "fixed-point", "sylvester", "spectral", "lanczos"])
def test_a_divergent_series_is_refused_with_the_largest_decay(solver):
    g, h = nx.complete_graph(4), nx.cycle_graph(5)  # radii 3 and 2
    with pytest.raises(DivergenceError, match=r"= 1\.2 is not below 1; the decay must be below 0\.166667"):
        gv.exact_kernel(g, h, gv.Geometric(0.2), solver=solver)
    with pytest.raises(DivergenceError):
        gv.exact_kernel(g, h, gv.Geometric(1 / 6), solver=solver)
    assert gv.exact_kernel(
        g, h, gv.Geometric(0.1666), gv.Walk(None, start="ones", stop="ones"), solver=solver
    ) == pytest.approx(20 / (1 - 0.1666 * 6), rel=1e-8)


@pytest.mark.parametrize("solver", ["vec", "fixed-point", "cg", "lanczos"])
def test_non_convergence_is_an_error(solver):
    rng = np.random.default_rng(0)
    g = gv.datasets.erdos_renyi(1, 60, 0.1)
    series = gv.Geometric(0.95 / np.linalg.eigvalsh(g.adjacency().toarray()).max() ** 2)
    start = (rng.random(60), rng.random(60))
    with pytest.raises(ConvergenceError, match=f"'{solver}' stopped after .* above tol = 1e-12; raise max_iterations"):
        gv.exact_kernel(g, g, series, gv.Walk(None, start=start), solver=solver, max_iterations=4)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"solver": "magic"}, "there is no solver 'magic'; choose one of 'product', 'vec'"),
        ({"series": 0.1}, "series must be Geometric, Exponential or Coefficients, not 0.1"),
        ({"tol": 0}, "tol must lie between 0 and 1"),
        ({"tol": "a"}, "tol must lie between 0 and 1"),
        ({"solver": []}, "there is no solver"),
        ({"labels": []}, "labels must be"),
        ({"max_iterations": 0}, "max_iterations must be an integer of at least 1"),
        ({"max_iterations": None}, "max_iterations must be an integer of at least 1"),
        ({"start": "left"}, 'start must be "uniform", "ones" or an array of 4 numbers, one per node, not'),
        ({"start": np.ones(4)}, r"start must be .* array of 4 numbers, one per node, not of shape \(0,\)"),
        ({"start": np.ones((2, 2, 2))}, "start must be .* or a pair of arrays"),
        ({"stop": (np.ones(4), np.ones(3))}, r"stop must be .* array of 4 numbers, one per node, not of shape \(3,\)"),
        ({"stop": (np.ones(4), np.array([1, 2, np.nan, 4]))}, "its entry 2 is not finite"),
        ({"labels": "all"}, 'labels must be "auto", "node", "edge", "both" or None'),
    ],
)
def test_parameters(how, message):
    how = {"series": gv.Geometric(0.1), **how}
    with pytest.raises(ParameterError, match=message):
        gv.exact_kernel(PATH, PATH, **with_walk(max_length=None, **how))
