"""One kernel value to a relative error: groups of components are added until the error bar is short enough."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from gvoys.errors import ConvergenceError, ParameterError
from gvoys.estimators.drawn_value import DrawnPair, sample_value
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.build import check_joinable
from gvoys.graphs.degrees import max_degree
from gvoys.io.convert import as_one_graph
from gvoys.series import Series, check_number, check_series
from gvoys.walks.checks import check_seed
from gvoys.walks.dense import DenseProfiles
from gvoys.walks.growth import choose_truncation
from gvoys.walks.moments import Moments
from gvoys.walks.sketch import WIDTH, Sketch
from gvoys.walks.spread import rounding_floor, widened
from gvoys.walks.walk import Walk, check_walk, takes_walk

_FIRST = 8  # groups to begin with


@dataclass(frozen=True)
class Estimate:
    """Kernel value with its standard error."""

    value: float  # the estimate
    stderr: float  # its standard error; value +- 1.96 stderr is a 95 % interval
    n_components: int  # number of components that were used, or of walkers on each graph

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval."""
        return self.value - 1.96 * self.stderr, self.value + 1.96 * self.stderr


class Tolerance(NamedTuple):
    """Relative and absolute tolerance of a standard error."""

    rtol: float
    atol: float

    def met_by(self, found: Estimate) -> bool:
        """Whether the standard error is at most atol + rtol |value|."""
        return found.stderr <= self.atol + self.rtol * abs(found.value)

    def __str__(self) -> str:
        return f"rtol = {self.rtol:g}" + (f" and atol = {self.atol:g}" if self.atol else "")


@takes_walk()
def estimate(
    g: Any,
    h: Any,
    series: Series,
    walk: Walk = Walk(max_length=None),  # noqa: B008 (immutable)
    rtol: float = 0.01,
    atol: float = 0.0,
    *,
    random_state: int = 0,
    max_components: int = 1 << 20,
) -> Estimate:
    """Estimate K(g, h) until its standard error is at most ``atol + rtol |K|``.

    Without labels and attributes the value is exact, with a standard error of 0. Of large graphs, walks are sampled
    instead where that takes less work: walkers start where `start` says, and read no more of a graph than where they
    go, so that the time does not grow with it. Graphs with hubs are not sampled, unless their weights make up for the
    degrees: too few walkers would meet the hubs for a true error bar. Of weighted graphs one pass over the weights
    bounds an infinite series.

    Parameters
    ----------
    g : graph
        One graph of any kind that `as_batch` takes.
    h : graph
        The other graph.
    series : Geometric, Exponential or Coefficients
        The weights of the walk lengths; the decay must be a number, since nothing is fitted to resolve "auto".
    walk : Walk, default=Walk(max_length=None)
        What is counted. With ``max_length=None`` the infinite series is truncated with an error of at most a thousandth
        of `rtol` of a bound on it (see `RandomWalkFeatures`); a divergent one raises DivergenceError. Start and stop
        weights that are arrays have one number for each node of g and of h, or are pairs of arrays.
    rtol : float, default=0.01
        Relative tolerance, above 0 and at most 0.3.
    atol : float, default=0.0
        Absolute tolerance, for values near zero, which no relative one reaches.
    random_state : int, default=0
        Seed; the result is a pure function of it, the graphs and the parameters.
    max_components : int, default=1048576
        Largest number of components.

    Returns
    -------
    Estimate
        The value with its standard error.

    Raises
    ------
    ConvergenceError
        If `max_components` are not enough, as for values near zero without `atol`.

    Examples
    --------
    >>> import gvoys as gv
    >>> one, other = gv.datasets.molecules(2)
    >>> found = estimate(one, other, gv.Exponential(0.1), rtol=0.01)
    >>> found.stderr <= 0.01 * found.value
    True
    """
    if not isinstance(rtol, (float, np.floating)) or not 0 < rtol <= 0.3:
        # beyond that the rule to stop where the value is large beside its error would itself bias the value
        raise ParameterError(f"rtol must lie between 0 and 0.3, not {rtol!r}")
    if not isinstance(atol, (int, float, np.integer, np.floating)) or not 0 <= atol < np.inf:
        raise ParameterError(f"atol must be a number of at least 0, not {atol!r}")
    if not isinstance(max_components, (int, np.integer)) or max_components < _FIRST * WIDTH:
        raise ParameterError(f"max_components must be an integer of at least {_FIRST * WIDTH}, not {max_components!r}")
    graphs = as_one_graph(g, "g"), as_one_graph(h, "h")
    check_joinable(graphs)
    halves = [half.on(graph) for half, graph in zip(check_walk(walk).on_pair(graphs[0].n_nodes), graphs, strict=True)]
    (g, one), (h, other) = (half.labelled_by_structure(graph) for half, graph in zip(halves, graphs, strict=True))
    graphs = g, h
    check_number(check_series(series, one.n_iterations), lambda: max(map(max_degree, graphs)))
    length, seed = walk.max_length, check_seed(random_state)
    drawn = DrawnPair(graphs, (one, other), series, seed)
    sampled = sample_value(drawn, length, 1e-3 * rtol, rtol, atol)
    if sampled is not None:
        return Estimate(*sampled)
    pair = GraphBatch.concatenate(graphs)
    if length is None:
        length = choose_truncation(pair, series, 1e-3 * rtol)[0]
    ends = {name: _joined([getattr(half, name) for half in halves]) for name in ("start", "stop")}
    joined = replace(one, max_length=length, **ends)
    if joined.plain:
        return Estimate(float(Moments().profile(pair, joined).gram(series)[0, 1]), 0.0, 1)
    return _refine(pair, series, joined, seed, Tolerance(rtol, atol), max_components)


def _refine(
    pair: GraphBatch, series: Series, walk: Walk, seed: int, tolerance: Tolerance, max_components: int
) -> Estimate:
    values = np.empty((3, 0))
    n_groups = _FIRST
    while True:
        new = n_groups - values.shape[1]
        profiles = Sketch(new * WIDTH, seed, first_group=values.shape[1]).profile(pair, walk)
        values = np.hstack([values, _group_values(profiles, series, new)])
        result = _summarise(values, profiles.rounding)
        if tolerance.met_by(result):
            return result
        if 2 * n_groups * WIDTH > max_components:
            raise ConvergenceError(
                f"{result.n_components} components leave {result.value:.4g} with a standard error of "
                f"{result.stderr:.2g}, above {tolerance}; raise rtol, atol or max_components, or use exact_kernel"
            )
        n_groups *= 2


def _group_values(profiles: DenseProfiles, series: Series, n_groups: int) -> Any:
    """K(g, h), K(g, g) and K(h, h) by each group on its own, (3, n_groups)."""
    roots = profiles.roots(series)[..., None, None]
    shape = (2, profiles.n_lengths, profiles.n_iterations, n_groups, WIDTH)
    g, h = profiles.values.reshape(shape) * roots
    return np.array([np.einsum("lrgj,lrgj->g", a, b) * n_groups for a, b in ((g, h), (g, g), (h, h))])


def _summarise(values: Any, own: Any) -> Estimate:
    """The mean over groups, and its error by their spread, never below the rounding of both graphs' sketches."""
    between, *diagonal = values
    n_groups = len(between)
    error = widened(between.std(ddof=1) / np.sqrt(n_groups), n_groups)
    ends = [np.array([lengths.mean()]) for lengths in diagonal]
    floor = rounding_floor(own[:1], own[1:], *ends)[0, 0]
    return Estimate(float(between.mean()), float(np.hypot(error, floor)), n_groups * WIDTH)


def _joined(ends: list[Any]) -> Any:
    """Return the start or stop weights of both graphs."""
    return ends[0] if isinstance(ends[0], str) else np.concatenate([np.asarray(part, float) for part in ends])
