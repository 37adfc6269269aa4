"""Every solver against the definition, on every kind of graph it takes."""

import pickle
from dataclasses import replace
from functools import cache

import networkx as nx
import numpy as np
import pytest
from pairs import KINDS, Kind, random_graph, true_radius
from spelling import with_walk

import gvoys as gv
from gvoys.errors import ConvergenceError, DivergenceError, GvoysError, ParameterError
from gvoys.exact import SOLVERS
from gvoys.reference import kernel_by_vec_trick

TOLERANCE = 1e-9
N_PAIRS = 240
# a solver that takes few kinds of graphs and series sees more draws, so that it too solves 200 pairs and more
DRAWS_PER_PAIR = {"cg": 3, "fixed-point": 3, "spectral": 8, "lanczos": 8, "sylvester": 13}
GEOMETRIC_ONLY = {"cg", "fixed-point", "sylvester"}
UNLABELLED_ONLY = {"sylvester", "spectral", "lanczos"}
UNDIRECTED_ONLY = {"spectral", "lanczos"}


def accepts(solver, kind, series):
    return not (
        (solver in GEOMETRIC_ONLY and not isinstance(series, gv.Geometric))
        or (solver in UNLABELLED_ONLY and (kind.node_labels or kind.edge_labels))
        or (solver in UNDIRECTED_ONLY and kind.directed)
    )


@cache
def pair(seed):
    """Pair number `seed`: its kind, both graphs in both forms, their endpoints and a series."""
    rng = np.random.default_rng(seed)
    kind = KINDS[seed % len(KINDS)]
    sizes = rng.integers(1, 41, 2)
    ends = [[rng.uniform(0, 1, n) for n in sizes] for _ in ("start", "stop")]
    (g, dense_g), (h, dense_h) = (
        random_graph(rng, n, kind, start=ends[0][i], stop=ends[1][i]) for i, n in enumerate(sizes)
    )
    growth = max(true_radius(dense_g) * true_radius(dense_h), 0.1)
    share = rng.uniform(0.05, 0.85)
    series = [
        gv.Geometric(share / growth),
        gv.Exponential(4 * share / growth),
        gv.Coefficients(rng.uniform(0, 1, 8) / growth ** np.arange(8)),
    ][seed // len(KINDS) % 3]
    return kind, g, h, dense_g, dense_h, series, tuple(ends[0]), tuple(ends[1])


@cache
def definition_of(seed):
    """Of pair number `seed`, once for all solvers."""
    _, _, _, dense_g, dense_h, series, _, _ = pair(seed)
    return definition(dense_g, dense_h, series)


def definition(dense_g, dense_h, series):
    """sum_i mu_i K_i, far enough that what is left out is below 1e-13."""
    scale = max(true_radius(dense_g) * true_radius(dense_h), 0.1) ** 0.5  # keeps 400 steps within range
    walks = kernel_by_vec_trick(replace(dense_g, A=dense_g.A / scale), replace(dense_h, A=dense_h.A / scale), 400)
    return float(series.coefficients(400, scale) @ walks)


def disagreements(solver, seeds):
    """Pairs on which the solver misses the definition, among those it takes; and how many it takes."""
    wrong, taken = [], 0
    for seed in seeds:
        kind, g, h, _, _, series, start, stop = pair(seed)
        if not accepts(solver, kind, series):
            continue
        taken += 1
        expected = definition_of(seed)
        value = gv.exact_kernel(g, h, series, gv.Walk(None, labels=kind.labels, start=start, stop=stop), solver=solver)
        if not abs(value - expected) <= TOLERANCE * abs(expected):
            wrong.append((seed, str(kind), series, float(value), expected))
    return wrong, taken


@pytest.mark.parametrize("solver", SOLVERS)
def test_agrees_with_the_definition(solver):
    wrong, taken = disagreements(solver, range(N_PAIRS))
    assert wrong == []
    solved, refused = taken, 0
    for seed in range(N_PAIRS, N_PAIRS * DRAWS_PER_PAIR.get(solver, 1)):
        try:
            wrong, taken = disagreements(solver, [seed])
        except gv.errors.ConvergenceError:  # ill-conditioned: no number is the right answer, and a rare one
            refused += 1
            continue
        assert wrong == []
        solved += taken
    assert solved >= 200
    assert refused <= 0.03 * solved


@pytest.mark.parametrize("solver", ["vec", "product", "cg", "fixed-point"])
def test_signed_weights(solver):
    rng = np.random.default_rng(5)
    kind = Kind(weighted=True, signed=True)
    (g, dense_g), (h, dense_h) = (random_graph(rng, n, kind, density=0.3) for n in (9, 12))
    series = gv.Geometric(0.5 / (true_radius(dense_g) * true_radius(dense_h)))
    assert gv.exact_kernel(g, h, series, solver=solver) == pytest.approx(definition(dense_g, dense_h, series), rel=1e-9)


def test_parallel_edges_with_different_labels():
    g = nx.MultiGraph([(0, 1, {"label": "single"}), (0, 1, {"label": "double"}), (1, 2, {"label": "single"})])
    batch, h = gv.as_batch([g]), nx.MultiGraph([(0, 1, {"label": "double"})])
    series, walk = gv.Coefficients([0, 1]), gv.Walk(None, "edge", start="ones", stop="ones")
    value = gv.exact_kernel(batch, h, series, walk)
    assert value == 4.0  # the double bond, in both directions, in both graphs
    assert gv.exact_kernel(batch, batch, series, walk) == 20.0


def test_closed_forms():
    def kernel(g, h, series, **how):
        return gv.exact_kernel(g, h, series, gv.Walk(None, start="ones", stop="ones"), **how)

    star, complete, cycle = nx.star_graph(4), nx.complete_graph(5), nx.cycle_graph(7)
    # regular graphs have n d^i walks of length i
    assert kernel(complete, cycle, gv.Geometric(0.1)) == pytest.approx(35 / (1 - 0.8), rel=1e-11)
    assert kernel(complete, cycle, gv.Exponential(0.1)) == pytest.approx(35 * np.exp(0.8), rel=1e-11)
    # a star with 4 leaves: 5, 8, 20, 32, 80 … walks
    assert kernel(star, star, gv.Coefficients([1, 1, 1])) == pytest.approx(25 + 64 + 400)


@pytest.mark.parametrize("solver", SOLVERS)
def test_small_and_empty_graphs(solver):
    empty, single, edgeless = nx.empty_graph(0), nx.empty_graph(1), nx.empty_graph(3)
    series = gv.Geometric(0.3)
    assert gv.exact_kernel(empty, single, series, solver=solver) == 0.0
    assert gv.exact_kernel(single, single, series, solver=solver) == pytest.approx(1.0)
    assert gv.exact_kernel(
        edgeless, nx.path_graph(4), series, gv.Walk(None, start="ones", stop="ones"), solver=solver
    ) == pytest.approx(12.0)


@pytest.mark.parametrize("solver", SOLVERS)
def test_reports_how_it_went(solver):
    value = gv.exact_kernel(nx.path_graph(4), nx.star_graph(6), gv.Geometric(0.05), solver=solver)
    assert value.solver == solver
    assert 0 <= value.residual <= 1e-12
    assert (value.iterations > 0) == (solver in {"vec", "cg", "fixed-point", "lanczos"})
    assert isinstance(value, float)
    assert value.value == float(value)
    copy = pickle.loads(pickle.dumps(value))
    assert (copy, copy.residual, copy.iterations, copy.solver) == (value, value.residual, value.iterations, solver)


def test_directed_graphs_that_multiply_before_they_die():
    """Nilpotent graphs have spectral radius 0, so any decay converges, however large the first terms."""
    chain = np.triu(np.ones((12, 12)), 1)
    g = gv.as_batch([chain], directed=True)
    A = np.kron(chain, chain)
    v = np.full(144, 1 / 144)
    expected = v @ np.linalg.solve(np.eye(144) - 3.0 * A, v)
    for solver in ("vec", "fixed-point"):
        assert gv.exact_kernel(g, g, gv.Geometric(3.0), solver=solver) == pytest.approx(expected, rel=1e-12)
    for solver in ("product", "sylvester", "cg"):  # their linear system is too ill-conditioned, and they notice
        with pytest.raises(gv.errors.ConvergenceError, match=f"'{solver}' (left|stopped).*use 'vec'"):
            gv.exact_kernel(g, g, gv.Geometric(3.0), solver=solver)
    for solver in ("product", "sylvester", "cg"):
        assert gv.exact_kernel(g, g, gv.Geometric(0.2), solver=solver) == pytest.approx(
            gv.exact_kernel(g, g, gv.Geometric(0.2)), rel=1e-9
        )


@pytest.mark.parametrize("function", [gv.exact_kernel, gv.estimate, gv.estimate_on_product])
@pytest.mark.parametrize("series", [gv.Geometric, gv.Exponential])
def test_auto_decay_needs_a_fit(function, series):
    """Resolved anew for every pair it would name another kernel at each call; the number is said instead."""
    g, h = nx.star_graph(5), nx.path_graph(4)
    with pytest.raises(ParameterError, match=rf"it would be {series.__name__}\(decay=0.04\)"):
        function(g, h, series("auto"))


def test_long_finite_series_do_not_overflow_into_silence():
    g, series = nx.complete_graph(21), gv.Geometric(0.001)
    whole = gv.exact_kernel(g, g, series)
    assert gv.exact_kernel(g, g, series.truncated(150)) == pytest.approx(whole, rel=1e-12)
    h = nx.complete_graph(20)
    short, padded = gv.Coefficients([1, 0.01, 0.001]), gv.Coefficients([1, 0.01, 0.001] + [0] * 130)
    for solver in ("vec", "product", "spectral", "lanczos"):
        assert gv.exact_kernel(h, h, padded, solver=solver) == pytest.approx(gv.exact_kernel(h, h, short), rel=1e-12)


@pytest.mark.parametrize("solver", ["vec", "spectral", "lanczos"])
def test_values_past_float64_are_refused(solver):
    g = nx.complete_graph(101)
    with pytest.raises(gv.errors.DivergenceError, match="past the range of float64; take smaller coefficients"):
        gv.exact_kernel(g, g, gv.Geometric(1.0).truncated(90), solver=solver)


def test_a_start_that_walks_reach_late():
    """Eight and sixteen steps of Lanczos see nothing yet; that is not convergence."""
    g = nx.convert_node_labels_to_integers(nx.grid_2d_graph(2, 40))
    walk = gv.Walk(None, start=(np.eye(80)[0], "ones"), stop=(np.eye(80)[79], "ones"))
    arguments = g, nx.cycle_graph(5), gv.Geometric(0.166), walk
    assert gv.exact_kernel(*arguments, "lanczos") == pytest.approx(gv.exact_kernel(*arguments, "vec"), rel=1e-9)


def from_end_to_end(solver, series):
    path, first, last = nx.path_graph(41), np.eye(41)[0], np.eye(41)[40]
    return gv.exact_kernel(path, path, series, gv.Walk(None, start=(first, first), stop=(last, last)), solver=solver)


def test_values_far_below_their_residual():
    """From one end of a path to the other: only the solver that never subtracts finds it, and the others say so."""
    direct = np.linalg.matrix_power(nx.to_numpy_array(nx.path_graph(41)), 40)[0, 40]
    assert direct == 1.0
    assert from_end_to_end("vec", gv.Coefficients([0] * 40 + [1.0])) == 1.0
    assert from_end_to_end("vec", gv.Exponential(1.0)) == pytest.approx(1 / 8.159152832478977e47 * (1 + 2.19), rel=0.01)
    for solver in ("product", "cg", "fixed-point", "sylvester", "spectral", "lanczos"):
        with pytest.raises(gv.errors.ConvergenceError, match="use 'vec'"):
            from_end_to_end(solver, gv.Geometric(0.24))


def test_weights_that_fall_off_and_rise_again():
    A = np.zeros((12, 12))
    A[np.arange(11), np.arange(1, 12)] = [100] * 5 + [1] + [0.01] * 5
    g, first, last = gv.as_batch([A], directed=True), np.eye(12)[0], np.eye(12)[11]
    walk = gv.Walk(None, start=(first, first), stop=np.concatenate([last, last]))
    assert gv.exact_kernel(g, g, gv.Geometric(0.5), walk) == pytest.approx(0.5**11, rel=1e-12)
    with pytest.raises(gv.errors.ConvergenceError, match="which its residual may change by"):
        gv.exact_kernel(g, g, gv.Geometric(0.5), walk, "fixed-point")


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
