"""Pairwise solvers: the oracles of the tests and the baselines of the benchmarks, behind one entry point."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gvoys.errors import ParameterError, UnsupportedError
from gvoys.exact.direct_solvers import solve_product, solve_spectral, solve_sylvester_equation
from gvoys.exact.iterative_solvers import solve_cg, solve_fixed_point, solve_lanczos, solve_vec
from gvoys.exact.problem import ExactKernel, Problem
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.labels import LABEL_CHOICES
from gvoys.graphs.spectrum import max_degree
from gvoys.io.convert import as_one_graph
from gvoys.series import Series, check_number, check_series
from gvoys.walks.checks import is_auto
from gvoys.walks.walk import Walk, check_labels, check_walk, takes_walk

__all__ = ["SOLVERS", "ExactKernel", "exact_kernel", "pose"]

SOLVERS = {
    "product": solve_product,
    "vec": solve_vec,
    "cg": solve_cg,
    "fixed-point": solve_fixed_point,
    "sylvester": solve_sylvester_equation,
    "spectral": solve_spectral,
    "lanczos": solve_lanczos,
}


@takes_walk()
def exact_kernel(
    g: Any,
    h: Any,
    series: Series,
    walk: Walk = Walk(max_length=None),  # noqa: B008 (immutable)
    solver: str = "vec",
    *,
    tol: float = 1e-12,
    max_iterations: int = 100_000,
) -> ExactKernel:
    """The random walk kernel of two graphs, v^T [sum_i mu_i A_x^i] w on their product, for the infinite series.

    Parameters
    ----------
    g, h : graph
        Two graphs of any kind that `as_batch` reads, or batches of one.
    series : Series
        Geometric, Exponential or Coefficients. A decay is a number here: ``"auto"`` is for estimators, which resolve it
        when they are fitted.
    walk : Walk, default=Walk(max_length=None)
        What is counted; a number as `max_length` truncates the series. Labels that are used both graphs must have.
        Start and stop weights that are arrays have one number for each node of g and of h, or are pairs of arrays.
    solver : {"vec", "product", "cg", "fixed-point", "sylvester", "spectral", "lanczos"}, default="vec"
        The table of the exact solvers in the documentation says what each is good for.
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
        If the solver cannot handle this series, these walks or directed graphs.

    Examples
    --------
    >>> import networkx as nx
    >>> import gvoys as gv
    >>> walk = gv.Walk(max_length=None, start="ones", stop="ones")
    >>> value = exact_kernel(nx.path_graph(2), nx.path_graph(2), gv.Geometric(0.5), walk)
    >>> round(value, 9)  # 4 walks of every length
    8.0
    """
    if not isinstance(solver, str) or solver not in SOLVERS:
        raise ParameterError(f"there is no solver {solver!r}; choose one of {', '.join(map(repr, SOLVERS))}")
    if not isinstance(tol, (float, np.floating)) or not 0 < tol < 1:
        raise ParameterError(f"tol must lie between 0 and 1, not {tol!r}")
    if not isinstance(max_iterations, (int, np.integer)) or max_iterations < 1:
        raise ParameterError(f"max_iterations must be an integer of at least 1, not {max_iterations!r}")
    problem = pose(g, h, series, walk, tol, max_iterations)
    value = SOLVERS[solver](problem)
    if not np.isfinite(value):
        raise ParameterError(
            f"the kernel exceeds the range of float64 (solver {solver!r} finds {value}); lower the decay"
        )
    return value


def pose(g: Any, h: Any, series: Series, walk: Walk, tol: float = 1e-12, max_iterations: int = 0) -> Problem:
    """Return two graphs and a series that converges on their product, ready for a solver."""
    check_series(series)
    graphs = as_one_graph(g, "g"), as_one_graph(h, "h")
    check_number(series, lambda: max(map(max_degree, graphs)))
    walk = replace(check_walk(walk), labels=_choose_labels(*graphs, walk.labels))
    halves = [half.on(graph) for half, graph in zip(walk.on_pair(graphs[0].n_nodes), graphs, strict=True)]
    if not walk.sampled:
        raise UnsupportedError(
            "exact solvers cannot use refine, backtrack=False or attributes; "
            "use RandomWalkKernel with method 'sequences' or 'sketch'"
        )
    (one, used), (other, _) = (half.labelled_by_structure(graph) for half, graph in zip(halves, graphs, strict=True))
    starts, stops = zip(*(half.ends(graph) for half, graph in zip(halves, graphs, strict=True)), strict=True)
    if walk.max_length is not None:
        series = series.truncated(walk.max_length)
    problem = Problem(one, other, series, starts, stops, used.node_labels, used.edge_labels, tol, max_iterations)
    problem.series.check_convergence(problem.growth)
    return problem


def _choose_labels(one: GraphBatch, other: GraphBatch, labels: Any) -> Any:
    """Choose the labels that are used, which both graphs must have."""
    check_labels(labels)
    if is_auto(labels):
        given = [graph.node_labels is not None for graph in (one, other) if graph.n_nodes]
        labels = "node" if any(given) else None
    for kind, wanted in zip(("node", "edge"), LABEL_CHOICES[labels], strict=True):
        for name, graph in (("g", one), ("h", other)):
            count = graph.n_nodes if kind == "node" else graph.n_entries
            if wanted and count and getattr(graph, f"{kind}_labels") is None:
                raise UnsupportedError(f"{name} has no {kind} labels; give them to both graphs or pass labels=None")
    return labels
