"""Compiled kernels, kept on disk between processes, for any Python thread and for forked processes."""

from __future__ import annotations

import hashlib
import logging
import os
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache, cached_property, update_wrapper
from pathlib import Path
from typing import Any

from numba import njit
from numba.core.caching import FunctionCache, IndexDataCacheFile

from gvoys.threads import lost_threads, start_threads

_warned = False
_announced = False


@cache
def _sources() -> str:
    """Return a digest of all sources that kernels are made of."""
    package = Path(__file__).parent
    files = sorted(file for folder in ("graphs", "_compiled") for file in (package / folder).rglob("*.py"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


class _Disk(FunctionCache):
    """Numba's cache, except that a folder or file that cannot be used costs time and not the result.

    Numba notices a change of the file that a kernel stands in, but not of the files it takes other kernels from; here
    a change of any of them makes it compile anew. It does not tell the options of a kernel apart either: `variant`
    gives kernels of one function files of their own.
    """

    def __init__(self, function: Callable[..., Any], variant: str, slow: bool) -> None:
        super().__init__(function)
        self._slow = slow
        stamp = (self._impl.locator.get_source_stamp(), _sources())
        self._cache_file = IndexDataCacheFile(self._cache_path, self._impl.filename_base + variant, stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            overload = super().load_overload(sig, target_context)
        except Exception:  # a damaged file may raise anything
            self._forget()
            overload = None
        if overload is None and self._slow:
            _announce_once()
        return overload

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except Exception as error:  # the kernel itself is ready
            self._forget()
            _warn_once(error)

    def _forget(self) -> None:
        """Start with an empty index: one that is written before its data would lead to the data of older sources."""
        with suppress(OSError):
            os.unlink(self._cache_file._index_path)


def _announce_once() -> None:
    """Say why nothing happens for some seconds; ``logging.getLogger("gvoys")`` can be set to say nothing."""
    global _announced
    if not _announced:
        _announced = True
        logging.getLogger("gvoys").warning("gvoys compiles its kernels, once: about 10 s")


def _warn_once(reason: Exception) -> None:
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(
            "gvoys cannot keep its compiled kernels on disk, so that every process compiles them again, which takes "
            f"seconds to minutes; set NUMBA_CACHE_DIR to a folder that can be written ({reason})",
            stacklevel=2,
        )


def _compiled(function: Callable[..., Any], options: dict[str, Any], variant: str = "") -> Any:
    """A Numba function that compiles on first use, or is read from the disk."""
    options = {"nogil": True, "no_cfunc_wrapper": True, **options}  # no other code calls kernels by their address
    compiled = njit(**options)(function)
    if hasattr(compiled, "_cache"):  # NUMBA_DISABLE_JIT leaves plain functions
        try:
            # parallel kernels, and what stands in for them, take seconds each; the others far less
            compiled._cache = _Disk(function, variant, slow=bool(options.get("parallel") or variant))
        except (RuntimeError, OSError) as error:  # no folder can be written
            _warn_once(error)
    return compiled


class _Parallel:
    """A kernel that uses all threads, or one in a forked process that has lost them; the same bits come out.

    Compiled code cannot call it: kernels inside kernels are not parallel.
    """

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        update_wrapper(self, function)
        self._function, self._options = function, options
        self.parallel = _compiled(function, options)

    @cached_property
    def serial(self) -> Any:
        return _compiled(self._function, {**self._options, "parallel": False}, "-serial")

    def __call__(self, *args: Any) -> Any:
        if lost_threads():
            return self.serial(*args)
        with start_threads():
            return self.parallel(*args)


def kernel(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile with Numba on first use and keep the result on disk; other Python threads go on while it runs."""
    return lambda function: (_Parallel if options.get("parallel") else _compiled)(function, options)
