"""How work is shared among threads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from gvoys.errors import ParameterError

__all__ = ["balanced_chunks", "n_threads", "threads"]


def n_threads() -> int:
    """Threads that the kernels use now."""
    return int(numba.get_num_threads())


@contextmanager
def threads(n_jobs: int | None) -> Iterator[None]:
    """Use `n_jobs` threads inside; None and -1 mean all that Numba may use."""
    most = int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]
    wanted: Any = most if n_jobs in (None, -1) else n_jobs
    if not isinstance(wanted, (int, np.integer)) or not 1 <= wanted <= most:
        raise ParameterError(f"n_jobs must be None, -1 or an integer from 1 to {most}, not {n_jobs!r}")
    before = n_threads()
    numba.set_num_threads(int(wanted))
    try:
        yield
    finally:
        numba.set_num_threads(before)


def balanced_chunks(work: NDArray[Any], n_chunks: int) -> NDArray[np.int64]:
    """Cut points 0 … len(work) of consecutive chunks with about equal work each."""
    done = np.concatenate([[0], np.cumsum(work, dtype=np.int64)])
    goals = np.linspace(0, done[-1], max(n_chunks, 1) + 1)
    cuts = np.searchsorted(done, goals[1:-1], side="left")
    return np.unique(np.concatenate([[0], cuts, [len(work)]])).astype(np.int64)
