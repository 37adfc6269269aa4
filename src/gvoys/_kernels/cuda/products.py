"""Products of matrices on the GPU, by cuBLAS through CuPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from gvoys._kernels.cuda.device import cupy_module, empty_on_device


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
