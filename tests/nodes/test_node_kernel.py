"""Kernels of nodes against dense linear algebra: every kernel and matrix, directed and weighted, up to 2000 nodes."""

import networkx as nx
import numpy as np
import pytest
from pairs import Kind, random_graph
from scipy.linalg import expm, fractional_matrix_power, sqrtm
from scipy.sparse.linalg import LinearOperator, cg

import gvoys as gv
from gvoys.errors import DivergenceError, GraphError, ParameterError, UnsupportedError
from gvoys.nodes import Diffusion, Matern, PStep, RegularizedLaplacian, matrices, node_kernel
from gvoys.nodes.recurrences import chebyshev_coefficients, chebyshev_recurrence

TOL = 1e-8
KINDS = [Kind(), Kind(weighted=True), Kind(directed=True), Kind(directed=True, weighted=True)]


def graph_of(kind, n, seed=0):
    """With loops and nodes without edges, and its dense adjacency matrix."""
    _, dense = random_graph(np.random.default_rng(seed), n, kind, density=4 / n)
    A = dense.A.copy()
    A[[5, 17]] = A[:, [5, 17]] = 0.0
    return gv.as_batch([A], directed=kind.directed), A


def dense_matrix(A, name):
    """As the definitions have it; nodes without edges have a loop where degrees are divided by."""
    degrees = A.sum(axis=1)
    if name == "adjacency":
        return A
    if name == "laplacian":
        return np.diag(degrees) - A
    with_loops = A + np.diag((degrees == 0).astype(float))
    degrees = with_loops.sum(axis=1)
    if name == "row":
        return with_loops / degrees[:, None]
    S = with_loops / np.sqrt(np.outer(degrees, degrees))
    return S if name == "symmetric" else np.eye(len(A)) - S


def assert_same(kernel, K, tol=TOL):
    rng = np.random.default_rng(0)
    size = np.linalg.norm(K, 2)
    for X in (rng.normal(size=(len(K), 1)), rng.normal(size=(len(K), 7))):
        np.testing.assert_allclose(kernel @ X, K @ X, atol=tol * size * np.linalg.norm(X, axis=0).max())
        np.testing.assert_allclose(kernel.T @ X, K.T @ X, atol=tol * size * np.linalg.norm(X, axis=0).max())
    x = rng.normal(size=len(K))
    assert (kernel @ x).shape == x.shape
    np.testing.assert_allclose(kernel.columns([3, 0, 3]), K[:, [3, 0, 3]], atol=tol * size)


SERIES = {
    "geometric": (lambda rho: gv.Geometric(0.9 / rho), lambda M, rho: np.linalg.inv(np.eye(len(M)) - 0.9 / rho * M)),
    "exponential": (lambda rho: gv.Exponential(2.0 / rho), lambda M, rho: expm(2.0 / rho * M)),
    "coefficients": (
        lambda rho: gv.Coefficients([1.0, 0.0, 0.5 / rho**2, 0.25 / rho**3]),
        lambda M, rho: np.eye(len(M)) + 0.5 / rho**2 * M @ M + 0.25 / rho**3 * M @ M @ M,
    ),
}

NAMES = {False: ("adjacency", "row", "symmetric"), True: ("adjacency", "row")}  # of directed graphs
OF_SERIES = [(kind, name) for kind in KINDS for name in NAMES[kind.directed]]


@pytest.mark.parametrize("n", [60, 500])
@pytest.mark.parametrize("series", SERIES)
@pytest.mark.parametrize(("kind", "name"), OF_SERIES, ids=str)
def test_every_series(kind, series, name, n):
    batch, A = graph_of(kind, n)
    M = dense_matrix(A, name)
    rho = np.abs(M).sum(axis=1).max() if kind.directed else np.abs(np.linalg.eigvals(M)).max() * 1.001
    make, truth = SERIES[series]
    kernel = node_kernel(batch, make(rho), matrix=name)
    assert isinstance(kernel, LinearOperator)
    assert_same(kernel, truth(M, rho))
    assert kernel.error_ <= 1e-9 * np.linalg.norm(truth(M, rho), 2)


@pytest.mark.parametrize("name", ["adjacency", "row"])
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_factored(kind, name):
    """f(M) f(M)^T with f * f = mu, by the definition."""
    batch, A = graph_of(kind, 80)
    M = dense_matrix(A, name)
    rho = np.abs(M).sum(axis=1).max()
    root = fractional_matrix_power(np.eye(len(M)) - 0.5 / rho * M, -0.5).real
    for series, F in ((gv.Exponential(1.0 / rho), expm(0.5 / rho * M)), (gv.Geometric(0.5 / rho), root)):
        assert_same(node_kernel(batch, series, matrix=name, form="factored"), F @ F.T)


NAMED = {
    "diffusion": (Diffusion(3.0), lambda L: expm(-3.0 * L)),
    "regularised": (RegularizedLaplacian(5.0), lambda L: np.linalg.inv(np.eye(len(L)) + 5.0 * L)),
    "matern": (Matern(1.5, 2.0), lambda L: fractional_matrix_power(np.eye(len(L)) + L / 0.75, -1.5).real),
    "p-step": (PStep(40.0, 4), lambda L: np.linalg.matrix_power(40.0 * np.eye(len(L)) - L, 4)),
}


@pytest.mark.parametrize("name", ["laplacian", "normalized_laplacian"])
@pytest.mark.parametrize("kernel", NAMED)
@pytest.mark.parametrize("kind", KINDS[:2], ids=str)
def test_every_named_kernel(kind, kernel, name):
    batch, A = graph_of(kind, 150)
    made, truth = NAMED[kernel]
    assert_same(node_kernel(batch, made, matrix=name), truth(dense_matrix(A, name)))


def test_two_thousand_nodes():
    batch, A = graph_of(Kind(weighted=True), 2000)
    L = dense_matrix(A, "normalized_laplacian")
    values, vectors = np.linalg.eigh(L)
    for kernel in (Diffusion(10.0), Matern(2.5, 10.0), RegularizedLaplacian(100.0)):
        K = (vectors * kernel.evaluate(values)) @ vectors.T
        found = node_kernel(batch, kernel)
        np.testing.assert_allclose(found.columns(np.arange(0, 2000, 50)), K[:, ::50], atol=TOL)
    assert node_kernel(batch, Diffusion(10.0)).n_products_ < 40


def test_the_diagonal_and_a_solver_of_scipy():
    batch, A = graph_of(Kind(), 100)
    K = np.linalg.inv(np.eye(100) - 0.05 * A)
    kernel = node_kernel(batch, gv.Geometric(0.05))
    np.testing.assert_allclose(kernel.diagonal(), np.diag(K), atol=TOL)
    b = np.random.default_rng(0).normal(size=100)
    x, status = cg(kernel, b, rtol=1e-10)
    assert status == 0
    np.testing.assert_allclose(x, b - 0.05 * A @ b, atol=1e-6)


def test_near_the_radius_of_convergence_the_products_grow_like_its_root():
    graph = nx.cycle_graph(200)
    products = [node_kernel(graph, gv.Geometric(0.5 * (1 - gap))).n_products_ for gap in (1e-2, 1e-4)]
    assert products[1] < 12 * products[0]  # a power series would take a hundred times as many
    K = np.linalg.inv(np.eye(200) - 0.5 * (1 - 1e-4) * nx.to_numpy_array(graph))
    assert_same(node_kernel(graph, gv.Geometric(0.5 * (1 - 1e-4))), K)


@pytest.mark.parametrize("tol", [1e-2, 1e-5, 1e-12])
def test_series_are_as_near_as_they_say(tol):
    functions = ((lambda x: np.exp(-5 * x), (0, 2)), (lambda x: 1 / (1.01 - x), (-1, 1)), (np.cos, (-9, 4)))
    for function, interval in functions:
        coefficients, error = chebyshev_coefficients(function, interval, tol)
        x = np.linspace(*interval, 1001)
        scaled = (2 * x - sum(interval)) / (interval[1] - interval[0])
        off = np.abs(np.polynomial.chebyshev.chebval(scaled, coefficients) - function(x)).max()
        assert off <= error <= tol * np.abs(function(x)).max() + 1e-300 or off < 1e-13 * np.abs(function(x)).max()


def test_large_graphs_are_reordered_and_nothing_else_changes(monkeypatch):
    monkeypatch.setattr(matrices, "_LARGE_GRAPH_NODES", 10)
    batch, _ = graph_of(Kind(weighted=True), 300)
    held = matrices.matrix_of(batch, "symmetric")
    moved = held.move_to("cpu")
    assert sorted(moved.order) == list(range(300))
    assert moved.rows_of(moved.order[:5]).tolist() == [0, 1, 2, 3, 4]
    recurrence = chebyshev_recurrence(np.array([0.5, 1.0, -0.3, 0.2]), (-1, 1))
    X = np.random.default_rng(0).normal(size=(300, 6))
    np.testing.assert_allclose(moved.run(recurrence, X[moved.order]), held.run(recurrence, X)[moved.order], atol=1e-12)
    single = moved.run(recurrence, X[moved.order].astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, held.run(recurrence, X)[moved.order], atol=1e-4)


def test_the_same_bits_for_any_number_of_threads():
    batch, _ = graph_of(Kind(), 3000)
    X = np.random.default_rng(0).normal(size=(3000, 5))
    np.testing.assert_array_equal(*[node_kernel(batch, Diffusion(2.0), n_jobs=n) @ X for n in (1, 2)])


def test_graphs_that_hardly_are():
    for graph in (nx.empty_graph(1), nx.empty_graph(5), nx.path_graph(2)):
        n = len(graph)
        for series in (gv.Exponential(0.5), Diffusion(1.0)):
            assert (node_kernel(graph, series) @ np.ones(n)).shape == (n,)
    np.testing.assert_allclose(node_kernel(nx.empty_graph(3), gv.Exponential(0.5)).diagonal(), 1.0)


PATH, DIRECTED = nx.path_graph(4), nx.DiGraph(nx.path_graph(4))
NEGATIVE = nx.Graph([(0, 1, {"weight": -1.0}), (1, 2, {"weight": 2.0})])


@pytest.mark.parametrize(
    ("graph", "kernel", "options", "error", "message"),
    [
        (PATH, gv.Geometric(1.0), {}, DivergenceError, "the decay must be below"),
        (PATH, gv.Geometric("auto"), {}, ParameterError, 'decay="auto" is resolved when an estimator is fitted'),
        (PATH, gv.Geometric(0.1), {"matrix": "incidence"}, ParameterError, "matrix must be one of 'adjacency'"),
        (PATH, gv.Geometric(0.1), {"matrix": "laplacian"}, UnsupportedError, "and matrix='laplacian' has none"),
        (DIRECTED, Diffusion(1.0), {}, UnsupportedError, "drop the directions, or use a series"),
        (DIRECTED, gv.Geometric(0.1), {"matrix": "symmetric"}, UnsupportedError, "this one is directed"),
        (PATH, PStep(1.0, 3), {}, ParameterError, r"shift must be at least 2, .* it is 1"),
        (PATH, gv.Geometric(0.1), {"form": "product"}, ParameterError, "form must be"),
        (PATH, gv.Geometric(0.1), {"tol": 2.0}, ParameterError, "tol must lie between"),
        (NEGATIVE, Diffusion(1.0), {}, GraphError, "only positive degrees can be normalised"),
        (gv.datasets.molecules(2), Diffusion(1.0), {}, ParameterError, "one graph"),
    ],
)
def test_what_is_wrong_is_said(graph, kernel, options, error, message):
    with pytest.raises(error, match=message):
        node_kernel(graph, kernel, **options)


def test_parameters_and_nodes_that_are_none():
    with pytest.raises(ParameterError, match="time must be a positive number, not -1"):
        Diffusion(-1)
    with pytest.raises(ParameterError, match="there is no node 4; the graph has nodes 0 to 3"):
        node_kernel(PATH, gv.Geometric(0.1)).columns([4])


# -- what is hard for computers


@pytest.mark.parametrize("form", ["series", "factored"])
@pytest.mark.parametrize("factor", [1.0, 1e6, 1e-6])
def test_powers_of_directed_graphs_do_not_overflow(form, factor):
    """40^268 is no number, and the coefficient beside it is none either; their product is."""
    graph = nx.MultiDiGraph(nx.random_k_out_graph(60, 40, alpha=1e6, self_loops=False, seed=1))
    nx.set_edge_attributes(graph, factor, "weight")
    A = gv.as_batch([graph]).adjacency().toarray()
    decay = 0.9 / np.abs(np.linalg.eigvals(A)).max()
    kernel = gv.node_kernel(graph, gv.Geometric(decay), form=form)
    if form == "series":
        dense = np.linalg.inv(np.eye(60) - decay * A)
    else:  # f(A) with f * f the geometric series
        half = np.real(sqrtm(np.linalg.inv(np.eye(60) - decay * A)))
        dense = half @ half.T
    assert np.abs(kernel @ np.eye(60) - dense).max() < 1e-8 * np.abs(dense).max()


@pytest.mark.parametrize(("time", "matrix"), [(60.0, "laplacian"), (1e4, "normalized_laplacian")])
def test_kernels_that_are_narrow_at_the_end_of_the_interval(time, matrix):
    """No point of a short Chebyshev series sees more than zeros."""
    star = nx.star_graph(100)
    L = dense_matrix(nx.to_numpy_array(star), matrix)
    kernel = gv.node_kernel(star, gv.nodes.Diffusion(time), matrix=matrix)
    assert np.abs(kernel @ np.eye(101) - expm(-time * L)).max() < 1e-8
    assert kernel.n_products_ > 16


def test_next_to_the_limit_the_last_digits_decide():
    """The radius is 1, of which a quick bound is 1.0001."""
    graph = gv.as_batch([nx.lollipop_graph(10, 10)]).normalized("symmetric")
    series, A = gv.Geometric(0.998), graph.adjacency().toarray()
    dense = np.linalg.inv(np.eye(20) - 0.998 * A)
    assert np.abs(gv.node_kernel(graph, series) @ np.eye(20) - dense).max() < 1e-8 * dense.max()
    found = gv.RandomWalkKernel(series, gv.Walk(None, labels=None)).fit_transform(graph)[0, 0]
    assert found == pytest.approx(gv.exact_kernel(graph, graph, series), rel=1e-6)
    with pytest.raises(DivergenceError, match=r"decay \* rho = 1 is not below 1"):
        gv.node_kernel(graph, gv.Geometric(1.0))
