"""Products of sparse rows, which a GPU multiplies as dense matrices: most of the numbers are zeros, and it has time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys._compiled.cuda.device import cupy_module, empty_on_device

MOST_NUMBERS = 2**28  # in a dense matrix


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
    most = max(MOST_NUMBERS // max(n_left, n_right, 1), 1)
    for rows, others in zip(left, right or left, strict=True):
        sides = [_on_device(matrix, xp, sparse) for matrix in ([rows] if right is None else [rows, others])]
        n_columns = rows.shape[1]
        for first in range(0, n_columns, most):
            parts = sides if n_columns <= most else [side[:, first : first + most] for side in sides]
            dense = [part.toarray() for part in parts]
            total += dense[0] @ dense[-1].T
    return np.asarray(total.get() if hasattr(total, "get") else total)


def _on_device(matrix: Any, xp: Any, sparse: Any) -> Any:
    parts = (xp.asarray(matrix.data), xp.asarray(matrix.indices), xp.asarray(matrix.indptr))
    return sparse.csr_matrix(parts, shape=matrix.shape)


def symmetric_product(X: Any) -> Any:
    """X X' in single precision, never TF32: the lower half, which takes half the time, and its mirror image."""
    cupy = cupy_module()
    assert cupy is not None
    from cupy import cublas

    K = empty_on_device((len(X), len(X)), np.float32)
    if K.size:
        cublas.syrk("N", X, out=K, lower=True)
    lower = cupy.tril(K)
    return lower + cupy.tril(lower, -1).T
