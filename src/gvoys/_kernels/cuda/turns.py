"""The random maps of labels as the kernels for small graphs read them: 16 bits for each lane, see `lanes.cu`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from gvoys._jit import kernel


class Turns(NamedTuple):
    """Maps of the nodes and entries."""

    codes: NDArray[np.int32]  # (n_nodes,)
    entry_codes: NDArray[np.int32]  # (n_entries,), or one element where edges have no labels
    table: NDArray[np.uint16]  # (n_groups, n_steps, n_codes, 32)


def pack_turns(signs: NDArray[np.uint64], shifts: NDArray[np.uint8]) -> NDArray[np.uint16]:
    """Pack what each lane reads of 128 sign bits, (n_groups, n_steps, n_codes, 2), and a shift."""
    table = np.empty((*shifts.shape, 32), np.uint16)
    _pack(signs.reshape(-1, 2), shifts.ravel(), table.reshape(-1, 32))
    return table


@kernel(parallel=True)
def _pack(signs, shifts, table):
    one, half, four = np.uint64(1), np.uint64(32), np.uint64(4)
    for index in prange(len(shifts)):
        low, high, shift = signs[np.int64(index), 0], signs[np.int64(index), 1], np.uint64(shifts[np.int64(index)])
        for lane in range(32):
            l = np.uint64(lane)  # noqa: E741
            first = (((low >> l) & one) << one) | ((low >> (l + half)) & one)
            second = (((high >> l) & one) << one) | ((high >> (l + half)) & one)
            offset = (four * (l + np.uint64(128) - shift)) & np.uint64(511)
            table[np.int64(index), lane] = np.uint16((((first << np.uint64(2)) | second) << np.uint64(12)) | offset)
