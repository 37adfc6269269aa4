"""Growth of walks: where the infinite series may be truncated, and the power of two that divides each graph."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import DivergenceError
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.spectrum import AT_FIRST, CLOSELY, degree_bounds, early_growth, max_degree, spectral_radius
from gvoys.series import Series

_MOST_POWERS_OFF = 40.0  # powers of two by which a graph's longest walks may miss 1: float32 has 126 on either side


def choose_truncation(batch: GraphBatch, series: Series, rtol: float) -> tuple[int, float]:
    """Choose the truncation length of the infinite series, to `rtol` of a bound on it, and the rate of growth."""
    share = rtol / growth_constant(batch)
    rate = walk_rate(batch, lambda rate: series.truncation_length(rate**2, share))
    try:
        length = series.truncation_length(rate**2, share)
    except DivergenceError as error:
        if not batch.directed:
            raise
        raise DivergenceError(
            f"{error} (the walks of these directed graphs may multiply by {rate:.6g} at every step)"
        ) from None
    if length >= 2**16:
        raise DivergenceError(f"the infinite series takes walks of {length} steps; lower the decay or set max_length")
    return length, rate


def walk_rate(batch: GraphBatch, length: Callable[[float], int]) -> float:
    """Return a rate r with |K_i| <= const * r^(2i) for all pairs, as close as `length` needs, which may diverge."""

    def length_of(rate: float) -> float:
        try:
            return length(rate)
        except DivergenceError:
            return math.inf

    if not batch.directed:
        rate = float(spectral_radius(batch, 1e-4).max(initial=0.0))
        if math.isfinite(length_of(rate)):
            return rate
        return float(spectral_radius(batch, CLOSELY).max(initial=0.0))  # next to the limit, the last digits decide
    # directed walks may grow faster than the spectral radius at first: bound them by the growth of their first steps
    return float(early_growth(batch, length_of).max(initial=0.0))


def growth_constant(batch: GraphBatch) -> float:
    """Return the constant of `walk_rate`: how far K_i may exceed the rate's powers, relative to the ends' norms."""
    return AT_FIRST**2 if batch.directed else 1.0


def choose_exponents(batch: GraphBatch, max_length: int) -> NDArray[np.int64]:
    """Choose the power of two that each graph's adjacency matrix is divided by, so that walks fit into float32."""
    # the spectral radius lies between these and need not be known more closely than 2^(40 / max_length): power
    # iteration is for graphs with hubs and long walks only
    least, most = degree_bounds(batch)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(most > 0, (np.log2(least) + np.log2(most)) / 2.0, 0.0)
        unsure = np.flatnonzero((most > 0) & (max_length * np.log2(most / least) > 2.0 * _MOST_POWERS_OFF))
    if len(unsure):
        radii = spectral_radius(batch if len(unsure) == len(batch) else batch[unsure], 1e-2)
        logs[unsure] = np.log2(np.where(radii > 0, radii, most[unsure]))
    return np.round(logs).astype(np.int64)


def choose_scale(batch: GraphBatch) -> float:
    """Return the power of two nearest to the largest spectral radius, for what has one scale for all graphs."""
    return power_of_two(float(spectral_radius(batch, 1e-2).max(initial=0.0)) or max_degree(batch))


def power_of_two(rate: float) -> float:
    """Return the power of two nearest to a rate, 1 for none."""
    return float(2.0 ** np.round(np.log2(rate))) if rate > 0 else 1.0
