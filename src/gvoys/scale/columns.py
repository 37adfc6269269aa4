"""Columns of a part, as arrays and as Arrow has them.

Sparse features are two columns of lists: `columns`, the numbers of a graph's columns, sorted, and `values`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gvoys.errors import ParameterError
from gvoys.io.arrow import pyarrow

# numbers of sorted columns differ by little, and few values are different: half the space, without a codec
SPARSE_ENCODING = {
    "column_encoding": {"columns.list.element": "DELTA_BINARY_PACKED"},
    "use_dictionary": ["values.list.element"],
}
_MOST = 2**31 - 1  # numbers in all lists of a column


def stack_rows(parts: list[Any]) -> Any:
    """Return the rows of several arrays, all of them dense or all sparse, as one array."""
    if sp.issparse(parts[0]):
        return sp.csr_array(sp.vstack(parts, format="csr"))
    return np.concatenate(parts)


def as_arrow(name: str, array: Any) -> dict[str, Any]:
    """Return the columns of Arrow that an array with a row per graph becomes: one, or `columns` and `values`."""
    arrow = pyarrow()
    if sp.issparse(array):
        return {"columns": _lists(array, array.indices.astype(np.int32)), "values": _lists(array, array.data)}
    if array.ndim == 1 and array.dtype.kind in "OU":
        return {name: arrow.array([*map(str, array)], arrow.string())}
    if array.ndim == 1:
        return {name: arrow.array(array)}
    flat = arrow.array(np.ascontiguousarray(array).ravel())
    kind = arrow.list_(arrow.field("item", flat.type, nullable=False), array.shape[1])
    return {name: arrow.FixedSizeListArray.from_arrays(flat, type=kind)}


def _lists(matrix: Any, values: NDArray[Any]) -> Any:
    """A list for each row of a sparse matrix."""
    if matrix.nnz > _MOST:
        raise ParameterError(f"a part would have {matrix.nnz:,} numbers, too many for Parquet; lower rows_per_part")
    arrow = pyarrow()
    flat = arrow.array(values)
    kind = arrow.list_(arrow.field("item", flat.type, nullable=False))
    return arrow.ListArray.from_arrays(arrow.array(matrix.indptr.astype(np.int32)), flat, type=kind)


def dense_features(table: Any) -> NDArray[Any]:
    """Return the features of a table with the column `features`."""
    column = table.column("features").combine_chunks()
    flat = column.flatten().to_numpy(zero_copy_only=False)
    return flat.reshape(len(column), -1) if len(column) else flat.reshape(0, column.type.list_size)


def sparse_features(table: Any, n_columns: int) -> sp.csr_array:
    """Return the sparse features of a table with the columns `columns` and `values`."""
    columns, values = (table.column(name).combine_chunks() for name in ("columns", "values"))
    pointers = np.concatenate([[0], np.cumsum(columns.value_lengths().to_numpy(zero_copy_only=False))])
    arrays = (array.flatten().to_numpy(zero_copy_only=False) for array in (values, columns))
    features = sp.csr_array((*arrays, pointers), shape=(len(columns), n_columns))
    features.check_format(full_check=True)  # a column out of range, of a damaged file, is not to be followed
    return features
