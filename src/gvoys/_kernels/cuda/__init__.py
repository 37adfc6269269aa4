"""The same profiles on an NVIDIA GPU, from the same graphs, with the same random bits.

Kernels are written for numba-cuda, whose simulator runs them on machines without a GPU; those that most graphs go
through are in CUDA C, see `small.py`.
"""

from gvoys._kernels.cuda.device import all_finite, check_cuda, empty_on_device, empty_on_host, has_room, to_host
from gvoys._kernels.cuda.moments import compute_moments
from gvoys._kernels.cuda.products import symmetric_product
from gvoys._kernels.cuda.sketch import GpuSketch
from gvoys._kernels.cuda.sparse import summed_products
from gvoys._kernels.cuda.voyagers import sample_both_sides, sample_one_side

__all__ = [
    "GpuSketch",
    "all_finite",
    "check_cuda",
    "compute_moments",
    "empty_on_device",
    "empty_on_host",
    "has_room",
    "sample_both_sides",
    "sample_one_side",
    "summed_products",
    "symmetric_product",
    "to_host",
]
