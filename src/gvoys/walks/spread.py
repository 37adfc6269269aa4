"""Gram matrices of sketches, group by group: the mean is the kernel, the spread its error bar."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from gvoys._compiled.cpu.sketch_rows import WIDTH
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.degrees import largest_per_graph

Columns = Callable[[int, int], NDArray[np.float64]]

_NORMAL = 1.959963984540054  # the 97.5 % quantile
_UNIT = float(np.finfo(np.float32).eps) / 2.0  # the most that rounding to float32 changes a number, relative
_DOUBLE_UNIT = float(np.finfo(np.float64).eps) / 2.0
_PER_STEP, _PER_SUM = 8, 64  # roundings of a node's state beside its neighbours' sum, and of the sum over nodes


def widened(standard_error: NDArray[np.float64], n_groups: int) -> NDArray[np.float64]:
    """Widen a standard error from few groups so that +-1.96 of it is a 95 % interval (Student's t)."""
    return standard_error * (float(stdtrit(n_groups - 1, 0.975)) / _NORMAL)


def rounding(batch: GraphBatch, max_length: int) -> NDArray[np.float64]:
    """Bound the relative rounding error of each graph's sketch in float32, (n_graphs,).

    A number of the profile goes through m = max_length * (largest degree + 8) + 64 roundings one after the other:
    sums over neighbours, weights and maps, and a sum over 64 nodes. Each is at most u = eps / 2; together they are
    about sqrt(m) u, as for errors of independent signs (Higham and Mary, 2019). At worst they are m u, which would be
    far too wide a bar: the largest seen was 1.4 sqrt(m) u, on cliques of 200 nodes, whose sums are of equal terms.
    """
    degrees = largest_per_graph(batch, np.diff(batch.indptr))
    return _UNIT * np.sqrt(max_length * (degrees + _PER_STEP) + _PER_SUM)


def counted_rounding(of_sketch: NDArray[np.float64], n_sequences: NDArray[np.int64]) -> NDArray[np.float64]:
    """Bound the relative rounding error of products of counts in float64, (n_graphs,).

    Counts go through as many roundings as a sketch of the same graphs, whose `rounding` in float32 is `of_sketch`, and
    their products are added up, sequence after sequence. Many are equal, and equal terms are often rounded in the same
    direction: the largest seen was three times this for both graphs together, on an ego network of 2874 sequences.
    """
    return _DOUBLE_UNIT * np.sqrt((of_sketch / _UNIT) ** 2 + n_sequences)


def rounding_floor(
    left: NDArray[np.float64], right: NDArray[np.float64], own_left: NDArray[np.float64], own_right: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The standard error of K that `rounding` of both graphs leaves, beside sqrt(K(G, G) K(H, H)), (n_left, n_right).

    By Cauchy and Schwarz, for all Weisfeiler–Lehman iterations and lengths together. Weights of both signs
    may cancel, and lose more.
    """
    return (left[:, None] + right[None, :]) * np.sqrt(np.outer(own_left, own_right))


def gram_with_error(
    ours: Columns,
    theirs: Columns | None,
    width: int,
    cosine: bool = False,
    error: bool = True,
    exact: tuple[Any, Any, Any] = (0.0, 0.0, 0.0),
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Gram matrix of features and its standard error."""
    n_groups = width // WIDTH
    if n_groups < 2 or not error:
        K = _sum_of_groups(ours, theirs, width) + exact[0]
        return K, np.zeros(K.shape, like=K) + np.nan  # CuPy has no `full` that is asked for in this way
    share = n_groups * WIDTH / width
    # a copy, since BLAS rounds the product of an array with itself in another way than that of two
    mine = _relative_diagonals(ours, n_groups, n_groups / share, exact[1]) if cosine else None
    other = mine if mine is None else mine.copy()
    if mine is not None and theirs is not None:
        other = _relative_diagonals(theirs, n_groups, n_groups / share, exact[2])
    none = ours(0, 0)
    shape = (len(none), len((theirs or ours)(0, 0)))
    total, squares = np.zeros(shape, like=none), np.zeros(shape, like=none)
    crossed = np.zeros(shape if cosine else 0, like=none)  # with the groups' own diagonals
    for group in range(n_groups):
        gram = _group_gram(ours, theirs, group * WIDTH, (group + 1) * WIDTH)
        total += gram
        gram *= n_groups / share  # K by this group alone
        squares += gram**2
        if mine is not None and other is not None:
            crossed += gram * (mine[group][:, None] + other[group])
    spread = squares - n_groups * (total / share) ** 2
    if mine is not None and other is not None:
        mean = total / share + exact[0]
        both = (mine**2).sum(axis=0)[:, None] + (other**2).sum(axis=0) + 2.0 * (mine.T @ other)
        spread += 0.25 * mean**2 * both - mean * crossed
    if share < 1:  # a last group that is narrower counts towards the value, not towards its spread
        total += _group_gram(ours, theirs, n_groups * WIDTH, width)
    total += exact[0]
    return total, widened(np.sqrt(np.maximum(spread, 0.0) / (n_groups * (n_groups - 1))), n_groups)


def _sum_of_groups(ours: Columns, theirs: Columns | None, width: int) -> NDArray[np.float64]:
    ends = [*range(WIDTH, width, WIDTH), width]
    K = _group_gram(ours, theirs, 0, ends[0])
    for begin, end in pairwise(ends):
        K += _group_gram(ours, theirs, begin, end)
    return K


def _group_gram(ours: Columns, theirs: Columns | None, begin: int, end: int) -> NDArray[np.float64]:
    left = ours(begin, end)
    return left @ (left if theirs is None else theirs(begin, end)).T


def _relative_diagonals(columns: Columns, n_groups: int, factor: float, exact: Any) -> NDArray[np.float64]:
    """Return the relative deviation of each group's K(G, G) from the mean, and that mean, (n_groups, n).

    0 for graphs without walks. The factor makes a group's share the whole sketch.
    """
    parts = (columns(group * WIDTH, (group + 1) * WIDTH) for group in range(n_groups))
    diagonals = np.stack([factor * np.einsum("nw,nw->n", part, part) for part in parts])
    mean = diagonals.mean(axis=0)
    whole = mean + exact
    return (diagonals - mean) / np.where(whole > 0, whole, 1.0)
