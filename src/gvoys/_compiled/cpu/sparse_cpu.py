"""Products of sparse rows, of which one in a thousand or so columns is shared by any two."""

from __future__ import annotations

import numpy as np
from numba import prange
from numpy.typing import NDArray

from gvoys._jit import kernel

_MIRRORED_ROWS = 128  # at once, while they are in the cache


@kernel(parallel=True)
def add_products(pointers, columns, values, begins, rows, others, lower, out):
    """Add to `out` the products of sparse rows (pointers, columns, values) with others, listed by column.

    `lower` leaves out products with later rows: of a matrix with itself, they are the same. A row of `out` stays in the
    cache while it is added to.
    """
    n_rows = len(pointers) - 1
    for k in prange(n_rows):
        turn = np.int64(k)
        # long and short rows of a triangle in turns, so that consecutive shares are equal
        i = turn // 2 if turn % 2 == 0 else n_rows - 1 - turn // 2
        last = i if lower else len(out[i])
        for entry in range(pointers[i], pointers[i + 1]):
            value = values[entry]
            column = columns[entry]
            for item in range(begins[column], begins[column + 1]):
                j = rows[item]
                if j > last:
                    break
                out[i, j] += value * others[item]


@kernel()
def renumbered(pointers, columns, values, numbers):
    """Sparse rows of the columns that have a number, under that number; -1 is for the others."""
    new_pointers = np.zeros(len(pointers), np.int32)
    count = 0
    for entry in range(len(columns)):
        count += numbers[columns[entry]] >= 0
    new_columns, new_values = np.empty(count, np.int32), np.empty(count)
    count = 0
    for row in range(len(pointers) - 1):
        for entry in range(pointers[row], pointers[row + 1]):
            number = numbers[columns[entry]]
            if number >= 0:
                new_columns[count], new_values[count] = number, values[entry]
                count += 1
        new_pointers[row + 1] = count
    return new_pointers, new_columns, new_values


def mirror(out: NDArray[np.float64]) -> None:
    """Copy what is below the diagonal to above it."""
    for first in range(0, len(out), _MIRRORED_ROWS):
        rows = slice(first, first + _MIRRORED_ROWS)
        out[:first, rows] = out[rows, :first].T
        block = out[rows, rows]
        below = np.tril_indices(len(block), -1)
        block.T[below] = block[below]
