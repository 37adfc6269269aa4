"""Loops for the CPU, in Numba."""
