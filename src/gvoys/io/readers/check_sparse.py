"""Whether a SciPy matrix is what its format says: SciPy's compiled code reads wherever indices lead."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import GraphError


def check_sparse(matrix: Any) -> None:
    """Check that the arrays of a two-dimensional sparse matrix fit each other."""
    kind = matrix.format
    if kind in ("csr", "csc", "bsr"):
        _check_compressed(matrix)
    elif kind == "coo":
        _check_data(matrix, 1)
        for name, numbers, length in zip(("row", "col"), (matrix.row, matrix.col), matrix.shape, strict=True):
            _check_numbers(name, numbers, length)
            _check_count(name, len(numbers), len(matrix.data))
    elif kind == "dia":
        _check_flat("offsets", matrix.offsets)
        _check_data(matrix, 2)
        _check_count("offsets", len(matrix.offsets), len(matrix.data))
    elif kind == "lil":
        _check_lists(matrix)


def _check_compressed(matrix: Any) -> None:
    n_rows, n_columns = matrix.shape if matrix.format != "csc" else matrix.shape[::-1]
    if matrix.format == "bsr":
        height, width = _block(matrix)
        n_rows, n_columns = n_rows // height, n_columns // width
    else:
        _check_data(matrix, 1)
    indptr, indices = matrix.indptr, matrix.indices
    _check_flat("indptr", indptr)
    _check_flat("indices", indices)
    _check_count("indptr", len(indptr), n_rows + 1)
    _check_count("indices", len(indices), len(matrix.data))
    if indptr[0] != 0 or indptr[-1] > len(indices):
        raise GraphError(f"its indptr goes from {indptr[0]} to {indptr[-1]}, and there are {len(indices)} entries")
    falls = indptr[1:] < indptr[:-1]
    if falls.any():
        row = int(np.argmax(falls))
        raise GraphError(f"its indptr falls from {indptr[row]} to {indptr[row + 1]}; it must never fall")
    _check_numbers("indices", indices, n_columns)


def _block(matrix: Any) -> tuple[int, int]:
    shape = np.shape(matrix.data)
    if len(shape) != 3 or 0 in shape[1:] or matrix.shape[0] % shape[1] or matrix.shape[1] % shape[2]:
        raise GraphError(f"its data has the shape {shape}, which are no blocks of a matrix of shape {matrix.shape}")
    return shape[1], shape[2]


def _check_lists(matrix: Any) -> None:
    _check_count("rows", len(matrix.rows), matrix.shape[0])
    _check_count("data", len(matrix.data), matrix.shape[0])
    for row, (columns, values) in enumerate(zip(matrix.rows, matrix.data, strict=True)):
        _check_count(f"row {row}", len(columns), len(values))


def _check_data(matrix: Any, ndim: int) -> None:
    if np.ndim(matrix.data) != ndim:
        raise GraphError(f"its data has the shape {np.shape(matrix.data)}, and should have {ndim} dimension(s)")


def _check_flat(name: str, values: Any) -> None:
    if not isinstance(values, np.ndarray) or values.ndim != 1 or values.dtype.kind not in "iu":
        raise GraphError(f"its {name} must be a flat array of integers")


def _check_count(name: str, found: int, wanted: int) -> None:
    if found != wanted:
        raise GraphError(f"its {name} has {found} items and should have {wanted}")


def _check_numbers(name: str, numbers: NDArray[Any], length: int) -> None:
    _check_flat(name, numbers)
    for number in (numbers.min(), numbers.max()) if len(numbers) else ():
        if not 0 <= number < length:
            raise GraphError(f"its {name} has the number {number}, which is not among 0 to {length - 1}")
