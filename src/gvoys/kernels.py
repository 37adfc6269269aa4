"""Compiled kernels, kept on disk between processes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from numba import njit

__all__ = ["kernel"]


@cache
def _sources() -> str:
    """A digest of all sources that kernels are made of."""
    package = Path(__file__).parent
    files = sorted(file for folder in ("graphs", "walks") for file in (package / folder).rglob("*.py"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def kernel(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile with Numba on first use and keep the result on disk.

    Numba notices a change of the file that a kernel stands in, but not of the files it takes other kernels from; here
    a change of any of them makes it compile anew. Kernels let other Python threads go on meanwhile.
    """

    def compile_lazily(function: Callable[..., Any]) -> Any:
        compiled = njit(cache=True, nogil=True, **options)(function)
        stored = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
        if stored is not None and hasattr(stored, "_source_stamp"):
            stored._source_stamp = (stored._source_stamp, _sources())
        return compiled

    return compile_lazily
