"""Profiles: what is known of graphs once they were walked, and the one way from there to kernels and features.

A profile has a block for every Weisfeiler–Lehman iteration and walk length. Every graph was divided by a power of two
of its own while walking, so that a block of length i is to be multiplied by 2^(i k); that and the root of mu are put
on both sides when a Gram matrix is formed, in double precision.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import ParameterError
from gvoys.series import Series


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
            norms = np.outer(_inverse_root(self.diagonal(mu)), _inverse_root(right.diagonal(mu)))
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

    def _block_gram(self, place: tuple[int, int], other: Any) -> NDArray[np.float64]:
        left_block = self.block(*place)
        return np.asarray(left_block @ (left_block if other is self else other.block(*place)).T)

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
    """1 / sqrt(K(G, G)), and 0 for graphs without walks."""
    positive = diagonal > 0
    return np.where(positive, 1.0 / np.sqrt(np.where(positive, diagonal, 1.0)), 0.0)
