"""Profiles of graphs that were walked, and the one way from there to kernels and features.

A profile has a block for every Weisfeiler–Lehman iteration and walk length. Each graph was divided by a power of two
2^k while walking, so that a block of length i is multiplied by 2^(i k) sqrt(mu_i) when a Gram matrix is formed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from itertools import pairwise, product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from gvoys._compiled.cpu.sketch_rows import WIDTH
from gvoys.errors import ParameterError
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.spectrum import largest_per_graph
from gvoys.series import Series

_NORMAL_QUANTILE = 1.959963984540054  # at 97.5 %
_UNIT = float(np.finfo(np.float32).eps) / 2.0  # the most that rounding to float32 changes a number, relative
_DOUBLE_UNIT = float(np.finfo(np.float64).eps) / 2.0
_PER_STEP, _PER_SUM = 8, 64  # roundings of a node's state beside its neighbours' sum, and of the sum over nodes


class Comparable(ABC):
    """Some graphs, in a form in which their kernel with others can be computed."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def take(self, graphs: Any) -> Any:
        """The profiles of some of the graphs."""

    @abstractmethod
    def joined(self, others: list[Any]) -> Any:
        """These graphs and others, one after the other."""

    def gram(self, mu: Any, other: Comparable | None = None) -> NDArray[np.float64]:
        """The kernel between these graphs and others."""
        return self.compare(mu, other, error=False)[0]

    def standard_error(self, mu: Any, other: Comparable | None = None, normalize: bool = False) -> NDArray[np.float64]:
        """The standard error of `gram`."""
        return self.compare(mu, other, normalize)[1]

    def compare(
        self, mu: Any, other: Comparable | None = None, normalize: bool = False, error: bool = True
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Gram matrix and standard error at once, which share most of the work."""
        right = self if other is None else other
        K, spread = self._products(mu, right, normalize, error)
        check_finite(K)
        if normalize:
            norms = np.outer(*(_inverse_root(side.diagonal(mu)) for side in (self, right)))
            K = K * norms
            if spread.any():  # errors of exact methods are zeros that are never touched
                spread = spread * norms
            if right is self:  # a graph's cosine with itself is one, whatever was drawn
                rows = np.arange(len(K), like=K)
                K[rows, rows], spread[rows, rows] = self.diagonal(mu) > 0, 0.0
        return K, spread

    @abstractmethod
    def _products(
        self, mu: Any, right: Any, cosine: bool, error: bool
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Gram matrix and standard error before normalisation; `cosine` asks for the error of the cosine."""

    @abstractmethod
    def diagonal(self, mu: Any) -> NDArray[np.float64]:
        """K(G, G) of every graph."""


class Profiles(Comparable):
    """Profiles of some graphs, dense or sparse."""

    def __init__(self, exponents: NDArray[np.int64], n_iterations: int, n_lengths: int) -> None:
        self.exponents = exponents
        self.n_iterations = n_iterations
        self.n_lengths = n_lengths
        self._kept: dict[str, tuple[bytes, Any]] = {}  # what was made, for the last mu or whatever it is

    def __len__(self) -> int:
        return len(self.exponents)

    def iterations(self, count: int) -> Any:
        """The first Weisfeiler–Lehman iterations alone."""
        raise NotImplementedError

    @abstractmethod
    def block(self, iteration: int, length: int) -> Any:
        """The profiles of one iteration and length: their products are K_i."""

    def grams(self, other: Any = None) -> NDArray[np.float64]:
        """Gram matrices of every block alone."""
        return np.array([K for _, K in self.each_gram(other)])

    def each_gram(self, other: Any = None) -> Iterator[tuple[tuple[int, int], NDArray[np.float64]]]:
        """Gram matrices of every block alone, one after the other."""
        for key in product(range(self.n_iterations), range(self.n_lengths)):
            yield key, self._block_gram(key, self if other is None else other)

    def _block_gram(self, key: tuple[int, int], other: Any) -> NDArray[np.float64]:
        left_block = self.block(*key)
        return np.asarray(left_block @ (left_block if other is self else other.block(*key)).T)

    @abstractmethod
    def features(self, mu: Any) -> Any:
        """One row per graph, whose products are the kernel."""

    def diagonal(self, mu: Any) -> NDArray[np.float64]:
        return self._keep("diagonal", mu, self._diagonal)

    @abstractmethod
    def _diagonal(self, roots: NDArray[np.float64]) -> NDArray[np.float64]: ...

    def diagonals(self) -> NDArray[np.float64]:
        """K(G, G) by every block alone."""
        if "diagonals" not in self._kept:  # learners ask again and again: for traces, cosines and variances
            self._kept["diagonals"] = (b"", self._diagonals())
        return np.asarray(self._kept["diagonals"][1])

    @abstractmethod
    def _diagonals(self) -> NDArray[np.float64]: ...

    def roots(self, mu: Any) -> NDArray[np.float64]:
        """Return the factors that turn blocks into features: sqrt(mu_i) 2^(i k)."""
        return roots_of(mu, self.exponents, self.n_iterations, self.n_lengths)

    def _keep(self, name: str, mu: Any, make: Any) -> Any:
        """Return what `make` makes of the roots of mu, kept until another mu is asked for."""
        roots = self.roots(mu)
        key = roots.tobytes()
        if name not in self._kept or self._kept[name][0] != key:
            self._kept[name] = (key, make(roots))
        return self._kept[name][1]

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_kept": {}}


def roots_of(mu: Any, exponents: NDArray[np.int64], n_iterations: int, n_lengths: int) -> NDArray[np.float64]:
    """The factors sqrt(mu_i) 2^(i k) of `Profiles.roots`; a function of each graph's own exponent k."""
    exponents_present, inverse = np.unique(exponents, return_inverse=True)
    tables = np.empty((len(exponents_present), n_lengths, n_iterations))
    with np.errstate(over="ignore"):
        for table, k in zip(tables, exponents_present.tolist(), strict=True):
            if isinstance(mu, Series):  # the series multiplies itself, where a tiny mu meets a huge power
                table[:] = np.sqrt(mu.coefficients_by_round(n_iterations, n_lengths - 1, 2.0**k)).T
            else:
                table[:] = np.ldexp(np.sqrt(np.atleast_2d(mu)), k * np.arange(n_lengths)).T
    check_finite(tables)
    return tables[inverse.ravel()]


def check_finite(values: NDArray[Any]) -> None:
    """Check that no number left the range of floating point."""
    if not np.isfinite(values).all():
        raise ParameterError(
            "the kernel exceeds the range of floating point numbers on these graphs; lower the decay or max_length"
        )


def _inverse_root(diagonal: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 1 / sqrt(K(G, G)), and 0 for graphs without walks."""
    positive = diagonal > 0
    return np.where(positive, 1.0 / np.sqrt(np.where(positive, diagonal, 1.0)), 0.0)


Columns = Callable[[int, int], NDArray[np.float64]]


def widened(standard_error: NDArray[np.float64], n_groups: int) -> NDArray[np.float64]:
    """Widen a standard error from few groups so that +-1.96 of it is a 95 % interval (Student's t)."""
    return standard_error * (float(stdtrit(n_groups - 1, 0.975)) / _NORMAL_QUANTILE)


def rounding(batch: GraphBatch, max_length: int) -> NDArray[np.float64]:
    """Bound the relative rounding error of each graph's sketch in float32, (n_graphs,)."""
    # m roundings of at most u add up to about sqrt(m) u, as errors of independent signs do (Higham and Mary, 2019); the
    # largest seen was 1.4 sqrt(m) u, on cliques of 200 nodes, whose sums are of equal terms
    degrees = largest_per_graph(batch, np.diff(batch.indptr))
    return _UNIT * np.sqrt(max_length * (degrees + _PER_STEP) + _PER_SUM)


def counted_rounding(of_sketch: NDArray[np.float64], n_sequences: NDArray[np.int64]) -> NDArray[np.float64]:
    """Bound the relative rounding error of products of counts in float64, from that of a sketch, (n_graphs,)."""
    # equal terms are often rounded in the same direction: the largest error seen was three times this for both graphs
    # together, on an ego network of 2874 sequences
    return _DOUBLE_UNIT * np.sqrt((of_sketch / _UNIT) ** 2 + n_sequences)


def rounding_floor(
    left: NDArray[np.float64], right: NDArray[np.float64], left_diagonal: Any, right_diagonal: Any
) -> NDArray[np.float64]:
    """Return the standard error of K that the `rounding` of both graphs leaves, by Cauchy and Schwarz."""
    return (left[:, None] + right[None, :]) * np.sqrt(np.outer(left_diagonal, right_diagonal))


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
        ends = [*range(WIDTH, width, WIDTH), width]
        K = _group_gram(ours, theirs, 0, ends[0])
        for begin, end in pairwise(ends):
            K += _group_gram(ours, theirs, begin, end)
        K = K + exact[0]
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


def _group_gram(ours: Columns, theirs: Columns | None, begin: int, end: int) -> NDArray[np.float64]:
    left = ours(begin, end)
    return left @ (left if theirs is None else theirs(begin, end)).T


def _relative_diagonals(columns: Columns, n_groups: int, factor: float, exact: Any) -> NDArray[np.float64]:
    """Return the relative deviation of each group's K(G, G) from the mean, (n_groups, n); 0 without walks."""
    parts = (columns(group * WIDTH, (group + 1) * WIDTH) for group in range(n_groups))
    diagonals = np.stack([factor * np.einsum("nw,nw->n", part, part) for part in parts])
    mean = diagonals.mean(axis=0)
    whole = mean + exact
    return (diagonals - mean) / np.where(whole > 0, whole, 1.0)
