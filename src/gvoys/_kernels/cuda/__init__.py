"""The same profiles on an NVIDIA GPU, from the same graphs, with the same random bits.

Kernels are written for numba-cuda, whose simulator runs them on machines without a GPU; the one that most graphs go
through is in CUDA C too, see `small.py`.
"""

from gvoys._kernels.cuda.device import check_cuda, empty_on_host
from gvoys._kernels.cuda.moments import compute_moments
from gvoys._kernels.cuda.sketch import GpuSketch
from gvoys._kernels.cuda.voyagers import sample_both_sides, sample_one_side

__all__ = ["GpuSketch", "check_cuda", "compute_moments", "empty_on_host", "sample_both_sides", "sample_one_side"]
