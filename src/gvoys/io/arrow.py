"""PyArrow, where it is installed: it is imported only when a Parquet file is read or written."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from gvoys.errors import MissingDependencyError

# what a damaged file makes PyArrow raise: its own errors are kinds of these
ARROW_ERRORS = (ValueError, OSError, KeyError, TypeError, NotImplementedError, MemoryError, IndexError, RuntimeError)


def pyarrow(module: str = "") -> Any:
    """PyArrow, or one of its modules."""
    try:
        return import_module(f"pyarrow.{module}" if module else "pyarrow")
    except ImportError:
        raise MissingDependencyError('Parquet needs PyArrow; install it with: pip install "gvoys[parquet]"') from None
