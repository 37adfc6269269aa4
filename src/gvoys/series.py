"""The series mu of a walk kernel K = sum_i mu_i K_i: its coefficients, where it may be cut, and its modulation f.

`growth` below bounds how fast walks multiply: |K_i| <= const * growth^i, with growth = rho(G) * rho(H), the product
of the two spectral radii.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammainc

from gvoys.errors import DivergenceError, ModulationError, ParameterError

__all__ = ["Coefficients", "Exponential", "Geometric", "Series"]

_LONGEST = 1_000_000  # a series that needs more terms than this is as good as divergent
_LARGEST_EXPONENT = 650.0  # exp(709) is the largest that float64 holds; leave room for the endpoints
_ROUNDING = 1e-10  # what the recursion for f may lose, relative to its largest term
_OTHERS = "use moments, sequences or sketch instead, which only need mu >= 0"


class Series(ABC):
    """A power series with coefficients mu_i >= 0, applied when profiles meet."""

    @property
    @abstractmethod
    def radius(self) -> float:
        """Convergence radius: the whole series converges where growth < radius."""

    @property
    def unit(self) -> float:
        """The growth below which the whole series is of order mu_0."""
        return self.radius

    @abstractmethod
    def coefficients(self, max_length: int, scale: float = 1.0) -> NDArray[np.float64]:
        """mu_i * scale^(2 i) for i = 0 … max_length, (max_length + 1,).

        `scale` undoes the division of the adjacency matrices by `scale` while walking, without overflow.
        """

    @abstractmethod
    def evaluate(self, x: Any) -> Any:
        """sum_i mu_i x^i, elementwise."""

    @abstractmethod
    def relative_tail(self, max_length: int, growth: float) -> float:
        """The share of sum_i mu_i growth^i that lies beyond `max_length`."""

    @abstractmethod
    def modulation(self, max_length: int) -> NDArray[np.float64]:
        """f_0 … f_max_length with sum_p f_p f_(k-p) = mu_k (f >= 0, or it is refused)."""

    @abstractmethod
    def modulation_length(self, growth: float, rtol: float = 1e-9) -> int:
        """A length after which the tail of sum_k |f_k| growth^k is at most `rtol` of the whole, as short as is known."""

    def tail_bound(self, max_length: int, growth: float) -> float:
        """sum_{i > max_length} mu_i growth^i."""
        self.check_convergence(growth)
        return self.relative_tail(max_length, growth) * float(self.evaluate(growth))

    def truncation_length(self, growth: float, rtol: float = 1e-12) -> int:
        """The smallest length after which the tail is at most `rtol` of the whole series."""
        self.check_convergence(growth)
        return _first_length(lambda length: self.relative_tail(length, growth) <= rtol, self, growth)

    def truncated(self, max_length: int) -> Coefficients:
        """The series cut after `max_length`, which may have any decay."""
        return Coefficients(self.coefficients(_check_length(max_length)).tolist())

    def resolved(self, max_degree: float) -> Series:
        """Replace ``decay="auto"`` by 1 / max_degree^2; a series with a number stays as it is."""
        return self

    def check_convergence(self, growth: float) -> None:
        """Refuse a whole series that diverges at `growth`."""
        if growth >= self.radius:
            raise DivergenceError(
                f"the whole series {self} diverges: decay * rho1 * rho2 = {growth / self.radius:.6g} is not below 1; "
                f"the largest decay that would do is just under {1 / growth:.6g}, or cut the series at a max_length"
            )


@dataclass(frozen=True)
class _Decaying(Series):
    decay: float | str

    def __post_init__(self) -> None:
        if self.decay == "auto":
            return
        number = isinstance(self.decay, (int, float, np.number)) and not isinstance(self.decay, bool)
        if not number or not 0 <= float(self.decay) < math.inf:
            raise ParameterError(f'decay must be "auto" or a finite number of at least 0, not {self.decay!r}')

    @property
    def rate(self) -> float:
        """The decay as a number; "auto" has none before it meets graphs."""
        if self.decay == "auto":
            raise ParameterError('decay="auto" has no value before fitting; call series.resolved(max_degree) first')
        return float(self.decay)

    def resolved(self, max_degree: float) -> Series:
        if self.decay != "auto":
            return self
        # walks cannot multiply in edgeless graphs, so that any decay would do
        return replace(self, decay=1.0 / max_degree**2 if max_degree > 0 else 1.0)


@dataclass(frozen=True)
class Geometric(_Decaying):
    """mu_i = decay^i.

    >>> Geometric(0.5).coefficients(3)
    array([1.   , 0.5  , 0.25 , 0.125])
    >>> Geometric(0.5).truncation_length(growth=1.0, rtol=1e-3)
    9
    """

    @property
    def radius(self) -> float:
        return 1.0 / self.rate if self.rate > 0 else math.inf

    def coefficients(self, max_length: int, scale: float = 1.0) -> NDArray[np.float64]:
        return (self.rate * scale**2) ** np.arange(_check_length(max_length) + 1.0)

    def evaluate(self, x: Any) -> Any:
        return 1.0 / (1.0 - self.rate * x)

    def relative_tail(self, max_length: int, growth: float) -> float:
        return float((self.rate * growth) ** (max_length + 1))

    def modulation(self, max_length: int) -> NDArray[np.float64]:
        """f_k = decay^k C(2k, k) / 4^k, the series of (1 - decay x)^(-1/2)."""
        k = np.arange(1.0, _check_length(max_length) + 1.0)
        return np.cumprod(np.concatenate([[1.0], self.rate * (1.0 - 0.5 / k)]))

    def modulation_length(self, growth: float, rtol: float = 1e-9) -> int:
        self.check_convergence(growth)
        q = self.rate * growth  # f_k growth^k <= q^k, and the whole of it is (1 - q)^(-1/2)
        return _first_length(lambda length: q ** (length + 1) / math.sqrt(1.0 - q) <= rtol, self, growth)


@dataclass(frozen=True)
class Exponential(_Decaying):
    """mu_i = decay^i / i!; converges for every decay.

    >>> Exponential(1.0).coefficients(3)
    array([1.        , 1.        , 0.5       , 0.16666667])
    """

    @property
    def radius(self) -> float:
        return math.inf

    @property
    def unit(self) -> float:
        return 1.0 / self.rate if self.rate > 0 else math.inf

    def check_convergence(self, growth: float) -> None:
        if self.rate * growth > _LARGEST_EXPONENT:
            raise DivergenceError(
                f"the whole series {self} may reach exp({self.rate * growth:.6g}), past the range of float64; "
                f"the largest decay that would do is {_LARGEST_EXPONENT / growth:.6g}, or cut the series at a max_length"
            )

    def coefficients(self, max_length: int, scale: float = 1.0) -> NDArray[np.float64]:
        ratios = self.rate * scale**2 / np.arange(1.0, _check_length(max_length) + 1.0)
        return np.cumprod(np.concatenate([[1.0], ratios]))

    def evaluate(self, x: Any) -> Any:
        return np.exp(self.rate * x)

    def relative_tail(self, max_length: int, growth: float) -> float:
        return float(gammainc(max_length + 1, self.rate * growth))

    def modulation(self, max_length: int) -> NDArray[np.float64]:
        """f_k = (decay / 2)^k / k!."""
        return Exponential(self.rate / 2).coefficients(max_length)

    def modulation_length(self, growth: float, rtol: float = 1e-9) -> int:
        return Exponential(self.rate / 2).truncation_length(growth, rtol)


@dataclass(frozen=True, init=False)
class Coefficients(Series):
    """Any finite series mu_0, mu_1, …, all of them at least 0.

    >>> Coefficients([1, 0, 0.5]).coefficients(3)
    array([1. , 0. , 0.5, 0. ])
    """

    mu: tuple[float, ...]

    def __init__(self, mu: Sequence[float] | NDArray[Any]) -> None:
        try:
            values = np.array(mu, dtype=np.float64)
        except (TypeError, ValueError):
            values = np.empty((0, 0))
        if values.ndim != 1 or values.size == 0:
            raise ParameterError(f"Coefficients takes a flat list of one number or more, not {mu!r}")
        bad = ~(np.isfinite(values) & (values >= 0))
        if bad.any():
            first = int(np.argmax(bad))
            raise ParameterError(
                f"mu_{first} = {values[first]:g}: every coefficient must be finite and at least 0, "
                "or the kernel is not positive semidefinite"
            )
        object.__setattr__(self, "mu", tuple(values.tolist()))

    @property
    def radius(self) -> float:
        return math.inf

    def coefficients(self, max_length: int, scale: float = 1.0) -> NDArray[np.float64]:
        out = np.zeros(_check_length(max_length) + 1)
        known = np.array(self.mu[: max_length + 1])
        out[: len(known)] = known * (scale**2) ** np.arange(float(len(known)))
        return out

    def evaluate(self, x: Any) -> Any:
        return np.polynomial.polynomial.polyval(x, np.array(self.mu))

    def relative_tail(self, max_length: int, growth: float) -> float:
        terms = np.array(self.mu) * growth ** np.arange(float(len(self.mu)))
        total = float(terms.sum())
        return float(terms[max_length + 1 :].sum()) / total if total > 0 else 0.0

    def modulation(self, max_length: int) -> NDArray[np.float64]:
        """Coefficients of the square root of the polynomial; a finite mu has in general an infinite f."""
        f = _square_root(np.array(self.mu), _check_length(max_length))
        negative = np.flatnonzero(f < -_ROUNDING * np.abs(f).max())
        if negative.size:
            raise ModulationError(
                f"the modulation f of these coefficients is negative at k = {negative[0]}, and the walkers need its "
                f"square root; {_OTHERS}"
            )
        return np.maximum(f, 0.0)

    def modulation_length(self, growth: float, rtol: float = 1e-9) -> int:
        """From f itself as far as Cauchy's estimate reaches: f is analytic up to the nearest zero of the polynomial."""
        mu = np.trim_zeros(np.array(self.mu), "b")
        whole = math.sqrt(float(self.evaluate(growth)))
        square_root = _finite_square_root(mu)
        if square_root is not None:
            tails = _tails(np.abs(square_root) * growth ** np.arange(float(len(square_root))))
            return int(np.argmax(tails <= rtol * whole))
        nearest = float(np.abs(np.roots(np.trim_zeros(mu)[::-1])).min(initial=math.inf))
        if growth >= nearest:
            raise ModulationError(
                f"the modulation f of these coefficients diverges at growth {growth:.6g} (radius {nearest:.6g}); {_OTHERS}"
            )
        radius = math.sqrt(max(growth, 1e-300) * nearest)
        ratio = growth / radius
        bound = math.sqrt(float(self.evaluate(radius))) / (1.0 - ratio)  # |f_k| growth^k <= bound (1 - ratio) ratio^k
        reach = _first_length(lambda length: bound * ratio ** (length + 1) <= 0.5 * rtol * whole, self, growth)
        tails = _tails(np.abs(_square_root(mu, reach)) * growth ** np.arange(reach + 1.0))
        return int(np.argmax(tails <= 0.5 * rtol * whole))


def _tails(terms: NDArray[np.float64]) -> NDArray[np.float64]:
    """sum_{k > i} terms_k for every i."""
    return np.concatenate([np.cumsum(terms[::-1])[-2::-1], [0.0]])


def _finite_square_root(mu: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """f where mu is the square of a polynomial, to rounding; else None."""
    lowest = int(np.argmax(mu > 0))
    if len(mu) % 2 == 0 or lowest % 2:
        return None
    f = _recursion(mu, len(mu) // 2)
    # compare where the first and the last coefficient are equally large, or the last ones would not count
    balance = (mu[-1] / mu[lowest]) ** (1.0 / max(len(mu) - 1 - lowest, 1)) if mu[-1] > 0 else 1.0
    weights = balance ** -np.arange(float(len(mu)))
    error = np.abs(np.convolve(f, f) - mu) * weights
    return f if error.max() <= _ROUNDING * (mu * weights).max() else None


def _square_root(mu: NDArray[np.float64], max_length: int) -> NDArray[np.float64]:
    """f_0 … f_max_length of the square root of sum_i mu_i x^i."""
    lowest = int(np.argmax(mu > 0))
    if lowest % 2:
        raise ModulationError(
            f"mu starts at the odd power {lowest}, so no modulation f with f * f = mu exists; {_OTHERS}"
        )
    finite = _finite_square_root(np.trim_zeros(mu, "b"))
    if finite is None:
        return _recursion(mu, max_length)
    return np.pad(finite, (0, max(max_length + 1 - len(finite), 0)))[: max_length + 1]


def _recursion(mu: NDArray[np.float64], max_length: int) -> NDArray[np.float64]:
    """Term by term, f_k = (mu_k - sum_{0<p<k} f_p f_(k-p)) / (2 f_0), after dividing mu by its lowest, even power."""
    if not (mu > 0).any():
        return np.zeros(max_length + 1)
    lowest = int(np.argmax(mu > 0))
    shifted = np.pad(mu[lowest:], (0, max_length + 1))
    f = np.zeros(max_length + 1)
    f[0] = math.sqrt(shifted[0])
    for k in range(1, max_length + 1):
        f[k] = (shifted[k] - f[1:k] @ f[k - 1 : 0 : -1]) / (2.0 * f[0])
    return np.concatenate([np.zeros(lowest // 2), f])[: max_length + 1]


def _check_length(max_length: int) -> int:
    if not isinstance(max_length, (int, np.integer)) or isinstance(max_length, bool) or max_length < 0:
        raise ParameterError(f"max_length must be an integer of at least 0, not {max_length!r}")
    return int(max_length)


def _first_length(enough: Any, series: Series, growth: float) -> int:
    """The smallest length that is enough, by doubling and bisection; `enough` is monotone."""
    high = 1
    while not enough(high):
        high *= 2
        if high > _LONGEST:
            raise DivergenceError(f"{series} needs over {_LONGEST} terms at growth {growth:.6g}; lower its decay")
    low = high // 2 if high > 1 else -1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
