"""Pairwise solvers: the oracles of the tests and the baselines of the benchmarks, behind one entry point."""

from __future__ import annotations

from typing import Any

import numpy as np

from gvoys.errors import ParameterError, UnsupportedError
from gvoys.exact import cg, fixed_point, lanczos, product, spectral, sylvester, vec
from gvoys.exact.problem import ExactKernel, Problem, pair_of
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.degrees import max_degree
from gvoys.graphs.endpoints import compute_endpoint
from gvoys.graphs.labels import LABEL_CHOICES
from gvoys.io.convert import as_one_graph
from gvoys.series import Series, check_number, check_series

__all__ = ["SOLVERS", "ExactKernel", "exact_kernel", "pose"]

SOLVERS = {
    "product": product.solve,
    "vec": vec.solve,
    "cg": cg.solve,
    "fixed-point": fixed_point.solve,
    "sylvester": sylvester.solve,
    "spectral": spectral.solve,
    "lanczos": lanczos.solve,
}


def exact_kernel(
    g: Any,
    h: Any,
    series: Series,
    solver: str = "vec",
    *,
    start: Any = "uniform",
    stop: Any = "uniform",
    labels: str | None = "auto",
    tol: float = 1e-12,
    max_iterations: int = 100_000,
) -> ExactKernel:
    """The random walk kernel of two graphs, v^T [sum_i mu_i A_x^i] w on their product, for the infinite series.

    Parameters
    ----------
    g, h : graph
        Two graphs of any kind that `as_batch` reads, or batches of one.
    series : Series
        Geometric, Exponential or Coefficients; truncate one with ``series.truncated(max_length)``. A decay is a number
        here: ``"auto"`` is for estimators, which resolve it when they are fitted.
    solver : {"vec", "product", "cg", "fixed-point", "sylvester", "spectral", "lanczos"}, default="vec"
        The table of the exact solvers in the documentation says what each is good for.
    start, stop : {"uniform", "ones"} or pair of arrays, default="uniform"
        Start vector v and stop vector w; arrays have one weight per node, one array for each graph.
    labels : {"auto", "node", "edge", "both"} or None, default="auto"
        Labels that are used. "auto" uses node labels where the graphs have them; then both must.
    tol : float, default=1e-12
        Relative tolerance, in each solver's own measure (its `residual`).
    max_iterations : int, default=100_000
        Limit of the iterative solvers.

    Returns
    -------
    ExactKernel
        A float with `residual`, `iterations` and `solver`.

    Raises
    ------
    DivergenceError
        If the series diverges, decay * rho1 * rho2 >= 1; the message says what the decay must be below.
    ConvergenceError
        If a solver does not reach `tol` within `max_iterations`.
    UnsupportedError
        If the solver cannot handle this series, these labels or directed graphs.

    Examples
    --------
    >>> import networkx as nx
    >>> from gvoys import Geometric
    >>> value = exact_kernel(nx.path_graph(2), nx.path_graph(2), Geometric(0.5), start="ones", stop="ones")
    >>> round(value, 9)  # 4 walks of every length
    8.0
    """
    if not isinstance(solver, str) or solver not in SOLVERS:
        raise ParameterError(f"there is no solver {solver!r}; choose one of {', '.join(map(repr, SOLVERS))}")
    if not isinstance(tol, (float, np.floating)) or not 0 < tol < 1:
        raise ParameterError(f"tol must lie between 0 and 1, not {tol!r}")
    if not isinstance(max_iterations, (int, np.integer)) or max_iterations < 1:
        raise ParameterError(f"max_iterations must be an integer of at least 1, not {max_iterations!r}")
    problem = pose(g, h, series, start, stop, labels, tol, max_iterations)
    value = SOLVERS[solver](problem)
    if not np.isfinite(value):
        raise ParameterError(
            f"the kernel exceeds the range of float64 (solver {solver!r} finds {value}); lower the decay"
        )
    return value


def pose(
    g: Any, h: Any, series: Series, start: Any, stop: Any, labels: Any, tol: float = 1e-12, max_iterations: int = 0
) -> Problem:
    """Two graphs and a series that converges on their product, ready for a solver.

    Parameters
    ----------
    g, h, series, start, stop, labels : object
        As in `exact_kernel`.
    tol : float, default=1e-12
        Relative tolerance.
    max_iterations : int, default=0
        Limit of the iterative solvers.

    Returns
    -------
    Problem
        The problem.

    Raises
    ------
    DivergenceError
        If the series diverges on the product.
    """
    check_series(series)
    one, other = as_one_graph(g, "g"), as_one_graph(h, "h")
    check_number(series, lambda: max(max_degree(one), max_degree(other)))
    problem = Problem(
        one,
        other,
        series,
        _endpoints(one, other, start, "start"),
        _endpoints(one, other, stop, "stop"),
        *_choose_labels(one, other, labels),
        tol,
        max_iterations,
    )
    problem.series.check_convergence(problem.growth)
    return problem


def _endpoints(one: GraphBatch, other: GraphBatch, what: Any, name: str) -> Any:
    """The endpoint vectors of both graphs."""
    left, right = pair_of(what, name)
    return compute_endpoint(one, left, name), compute_endpoint(other, right, name)


def _choose_labels(one: GraphBatch, other: GraphBatch, labels: Any) -> tuple[bool, bool]:
    """Whether node labels and edge labels are used."""
    if isinstance(labels, str) and labels == "auto":
        given = [graph.node_labels is not None for graph in (one, other) if graph.n_nodes]
        labels = "node" if any(given) else None
    if labels is not None and (not isinstance(labels, str) or labels not in LABEL_CHOICES):
        raise ParameterError(f'labels must be "auto", "node", "edge", "both" or None, not {labels!r}')
    for kind, wanted in zip(("node", "edge"), LABEL_CHOICES[labels], strict=True):
        for name, graph in (("g", one), ("h", other)):
            count = graph.n_nodes if kind == "node" else graph.n_entries
            if wanted and count and getattr(graph, f"{kind}_labels") is None:
                raise UnsupportedError(f"{name} has no {kind} labels; give them to both graphs or pass labels=None")
    return LABEL_CHOICES[labels]
