"""Threads, and work that is shared among them."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from gvoys.errors import ParameterError

_POLICY = "OMP_WAIT_POLICY"
_LOCK: AbstractContextManager[Any] = threading.RLock()
_NO_LOCK: AbstractContextManager[Any] = nullcontext()
_lost = False


@cache
def start_threads() -> AbstractContextManager[Any]:
    """Start Numba's threads so that they sleep between kernels, and return a lock for kernels, where they need one."""
    # OpenMP's threads spin by default and keep the cores from BLAS; it reads the policy once, when it is loaded. Where
    # there is neither OpenMP nor TBB, Numba ends the process if two Python threads run parallel kernels at a time.
    before = os.environ.get(_POLICY)
    os.environ.setdefault(_POLICY, "passive")
    try:
        numba.get_num_threads()  # loads the threading layer
    finally:
        if before is None:
            os.environ.pop(_POLICY, None)  # another thread may have started them meanwhile
    return _LOCK if numba.threading_layer() == "workqueue" else _NO_LOCK


def lost_threads() -> bool:
    """Return whether this process was forked from one in which Numba's threads ran, which do not follow into a fork."""
    return _lost  # a parallel kernel would wait for them for ever, or GNU OpenMP would end the process


def _after_fork() -> None:
    """Note in the child whether the parent had started Numba's threads."""
    global _lost
    try:
        numba.threading_layer()
        _lost = True
    except ValueError:  # not started yet: this process starts its own
        _lost = False


if hasattr(os, "register_at_fork"):  # systems that fork
    os.register_at_fork(after_in_child=_after_fork)


def n_threads() -> int:
    """Number of threads that the kernels use now."""
    if lost_threads():
        return 1
    start_threads()
    return int(numba.get_num_threads())


@contextmanager
def threads(n_jobs: int | None) -> Iterator[None]:
    """Use a number of threads inside a ``with`` block."""
    most = int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]
    counts = isinstance(n_jobs, (int, np.integer))
    wanted: Any = n_threads() if n_jobs is None else most if counts and n_jobs == -1 else n_jobs
    if not isinstance(wanted, (int, np.integer)) or not 1 <= wanted <= most:
        raise ParameterError(f"n_jobs must be None, -1 or an integer from 1 to {most}, not {n_jobs!r}")
    if lost_threads():
        yield
        return
    before = n_threads()
    numba.set_num_threads(int(wanted))
    try:
        yield
    finally:
        numba.set_num_threads(before)


def balanced_chunks(work: NDArray[Any], n_chunks: int) -> NDArray[np.int64]:
    """Split items into consecutive chunks with about equal work each."""
    done = np.concatenate([[0], np.cumsum(work, dtype=np.int64)])
    goals = np.linspace(0, done[-1], max(n_chunks, 1) + 1)
    cuts = np.searchsorted(done, goals[1:-1], side="left")
    return np.unique(np.concatenate([[0], cuts, [len(work)]])).astype(np.int64)
