"""Gram matrices of sketches, group by group: the mean is the kernel, the spread its error bar."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.spectrum import largest_per_graph
from gvoys.walks.sketch import WIDTH

__all__ = ["gram_with_error", "rounding", "rounding_floor", "widened"]

_NORMAL = 1.959963984540054  # the 97.5 % quantile
_UNIT = float(np.finfo(np.float32).eps) / 2.0  # the most that rounding to float32 changes a number, relative
_PER_STEP, _PER_SUM = 8, 64  # roundings of a node's state beside its neighbours' sum, and of the sum over nodes


def widened(standard_error: NDArray[np.float64], n_groups: int) -> NDArray[np.float64]:
    """Widen a standard error from few groups so that +-1.96 of it is a 95 % interval (Student's t).

    Parameters
    ----------
    standard_error : ndarray
        Standard errors.
    n_groups : int
        Number of groups they come from.

    Returns
    -------
    ndarray
        The wider standard errors.
    """
    return standard_error * (float(stdtrit(n_groups - 1, 0.975)) / _NORMAL)


def rounding(batch: GraphBatch, max_length: int) -> NDArray[np.float64]:
    """How far float32 may take each graph's sketch from exact arithmetic, relative, (n_graphs,).

    A number of the profile goes through m = max_length * (largest degree + 8) + 64 roundings one after the other:
    sums over neighbours, weights and maps, and a sum over 64 nodes. Each is at most u = eps / 2; together they are
    about sqrt(m) u, as for errors of independent signs (Higham and Mary, 2019). At worst they are m u, which would be
    far too wide a bar: the largest seen was 1.4 sqrt(m) u, on cliques of 200 nodes, whose sums are of equal terms.
    """
    degrees = largest_per_graph(batch, np.diff(batch.indptr))
    return _UNIT * np.sqrt(max_length * (degrees + _PER_STEP) + _PER_SUM)


def rounding_floor(
    left: NDArray[np.float64], right: NDArray[np.float64], own_left: NDArray[np.float64], own_right: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The standard error of K that `rounding` of both graphs leaves, beside sqrt(K(G, G) K(H, H)), (n_left, n_right).

    By Cauchy and Schwarz, for all Weisfeiler–Lehman iterations and lengths together. Weights of both signs
    may cancel, and lose more.
    """
    return (left[:, None] + right[None, :]) * np.sqrt(np.outer(own_left, own_right))


def gram_with_error(
    left: NDArray[Any], right: NDArray[Any], n_components: int, cosine: bool = False
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Gram matrix of features and its standard error.

    Parameters
    ----------
    left : ndarray of shape (n_left, n_lengths, n_iterations * n_components)
        Features.
    right : ndarray of shape (n_right, n_lengths, n_iterations * n_components)
        Features to compare with.
    n_components : int
        Components of one length and iteration.
    cosine : bool, default=False
        Whether the error is that of the cosine.

    Returns
    -------
    K : ndarray of shape (n_left, n_right)
        The Gram matrix.
    error : ndarray of shape (n_left, n_right)
        Its standard error; nan with under two groups.

    Notes
    -----
    With `cosine` the error is that of N = K(G, H) / sqrt(K(G, G) K(H, H)) times that root, by the delta method: a
    group's share of it is V_g - N / 2 (D_g(G) / D(G) + D_g(H) / D(H)), with V_g and D_g its values of K and of the
    diagonal. If the diagonal goes up and down with K, as for graphs that are alike, hardly any of it is left.

    Memory: four matrices of (n_left, n_right), five with `cosine`.
    """
    shape = (len(left), len(right))
    total, squares = np.zeros(shape), np.zeros(shape)
    crossed = np.zeros(shape if cosine else 0)  # with the groups' own diagonals
    n_groups = n_components // WIDTH
    share = n_groups * WIDTH / n_components
    ours = _relative_diagonals(left, n_components) if cosine else None
    theirs = ours if right is left or not cosine else _relative_diagonals(right, n_components)
    for group in range(n_groups):
        gram = _group_gram(left, right, n_components, group * WIDTH, (group + 1) * WIDTH)
        total += gram
        gram *= n_groups / share  # K by this group alone
        squares += gram**2
        if ours is not None and theirs is not None:
            crossed += gram * (ours[group][:, None] + theirs[group])
    mean = total / share if n_groups else total
    error = np.full(shape, np.nan)
    if n_groups > 1:
        spread = squares - n_groups * mean**2
        if ours is not None and theirs is not None:
            both = (ours**2).sum(axis=0)[:, None] + (theirs**2).sum(axis=0) + 2.0 * (ours.T @ theirs)
            spread = squares - mean * crossed + 0.25 * mean**2 * both
        error = widened(np.sqrt(np.maximum(spread, 0.0) / (n_groups * (n_groups - 1))), n_groups)
    if share < 1:  # a last group that is narrower counts towards the value, not towards its spread
        total += _group_gram(left, right, n_components, n_groups * WIDTH, n_components)
    return total, error


def _group_gram(left: NDArray[Any], right: NDArray[Any], period: int, begin: int, end: int) -> NDArray[np.float64]:
    ours = _columns(left, period, begin, end)
    return ours @ (ours if right is left else _columns(right, period, begin, end)).T


def _columns(features: NDArray[Any], period: int, begin: int, end: int) -> NDArray[np.float64]:
    """Some components of every length and iteration, (n, n_lengths * n_rounds * (end - begin))."""
    n, n_lengths, width = features.shape
    rounds = features.reshape(n, n_lengths, width // period, period)[..., begin:end]
    return rounds.reshape(n, n_lengths * (width // period) * (end - begin)).astype(np.float64)


def _relative_diagonals(features: NDArray[Any], n_components: int) -> NDArray[np.float64]:
    """K(G, G) by each whole group beside the mean of the groups, (n_groups, n); 0 for graphs without walks."""
    parts = (_columns(features, n_components, begin, begin + WIDTH) for begin in _begins(n_components))
    own = np.array([np.einsum("nw,nw->n", part, part) for part in parts]).reshape(-1, len(features))
    mean = own.mean(axis=0) if len(own) else np.zeros(len(features))
    return own / np.where(mean > 0, mean, 1.0)


def _begins(n_components: int) -> range:
    return range(0, n_components // WIDTH * WIDTH, WIDTH)
