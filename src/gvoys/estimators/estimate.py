"""One kernel value to a relative error: groups are added until the error bar is short enough."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gvoys.errors import ConvergenceError, ParameterError
from gvoys.estimators.spread import widened
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.convert import as_one_graph
from gvoys.graphs.spectrum import max_degree
from gvoys.series import Series, check_series
from gvoys.walks.profiles import compute_gram, moment_profiles, sketch_profiles
from gvoys.walks.settings import Settings, check_length, check_settings, choose_labels, choose_scale, whole_length
from gvoys.walks.sketch import WIDTH

__all__ = ["Estimate", "estimate"]

_FIRST = 8  # groups to begin with


@dataclass(frozen=True)
class Estimate:
    """A kernel value with its standard error: value +- 1.96 stderr is a 95 % interval."""

    value: float
    stderr: float
    n_components: int

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval."""
        return self.value - 1.96 * self.stderr, self.value + 1.96 * self.stderr


def estimate(
    g: Any,
    h: Any,
    series: Series,
    rtol: float = 0.01,
    *,
    max_length: int | None = None,
    start: str = "uniform",
    stop: str = "uniform",
    labels: str | None = "auto",
    refine: int = 0,
    backtrack: bool = True,
    attribute_bandwidth: float | None = None,
    random_state: int = 0,
    max_components: int = 1 << 20,
) -> Estimate:
    """Estimate K(g, h) until its standard error is at most `rtol` of it; exact, with stderr 0, without labels.

    Parameters
    ----------
    g, h : two graphs of any kind that `as_batch` reads.
    max_length : the longest walk; None means the whole series, and a divergent one is refused.
    max_components : past it ConvergenceError is raised, as for kernels near zero beside their graphs' own.
    The others are as in `gvoys.profiles`.

    >>> import gvoys as gv
    >>> one, other = gv.datasets.molecules(2)
    >>> found = estimate(one, other, gv.Exponential(0.1), rtol=0.01)
    >>> found.stderr <= 0.01 * found.value
    True
    """
    if not isinstance(rtol, (float, np.floating)) or not 0 < rtol <= 0.3:
        # beyond that the rule to stop where the value is large beside its error would itself bias the value
        raise ParameterError(f"rtol must lie between 0 and 0.3, not {rtol!r}")
    if not isinstance(max_components, (int, np.integer)) or max_components < _FIRST * WIDTH:
        raise ParameterError(f"max_components must be an integer of at least {_FIRST * WIDTH}, not {max_components!r}")
    check_series(series)
    pair = GraphBatch.concatenate([as_one_graph(g, "g"), as_one_graph(h, "h")])
    series, scale = series.resolved(max_degree(pair)), choose_scale(pair)
    settings = Settings(
        start, stop, *choose_labels(pair, labels), refine, backtrack, attribute_bandwidth, random_state, scale
    )
    check_settings(pair, settings)
    length = _length(pair, series, max_length, rtol)
    if settings.plain:
        K = compute_gram(moment_profiles(pair, length, settings), series, scale=scale)
        return Estimate(float(K[0, 1]), 0.0, 1)
    return _refine(pair, series, length, settings, rtol, max_components)


def _refine(
    pair: GraphBatch, series: Series, length: int, settings: Settings, rtol: float, max_components: int
) -> Estimate:
    factors = np.sqrt(series.coefficients(length, settings.scale)).astype(np.float32)[:, None]
    values: list[float] = []
    n_groups = _FIRST
    while True:
        new = (n_groups - len(values)) * WIDTH
        features = sketch_profiles(pair, length, new, settings, first_group=len(values)) * factors
        values += _group_values(features, new)
        result = _summarise(np.array(values))
        if result.stderr <= rtol * abs(result.value):
            return result
        if 2 * n_groups * WIDTH > max_components:
            raise ConvergenceError(
                f"{result.n_components} components leave {result.value:.4g} with a standard error of "
                f"{result.stderr:.2g}, above rtol = {rtol:g}; raise rtol or max_components, or use exact_kernel"
            )
        n_groups *= 2


def _group_values(features: Any, n_components: int) -> list[float]:
    """K(g, h) by each group on its own."""
    left, right = (
        part.reshape(part.shape[0], -1, n_components // WIDTH, WIDTH).astype(np.float64) for part in features
    )
    return (np.einsum("lrgj,lrgj->g", left, right) * (n_components // WIDTH)).tolist()


def _summarise(values: Any) -> Estimate:
    error = widened(values.std(ddof=1) / np.sqrt(len(values)), len(values))
    return Estimate(float(values.mean()), float(error), len(values) * WIDTH)


def _length(pair: GraphBatch, series: Series, max_length: int | None, rtol: float) -> int:
    if max_length is not None:
        return check_length(max_length)
    return whole_length(pair, series, 1e-3 * rtol)[0]
