"""The same profiles on an NVIDIA GPU, from the same graphs, with the same random bits.

Kernels are written for numba-cuda, whose simulator runs them on machines without a GPU. The one that most graphs go
through, small graphs with node labels, has a twin in CUDA C (`small.cu`, by CuPy), which is used if CuPy is
installed: on an H200, NCI1 with 1024 components and walks up to length 8 takes 2.7 ms by numba-cuda, 1.0 ms by CUDA C.
"""

from gvoys.gpu.device import check_cuda, empty_on_host
from gvoys.gpu.moments import compute_moments
from gvoys.gpu.sketch import GpuSketch, sketch_on_device
from gvoys.gpu.voyagers import compute_voyagers, compute_walks

__all__ = [
    "GpuSketch",
    "check_cuda",
    "compute_moments",
    "compute_voyagers",
    "compute_walks",
    "empty_on_host",
    "sketch_on_device",
]
