"""Products of sparse rows, which a GPU multiplies as dense matrices: most of the numbers are zeros, and it has time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_ROOM = 2**28  # numbers in a dense matrix at most


def summed_products(
    left: list[Any], right: list[Any] | None, xp: Any = None, sparse: Any = None
) -> NDArray[np.float64]:
    """The sum of left @ right.T over blocks, csr_arrays; without `right`, of left @ left.T.

    `xp` and `sparse` are CuPy and its sparse matrices, or modules like them.
    """
    if xp is None:
        import cupy
        import cupyx.scipy.sparse

        xp, sparse = cupy, cupyx.scipy.sparse
    n_left, n_right = left[0].shape[0], (right or left)[0].shape[0]
    total = xp.zeros((n_left, n_right))
    most = max(_ROOM // max(n_left, n_right, 1), 1)
    for ours, theirs in zip(left, right or left, strict=True):
        sides = [_there(each, xp, sparse) for each in ([ours] if right is None else [ours, theirs])]
        n_columns = ours.shape[1]
        for first in range(0, n_columns, most):
            parts = sides if n_columns <= most else [each[:, first : first + most] for each in sides]
            dense = [each.toarray() for each in parts]
            total += dense[0] @ dense[-1].T
    return np.asarray(total.get() if hasattr(total, "get") else total)


def _there(matrix: Any, xp: Any, sparse: Any) -> Any:
    parts = (xp.asarray(matrix.data), xp.asarray(matrix.indices), xp.asarray(matrix.indptr))
    return sparse.csr_matrix(parts, shape=matrix.shape)
