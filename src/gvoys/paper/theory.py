"""Bounds on the error of graph voyagers: Theorem 3.2 of Choromanski et al. 2025, with its limits.

The theorem bounds how far the estimate strays from its mean *given g and z* (and the coins, where they are shared) when
all walkers share their signs. It says nothing about the spread that g and z themselves bring, which does not
shrink with the number of walks: only more components do that. Where a constant is infinite the functions say so.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gvoys.errors import ParameterError
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.spectrum import max_degree, spectral_radius
from gvoys.graphs.transform import compute_endpoint
from gvoys.io.convert import as_batch, as_one_graph
from gvoys.series import Series, check_series
from gvoys.walks.checks import check_count, check_halting
from gvoys.walks.sampled import WalkConfig

_MOST_WALKS = 2**62
_LONGEST_SUM = 1 << 22  # terms


def load_bound(graph: Any, series: Series, p_halt: float = 0.2, *, share_halting: bool = True) -> float:
    """The most that one walker can deposit: c(G) = sum_l sqrt(f_l) (d_max / sqrt(1 - p_halt))^l.

    The exponent is l (the paper prints k). d_max is the largest degree times weight of any step; where coins are not
    shared, a step weighs 1 / (1 - p_halt) instead of its square root. For a geometric series c(G) is finite only if
    decay * d_max^2 < 1 - p_halt, so that the paper's own decay of 1 / d_max^2 leaves it infinite.

    Parameters
    ----------
    graph : graph
        One graph of any kind that `as_batch` reads, or a batch of one.
    series : Series
        The series mu, with a modulation f >= 0.
    p_halt : float, default=0.2
        Chance of halting at every step.
    share_halting : bool, default=True
        Whether a walker halts at the same step on all graphs.

    Returns
    -------
    float
        The bound c(G), or infinity.

    Examples
    --------
    >>> import networkx as nx
    >>> from gvoys import Exponential, Geometric
    >>> load_bound(nx.cycle_graph(5), Geometric("auto"))
    inf
    >>> round(load_bound(nx.cycle_graph(5), Exponential(0.1)), 3)
    1.744
    """
    one, series = as_one_graph(graph, "graph"), check_series(series)
    series = series.resolved(max_degree(one))
    series.check_modulation()
    step = _largest_step(one) * WalkConfig(1, p_halt=check_halting(p_halt), share_halting=share_halting).step_factor
    if step == 0.0:
        return math.sqrt(float(series.modulation(0)[0]))
    if step > 1e150 or step**2 >= series.modulation_radius:
        return math.inf
    return _sum_of_roots(series, step)


def difference_bound(
    g: Any,
    h: Any,
    series: Series,
    n_walks: int,
    p_halt: float = 0.2,
    *,
    share_halting: bool = True,
    start: str = "uniform",
    stop: str = "uniform",
) -> float:
    """The bound k(m, G, H) of Theorem 3.2: how much the estimate may change when one of the m sets of walks does.

    With ``a = 4 (2m - 1) / m^2``: ``k = 2 (a + a^2 / 4) c(G)^2 c(H)^2 |v_G| |w_G| |v_H| |w_H|`` (1-norms).

    Parameters
    ----------
    g, h : graph
        Two graphs of any kind that `as_batch` reads, or batches of one.
    series : Series
        The series mu, with a modulation f >= 0.
    n_walks : int
        Number m of walks per node.
    p_halt : float, default=0.2
        Chance of halting at every step.
    share_halting : bool, default=True
        Whether a walker halts at the same step on both graphs.
    start, stop : {"uniform", "ones"}, default="uniform"
        Start vector v and stop vector w.

    Returns
    -------
    float
        The bound k, or infinity.
    """
    walks = check_count(n_walks, "n_walks")
    size = 1.0
    pair = [as_one_graph(g, "g"), as_one_graph(h, "h")]
    series = check_series(series).resolved(max(max_degree(one) for one in pair))
    for one in pair:
        size *= load_bound(one, series, p_halt, share_halting=share_halting) ** 2
        for what, name in ((start, "start"), (stop, "stop")):
            size *= float(np.abs(compute_endpoint(one, what, name)).sum())
    return _share(walks) * size


def concentration_bound(g: Any, h: Any, series: Series, n_walks: int, epsilon: float, **how: Any) -> float:
    """A bound on ``P(|estimate - its mean given g and z| >= epsilon)``.

    2 exp(-2 epsilon^2 / (m k^2)) by McDiarmid's inequality, for walkers that share their signs.

    Parameters
    ----------
    g, h : graph
        Two graphs of any kind that `as_batch` reads, or batches of one.
    series : Series
        The series mu, with a modulation f >= 0.
    n_walks : int
        Number m of walks per node.
    epsilon : float
        Distance from the mean, above 0.
    **how : dict
        Further arguments of `difference_bound`.

    Returns
    -------
    float
        The bound; 1 where the theorem says nothing.
    """
    check_epsilon(epsilon)
    return _tail(difference_bound(g, h, series, n_walks, **how), n_walks, epsilon)


def walks_needed(g: Any, h: Any, series: Series, epsilon: float, delta: float, **how: Any) -> float:
    """The fewest walks for which `concentration_bound` is at most `delta`.

    Parameters
    ----------
    g, h : graph
        Two graphs of any kind that `as_batch` reads, or batches of one.
    series : Series
        The series mu, with a modulation f >= 0.
    epsilon : float
        Distance from the mean, above 0.
    delta : float
        Probability of a larger distance, between 0 and 1.
    **how : dict
        Further arguments of `difference_bound`.

    Returns
    -------
    int or inf
        Number of walks, or infinity where no number is enough.

    Examples
    --------
    >>> import networkx as nx
    >>> from gvoys import Exponential, Geometric
    >>> walks_needed(nx.cycle_graph(5), nx.path_graph(4), Exponential(0.01), epsilon=0.5, delta=0.05)
    6985
    >>> walks_needed(nx.cycle_graph(5), nx.path_graph(4), Geometric("auto"), epsilon=0.5, delta=0.05)
    inf
    """
    if not isinstance(delta, (int, float, np.number)) or not 0 < delta < 1:
        raise ParameterError(f"delta must lie between 0 and 1, not {delta!r}")
    check_epsilon(epsilon)
    size = difference_bound(g, h, series, 1, **how) / _share(1)
    if math.isinf(size):
        return math.inf

    def enough(walks: int) -> bool:
        return _tail(_share(walks) * size, walks, epsilon) <= delta

    high = 1
    while not enough(high):
        if high >= _MOST_WALKS:
            return math.inf
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def finite_variance(graphs: Any, series: Series, p_halt: float = 0.2, *, share_halting: bool = True) -> bool:
    """Whether the variance of voyagers is finite for every pair of these graphs.

    Loads multiply by degree * weight at every step, so that their squares grow like s, the spectral radius of
    degree(u) A(u, x)^2: at least the square of A's, and equal to it on regular graphs. A pair that halts together has
    a finite variance if s_G s_H < (1 - p_halt) r^2 and both are below r, the radius of the series f; where each tosses
    its own coins, if both are below (1 - p_halt) r. On a regular graph with a geometric series the first is
    decay * rho^2 < sqrt(1 - p_halt). For labelled graphs the condition is sufficient.

    Parameters
    ----------
    graphs : list of graphs or GraphBatch
        Graphs of any kind that `as_batch` reads.
    series : Series
        The series mu, with a modulation f >= 0.
    p_halt : float, default=0.2
        Chance of halting at every step.
    share_halting : bool, default=True
        Whether a walker halts at the same step on all graphs.

    Returns
    -------
    bool
        True if every pair of the graphs has a finite variance.

    Examples
    --------
    >>> import networkx as nx
    >>> from gvoys import Geometric
    >>> [finite_variance([nx.cycle_graph(5)], Geometric(decay), p_halt=0.2) for decay in (0.22, 0.23)]
    [True, False]
    """
    batch, series = as_batch(graphs), check_series(series)
    series = series.resolved(max_degree(batch))
    series.check_modulation()
    factor = WalkConfig(1, p_halt=check_halting(p_halt), share_halting=share_halting).step_factor
    return math.isinf(series.modulation_radius) or load_growth(batch) * factor < series.modulation_radius


def finite_variance_of_nodes(graph: Any, series: Series, p_halt: float = 0.2) -> bool:
    """Whether graph random features of this graph's nodes have a finite variance: sqrt(s / (1 - p_halt)) < r.

    s is the growth of squared loads, as in `finite_variance`; on a regular graph it is rho^2.

    Parameters
    ----------
    graph : graph
        One graph of any kind that `as_batch` reads, or a batch of one.
    series : Series
        The series mu, with a modulation f >= 0.
    p_halt : float, default=0.2
        Chance of halting at every step.

    Returns
    -------
    bool
        True if the variance is finite.
    """
    one, series = as_one_graph(graph, "graph"), check_series(series)
    series = series.resolved(max_degree(one))
    series.check_modulation()
    radius = series.modulation_radius
    return math.isinf(radius) or math.sqrt(load_growth(one) / (1.0 - check_halting(p_halt))) < radius


def load_growth(batch: GraphBatch) -> float:
    """Return the largest growth rate, per step and over graphs, of a load's mean square."""
    with np.errstate(over="ignore"):
        squares = batch if batch.edge_weights is None else batch._with(edge_weights=batch.edge_weights**2)
    leaving = np.diff(batch.indptr).astype(np.float64)
    if batch.directed:
        entering = np.bincount(batch.columns(), minlength=batch.n_nodes).astype(np.float64)
        radii = [spectral_radius(squares, 1e-4, left=leaving), spectral_radius(squares, 1e-4, right=entering)]
    else:  # the same radius, and symmetric
        radii = [spectral_radius(squares, 1e-4, left=np.sqrt(leaving), right=np.sqrt(leaving))]
    return float(np.max(radii, initial=0.0))


def check_epsilon(epsilon: Any) -> None:
    """Check a distance."""
    if not isinstance(epsilon, (int, float, np.number)) or not 0 < epsilon < math.inf:
        raise ParameterError(f"epsilon must be a positive number, not {epsilon!r}")


def _share(walks: int) -> float:
    """Return the factor by which k(m, G, H) depends on m."""
    share = 4.0 * (2 * walks - 1) / walks**2
    return 2.0 * (share + share**2 / 4.0)


def _tail(k: float, walks: int, epsilon: float) -> float:
    """Return McDiarmid's bound."""
    return 0.0 if k == 0.0 else min(1.0, 2.0 * math.exp(-2.0 * (epsilon / k) ** 2 / walks))


def _largest_step(graph: GraphBatch) -> float:
    """Return by how much a load may be multiplied in one step of either side, before halting is divided out."""
    if graph.n_entries == 0:
        return 0.0
    ways = [np.bincount(nodes, minlength=graph.n_nodes)[nodes] for nodes in (graph.rows(), graph.columns())]
    return float(max((way * np.abs(graph.weights())).max() for way in ways))


def _sum_of_roots(series: Series, step: float) -> float:
    """Return sum_l sqrt(f_l) step^l, to 1e-12; infinity where it takes too many terms."""
    length, before = 64, -1.0
    while length <= _LONGEST_SUM:
        total = float(np.sqrt(series.modulation(length, step)).sum())
        if not np.isfinite(total):
            return math.inf
        if total - before <= 1e-13 * total:
            return total
        length, before = 2 * length, total
    return math.inf
