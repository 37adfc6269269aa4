"""Whether profiles stayed within the range of float32, at the speed of memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from gvoys.kernels import kernel
from gvoys.threads import start_threads

__all__ = ["first_not_finite"]

_MAGNITUDE, _INFINITE = np.uint32(0x7FFFFFFF), np.uint32(0x7F800000)  # of a float's bits: all but the sign; infinity


def first_not_finite(profiles: NDArray[np.float32]) -> tuple[int, int] | None:
    """The first graph and length of (n_graphs, n_lengths, width) that hold inf or nan; None where all are finite."""
    largest = np.zeros(len(profiles), np.uint32)
    start_threads()
    _largest_bits(profiles.view(np.uint32), largest)
    bad = largest >= _INFINITE
    if not bad.any():
        return None
    graph = int(np.argmax(bad))
    return graph, int(np.argmin(np.isfinite(profiles[graph]).all(axis=1)))


@kernel(parallel=True)
def _largest_bits(bits: Any, largest: Any) -> None:  # pragma: no cover
    """Bits without the sign grow with the number, and are largest for inf and nan."""
    for graph in prange(len(bits)):
        g = np.int64(graph)
        found = np.uint32(0)
        for i in range(bits.shape[1]):
            for j in range(bits.shape[2]):
                found = max(found, bits[g, i, j] & _MAGNITUDE)
        largest[g] = found
