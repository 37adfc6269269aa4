"""The hot loops, and nothing else: Numba for the CPU, numba-cuda and CUDA C for the GPU."""
