"""The same profiles on an NVIDIA GPU, from the same graphs, with the same random bits.

Kernels are written for numba-cuda, whose simulator runs them on machines without a GPU; those that most graphs go
through are in CUDA C, and CuPy compiles them.
"""
