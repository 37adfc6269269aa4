"""Products of sparse features, of which one in a thousand or so columns is shared by any two graphs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gvoys._compiled.cpu.sparse_cpu import add_products, mirror, renumbered
from gvoys.walks.method import backend

_LARGEST_DENSE = 200_000  # numbers in two matrices that BLAS multiplies before a kernel has started
_FEW_GRAPHS = 4  # that are compared with others by one pass over these
_HEAVY_SHARE = 0.1  # share of the graphs that have a column from which BLAS is faster
_DEVICE: ContextVar[str] = ContextVar("device", default="cpu")


@contextmanager
def products_on(device: str) -> Iterator[None]:
    """Multiply on a device inside a ``with`` block, whoever asks for products."""
    token = _DEVICE.set(device)
    try:
        yield
    finally:
        _DEVICE.reset(token)


def device_of_products() -> str:
    """Where products are computed now."""
    return _DEVICE.get()


def summed_gram(left: list[sp.csr_array], right: list[sp.csr_array] | None = None) -> NDArray[np.float64]:
    """Sum left @ right.T over blocks; without `right`, left @ left.T."""
    if device_of_products() != "cpu":
        return _sum_on_device(left, right)
    n_left, n_right = left[0].shape[0], (right or left)[0].shape[0]
    if (n_left + n_right) * sum(block.shape[1] for block in left) <= _LARGEST_DENSE:
        left_block = sp.hstack(left, format="csr").toarray()
        return np.asarray(left_block @ (left_block if right is None else sp.hstack(right, format="csr").toarray()).T)
    if right is not None and n_left <= _FEW_GRAPHS:
        return np.asarray(
            sum((right_block @ left_block.toarray().T).T for left_block, right_block in zip(left, right, strict=True))
        )
    out = np.zeros((n_left, n_right))
    # columns that many graphs have are multiplied by BLAS, the others entry by entry, block by block in the cache
    heavy = [_add_light(*blocks, out) for blocks in zip(left, right or left, strict=True)]
    left_block, right_block = (np.concatenate(side, axis=1) for side in zip(*heavy, strict=True))
    out += left_block @ (left_block if right is None else right_block).T
    if right is None:
        mirror(out)  # light columns were added below the diagonal alone
    return out


def _sum_on_device(left: list[sp.csr_array], right: list[sp.csr_array] | None) -> NDArray[np.float64]:
    """Sum on the device, where a sequence that only one graph has adds to the diagonal alone."""
    products = backend(device_of_products()).products
    if right is not None:
        return np.asarray(products(left, right))
    single = [np.bincount(block.indices, minlength=block.shape[1]) == 1 for block in left]
    shared = [_with_columns(block, ~single_columns) for block, single_columns in zip(left, single, strict=True)]
    out = np.asarray(products(shared, None))
    for block, single_columns in zip(left, single, strict=True):
        out[np.diag_indices_from(out)] += _squares(_with_columns(block, single_columns))
    return out


def _add_light(left: sp.csr_array, right: sp.csr_array, out: NDArray[np.float64]) -> tuple[Any, Any]:
    """Add the products of columns that few graphs have to `out`, and return the other columns, dense."""
    same = left is right
    counts = np.bincount(right.indices, minlength=right.shape[1])
    heavy = counts > right.shape[0] * _HEAVY_SHARE
    single = (counts == 1) & same  # a sequence of one graph meets no other
    light = ~heavy & ~single
    rows = _with_columns(right, light)
    add_products(*_parts(rows if same else _with_columns(left, light)), *_parts(rows.tocsc()), same, out)
    if same:
        out[np.diag_indices_from(out)] += _squares(_with_columns(right, single & ~heavy))
    right_dense = _with_columns(right, heavy).toarray()
    return right_dense if same else _with_columns(left, heavy).toarray(), right_dense


def _parts(matrix: Any) -> tuple[Any, Any, Any]:
    """Return a matrix's arrays for kernels; indices are unsigned, so that no sign is checked."""
    return matrix.indptr, matrix.indices.astype(np.int32, copy=False).view(np.uint32), matrix.data


def _with_columns(matrix: sp.csr_array, kept: NDArray[np.bool_]) -> sp.csr_array:
    """Select columns, numbered anew."""
    numbers = np.full(len(kept), -1, np.int32)
    numbers[kept] = np.arange(np.count_nonzero(kept), dtype=np.int32)
    pointers, columns, values = renumbered(*_parts(matrix), numbers)
    return sp.csr_array((values, columns, pointers), shape=(matrix.shape[0], int(kept.sum())))


def row_squares(pointers: NDArray[Any], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum the squares of every sparse row, (n_rows,)."""
    n_rows = len(pointers) - 1
    rows = np.repeat(np.arange(n_rows), np.diff(pointers))
    return np.asarray(np.bincount(rows, values**2, minlength=n_rows), np.float64)


def _squares(matrix: sp.csr_array) -> NDArray[np.float64]:
    return row_squares(matrix.indptr, matrix.data)
