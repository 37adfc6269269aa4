"""Series: the weights of the walk lengths, geometric, exponential or any coefficients."""

# `growth` bounds how fast walks multiply: |K_i| <= const * growth^i, with growth = rho(G) * rho(H), the product of the
# two spectral radii

from __future__ import annotations

import inspect
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammainc

from gvoys.errors import DivergenceError, ModulationError, ParameterError

LARGEST_EXPONENT = 650.0  # exp(709) is the largest that float64 holds; leave room for the endpoints
_MOST_TERMS = 1_000_000  # a series that needs more is as good as divergent
_ROUNDING = 1e-10  # what the recursion for f may lose, relative to its largest term
_OTHERS = "use moments, sequences, sketch or OneSidedVoyagers instead, which only need mu >= 0"


class Parameters:
    """Values that never change, with parameters as scikit-learn knows them, so that grids over series__decay work."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters.

        Parameters
        ----------
        deep : bool, default=True
            Ignored; scikit-learn asks for it.

        Returns
        -------
        dict
            Values by name.
        """
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def set_params(self, **params: Any) -> Any:
        """Return a copy with some parameters changed.

        Parameters
        ----------
        **params : dict
            New values by name.

        Returns
        -------
        object
            The copy.
        """
        known = self.get_params()
        unknown = next((name for name in params if name not in known), None)
        if unknown is not None:
            raise ParameterError(f"{type(self).__name__} has no parameter {unknown!r}, only {', '.join(known)}")
        return type(self)(**known | params)

    def __sklearn_clone__(self) -> Any:
        return self


class Series(Parameters, ABC):
    """A power series with coefficients mu_i >= 0, applied when the Gram matrix is formed."""

    @property
    @abstractmethod
    def radius(self) -> float:
        """Radius of convergence: the infinite series converges where growth < radius."""

    rounds: tuple[tuple[float, ...], ...] = ()  # mu of each Weisfeiler–Lehman iteration, where they differ

    @property
    def unit(self) -> float:
        """The growth below which the infinite series is of order mu_0."""
        return self.radius

    @abstractmethod
    def coefficients(self, max_length: int, scale: float = 1.0) -> NDArray[np.float64]:
        """The coefficients mu_i * scale^(2 i) for i = 0 … max_length.

        Parameters
        ----------
        max_length : int
            Longest walk.
        scale : float, default=1.0
            Number that the adjacency matrices were divided by while walking; undone here without overflow.

        Returns
        -------
        array of shape (max_length + 1,)
            The coefficients.
        """

    def coefficients_by_round(self, n_rounds: int, max_length: int, scale: float = 1.0) -> NDArray[np.float64]:
        """The coefficients of each Weisfeiler–Lehman iteration.

        Parameters
        ----------
        n_rounds : int
            Number of iterations, with iteration 0: ``refine + 1``.
        max_length : int
            Longest walk.
        scale : float, default=1.0
            As in `coefficients`.

        Returns
        -------
        array of shape (n_rounds, max_length + 1)
            The coefficients.
        """
        return np.tile(self.coefficients(max_length, scale), (n_rounds, 1))

    @abstractmethod
    def evaluate(self, x: Any) -> Any:
        """Value of the infinite series, sum_i mu_i x^i.

        Parameters
        ----------
        x : float or array
            Where to evaluate it.

        Returns
        -------
        float or array
            The value, elementwise.
        """

    @abstractmethod
    def relative_tail(self, max_length: int, growth: float) -> float:
        """The share of sum_i mu_i growth^i that lies beyond `max_length`.

        Parameters
        ----------
        max_length : int
            Longest walk that is kept.
        growth : float
            Bound on the growth of walks per step.

        Returns
        -------
        float
            The share, from 0 to 1.
        """

    @abstractmethod
    def modulation(self, max_length: int, scale: float = 1.0) -> NDArray[np.float64]:
        """The modulation f_k * scale^(2 k) for k = 0 … max_length, with sum_p f_p f_(k-p) = mu_k.

        Parameters
        ----------
        max_length : int
            Longest walk.
        scale : float, default=1.0
            As in `coefficients`.

        Returns
        -------
        array of shape (max_length + 1,)
            The modulation, at least 0.

        Raises
        ------
        ModulationError
            If no real f >= 0 exists.
        """

    @property
    def modulation_radius(self) -> float:
        """Radius of convergence of sum_k f_k x^k."""
        return self.radius

    def check_modulation(self) -> None:
        """Check that the series has a modulation f >= 0.

        Raises
        ------
        ModulationError
            If it has none.
        """
        self.modulation(0)

    @abstractmethod
    def modulation_length(self, growth: float, rtol: float = 1e-9) -> int:
        """A length, as short as is known, after which ``sum_k |f_k| growth^k`` has at most `rtol` of itself left.

        Parameters
        ----------
        growth : float
            Bound on the growth of walks per step.
        rtol : float, default=1e-9
            Share that may be left.

        Returns
        -------
        int
            The length.
        """

    def tail_bound(self, max_length: int, growth: float) -> float:
        """The tail sum_{i > max_length} mu_i growth^i.

        Parameters
        ----------
        max_length : int
            Longest walk that is kept.
        growth : float
            Bound on the growth of walks per step.

        Returns
        -------
        float
            The tail.

        Raises
        ------
        DivergenceError
            If the infinite series diverges at `growth`.
        """
        self.check_convergence(growth)
        return self.relative_tail(max_length, growth) * float(self.evaluate(growth))

    def truncation_length(self, growth: float, rtol: float = 1e-12) -> int:
        """The smallest length after which the tail is at most `rtol` of the infinite series.

        Parameters
        ----------
        growth : float
            Bound on the growth of walks per step.
        rtol : float, default=1e-12
            Share that the tail may have.

        Returns
        -------
        int
            The length.

        Raises
        ------
        DivergenceError
            If the infinite series diverges at `growth`.
        """
        self.check_convergence(growth)
        return first_length(lambda length: self.relative_tail(length, growth) <= rtol, self, growth)

    def truncated(self, max_length: int) -> Coefficients:
        """The series truncated after `max_length`, which converges for any decay.

        Parameters
        ----------
        max_length : int
            Longest walk that is kept.

        Returns
        -------
        Coefficients
            The finite series.
        """
        return Coefficients(self.coefficients(check_length(max_length)).tolist())

    def resolved(self, max_degree: float | Callable[[], float]) -> Series:
        """The series with ``decay="auto"`` replaced by 1 / max_degree^2.

        Parameters
        ----------
        max_degree : float or callable
            Largest degree of the graphs, or what computes it where it is needed.

        Returns
        -------
        Series
            The series; one whose decay is a number stays as it is.
        """
        return self

    def check_convergence(self, growth: float) -> None:
        """Check that the infinite series converges.

        Parameters
        ----------
        growth : float
            Bound on the growth of walks per step.

        Raises
        ------
        DivergenceError
            If it diverges at `growth`.
        """
        if growth >= self.radius:
            raise DivergenceError(
                f"the infinite series {self} diverges: decay * rho1 * rho2 = {growth / self.radius:.6g} is not below "
                f"1; the decay must be below {1 / growth:.6g}, or truncate the series with max_length"
            )


def check_length(max_length: int) -> int:
    """Check the length of a walk."""
    if not isinstance(max_length, (int, np.integer)) or isinstance(max_length, bool) or max_length < 0:
        raise ParameterError(f"max_length must be an integer of at least 0, not {max_length!r}")
    return int(max_length)


def check_number(series: Series, max_degree: Callable[[], float]) -> None:
    """Check that the decay is a number: a function without a fit cannot resolve ``decay="auto"``."""
    resolved = series.resolved(max_degree)
    if resolved is not series:
        raise ParameterError(
            f'decay="auto" is resolved when an estimator is fitted, and here nothing is; give a number: '
            f"for these graphs, 1 / d_max^2, it would be {resolved!r}"
        )


def first_length(enough: Callable[[int], bool], series: Series, growth: float) -> int:
    """Find the smallest length that is enough, by doubling and bisection."""
    low, high = -1, 1
    while not enough(high):
        if high >= _MOST_TERMS:
            raise DivergenceError(f"{series} needs over {_MOST_TERMS} terms at growth {growth:.6g}; lower its decay")
        low, high = high, min(2 * high, _MOST_TERMS)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def check_series(series: Any, n_rounds: int = 1) -> Series:
    """Check that a series fits the Weisfeiler–Lehman iterations."""
    if not isinstance(series, Series):
        raise ParameterError(f"series must be Geometric, Exponential or Coefficients, not {series!r}")
    if series.rounds and len(series.rounds) != n_rounds:
        raise ParameterError(
            f"this series has coefficients for Weisfeiler–Lehman iterations 0 to {len(series.rounds) - 1}, and here "
            f"refine={n_rounds - 1}; use it with refine={len(series.rounds) - 1}"
        )
    return series


def finite_square_root(mu: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Return the square root f of mu where it is a polynomial, up to rounding."""
    lowest = int(np.argmax(mu > 0))
    if len(mu) % 2 == 0 or lowest % 2:
        return None
    f = _recursion(mu, len(mu) // 2)
    # compare where the first and the last coefficient are equally large, or the last ones would not count
    balance = (mu[-1] / mu[lowest]) ** (1.0 / max(len(mu) - 1 - lowest, 1)) if mu[-1] > 0 else 1.0
    weights = balance ** -np.arange(float(len(mu)))
    error = np.abs(np.convolve(f, f) - mu) * weights
    return f if error.max() <= _ROUNDING * (mu * weights).max() else None


def square_root(mu: NDArray[np.float64], max_length: int) -> NDArray[np.float64]:
    """Return the coefficients f_0 … f_max_length of the square root of sum_i mu_i x^i."""
    if not (mu > 0).any():
        return np.zeros(max_length + 1)
    lowest = int(np.argmax(mu > 0))
    if lowest % 2:
        raise ModulationError(
            f"mu starts at the odd power {lowest}, so no modulation f with f * f = mu exists; {_OTHERS}"
        )
    finite = finite_square_root(np.trim_zeros(mu, "b"))
    if finite is None:
        return _recursion(mu, max_length)
    return np.pad(finite, (0, max(max_length + 1 - len(finite), 0)))[: max_length + 1]


def _recursion(mu: NDArray[np.float64], max_length: int) -> NDArray[np.float64]:
    """Return f_k = (mu_k - sum_{0<p<k} f_p f_(k-p)) / (2 f_0), after dividing mu by its lowest, even power."""
    if not (mu > 0).any():
        return np.zeros(max_length + 1)
    lowest = int(np.argmax(mu > 0))
    shifted = np.pad(mu[lowest:], (0, max_length + 1))
    f = np.zeros(max_length + 1)
    f[0] = math.sqrt(shifted[0])
    for k in range(1, max_length + 1):
        f[k] = (shifted[k] - f[1:k] @ f[k - 1 : 0 : -1]) / (2.0 * f[0])
    return np.concatenate([np.zeros(lowest // 2), f])[: max_length + 1]


@dataclass(frozen=True, init=False)
class Coefficients(Series):
    """Any finite series mu_0, mu_1, …, all of them at least 0.

    Parameters
    ----------
    mu : array-like of shape (n_lengths,) or (refine + 1, n_lengths)
        The coefficients. A row for each Weisfeiler–Lehman iteration 0 … R is for estimators with ``refine=R``.

    Attributes
    ----------
    mu : tuple of floats
        The coefficients; of several rows their sums, which bound the kernel, since refined labels match less often.
    rounds : tuple of tuples
        The rows, where there are several; else empty.

    Raises
    ------
    ParameterError
        If a coefficient is negative or not finite.

    Examples
    --------
    >>> Coefficients([1, 0, 0.5]).coefficients(3)
    array([1. , 0. , 0.5, 0. ])
    """

    mu: tuple[float, ...]
    rounds: tuple[tuple[float, ...], ...] = field(default=(), repr=False)

    def __init__(self, mu: Sequence[float] | NDArray[Any]) -> None:
        try:
            values = np.array(mu)
            values = values.astype(np.float64) if values.dtype.kind in "biuf" else np.empty(0)
        except (TypeError, ValueError):
            values = np.empty(0)
        if values.ndim not in (1, 2) or values.size == 0:
            raise ParameterError(
                f"Coefficients takes a flat list of one number or more, or one such list per Weisfeiler–Lehman "
                f"iteration, not {mu!r}"
            )
        rows = np.atleast_2d(values)
        bad = ~(np.isfinite(rows) & (rows >= 0))
        if bad.any():
            round_, first = np.argwhere(bad)[0]
            raise ParameterError(
                f"mu_{first} = {rows[round_, first]:g}: every coefficient must be finite and at least 0, "
                "or the kernel is not positive semidefinite"
            )
        object.__setattr__(self, "mu", tuple(rows.sum(axis=0).tolist()))
        object.__setattr__(self, "rounds", tuple(map(tuple, rows.tolist())) if len(rows) > 1 else ())

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"mu": self.rounds or self.mu}

    @property
    def radius(self) -> float:
        return math.inf

    def coefficients(self, max_length: int, scale: float = 1.0) -> NDArray[np.float64]:
        out = np.zeros(check_length(max_length) + 1)
        used = np.flatnonzero(self.mu[: max_length + 1])
        mu = np.array(self.mu)[used]
        with np.errstate(over="ignore"):
            powers = np.float64(scale) ** (2.0 * used)
            # past the range of powers by logarithms: a tiny mu times a huge power is an ordinary number
            huge = np.log(mu) + 2.0 * used * np.log(max(scale, 1e-300))
            out[used] = np.where(np.isfinite(powers), mu * powers, np.exp(huge))
        return out

    def coefficients_by_round(self, n_rounds: int, max_length: int, scale: float = 1.0) -> NDArray[np.float64]:
        if not self.rounds:
            return super().coefficients_by_round(n_rounds, max_length, scale)
        check_series(self, n_rounds)
        return np.array([Coefficients(row).coefficients(max_length, scale) for row in self.rounds])

    def truncated(self, max_length: int) -> Coefficients:
        if not self.rounds:
            return super().truncated(max_length)
        return Coefficients(self.coefficients_by_round(len(self.rounds), max_length))

    def evaluate(self, x: Any) -> Any:
        return np.polynomial.polynomial.polyval(x, np.array(self.mu))

    def relative_tail(self, max_length: int, growth: float) -> float:
        exponents = self._exponents(growth)
        if not exponents:
            return 0.0
        largest = max(exponents.values())
        shares = {i: math.exp(exponent - largest) for i, exponent in exponents.items()}
        return sum(share for i, share in shares.items() if i > max_length) / sum(shares.values())

    def _exponents(self, growth: float) -> dict[int, float]:
        """Return log(mu_i growth^i) where it is not zero."""
        positive = {i: mu for i, mu in enumerate(self.mu) if mu > 0 and (growth > 0 or i == 0)}
        return {i: math.log(mu) + (i * math.log(growth) if i else 0.0) for i, mu in positive.items()}

    def check_convergence(self, growth: float) -> None:
        if max(self._exponents(growth).values(), default=0.0) > LARGEST_EXPONENT:
            raise DivergenceError(
                f"a term of this series may reach exp({max(self._exponents(growth).values()):.6g}), past the range of "
                "float64; take smaller coefficients or fewer of them"
            )

    def modulation(self, max_length: int, scale: float = 1.0) -> NDArray[np.float64]:
        # the square root of the polynomial: a finite mu has in general an infinite f
        f = square_root(self.coefficients(len(self.mu) - 1, scale), check_length(max_length))
        negative = np.flatnonzero(f < -_ROUNDING * np.abs(f).max())
        if negative.size:
            raise ModulationError(
                f"the modulation f of these coefficients is negative at k = {negative[0]}, and the walkers need its "
                f"square root; {_OTHERS}"
            )
        return np.maximum(f, 0.0)

    def check_modulation(self) -> None:
        self.modulation(2 * len(self.mu))  # unless mu is a square, a coefficient just beyond it is negative

    @property
    def modulation_radius(self) -> float:
        # infinite where f is a polynomial, else the nearest zero of sum_i mu_i x^i / x^lowest
        mu = np.trim_zeros(np.array(self.mu), "b")
        if not mu.size or finite_square_root(mu) is not None:
            return math.inf
        return float(np.abs(np.roots(np.trim_zeros(mu)[::-1])).min(initial=math.inf))

    def modulation_length(self, growth: float, rtol: float = 1e-9) -> int:
        # from f itself as far as Cauchy's estimate reaches: f is analytic up to the polynomial's nearest zero
        mu = np.trim_zeros(np.array(self.mu), "b")
        if not mu.size:
            return 0
        whole = math.sqrt(float(self.evaluate(growth)))
        finite = finite_square_root(mu)
        if finite is not None:
            tails = _tails(np.abs(finite) * growth ** np.arange(float(len(finite))))
            return int(np.argmax(tails <= rtol * whole))
        nearest = self.modulation_radius
        if growth >= nearest:
            raise ModulationError(
                f"the modulation f of these coefficients diverges at growth {growth:.6g} (radius {nearest:.6g}); "
                f"{_OTHERS}"
            )
        radius = math.sqrt(max(growth, 1e-300) * nearest)
        ratio = growth / radius
        bound = math.sqrt(float(self.evaluate(radius))) / (1.0 - ratio)  # |f_k| growth^k <= bound (1 - ratio) ratio^k
        reach = first_length(lambda length: bound * ratio ** (length + 1) <= 0.5 * rtol * whole, self, growth)
        tails = _tails(np.abs(square_root(mu, reach)) * growth ** np.arange(reach + 1.0))
        return int(np.argmax(tails <= 0.5 * rtol * whole))


def _tails(terms: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return sum_{k > i} terms_k for every i."""
    return np.concatenate([np.cumsum(terms[::-1])[-2::-1], [0.0]])


@dataclass(frozen=True)
class _Decaying(Series):
    decay: float | str

    def __post_init__(self) -> None:
        if isinstance(self.decay, str) and self.decay == "auto":
            return
        number = isinstance(self.decay, (int, float, np.integer, np.floating)) and not isinstance(self.decay, bool)
        if not number or not 0 <= self.decay < 1e300:  # type: ignore[operator]
            raise ParameterError(f'decay must be "auto" or a finite number of at least 0, not {self.decay!r}')
        object.__setattr__(self, "decay", float(self.decay))

    @property
    def rate(self) -> float:
        """The decay as a number; "auto" has none before an estimator is fitted."""
        if self.decay == "auto":
            raise ParameterError('decay="auto" has no value before fitting; call series.resolved(max_degree) first')
        return float(self.decay)

    def resolved(self, max_degree: float | Callable[[], float]) -> Series:
        if self.decay != "auto":
            return self
        degree = max_degree() if callable(max_degree) else max_degree
        # walks cannot multiply in edgeless graphs, so that the series converges for any decay
        size = min(max(degree, 1e-140), 1e140)  # its square is a number
        return replace(self, decay=1.0 / size**2 if degree > 0 else 1.0)


@dataclass(frozen=True)
class Geometric(_Decaying):
    """The geometric series mu_i = decay^i.

    Parameters
    ----------
    decay : float or "auto"
        A number of at least 0. The infinite series converges where decay * rho1 * rho2 < 1. "auto" becomes 1 / d_max^2
        when an estimator is fitted.

    Examples
    --------
    >>> Geometric(0.5).coefficients(3)
    array([1.   , 0.5  , 0.25 , 0.125])
    >>> Geometric(0.5).truncation_length(growth=1.0, rtol=1e-3)
    9
    """

    @property
    def radius(self) -> float:
        return 1.0 / self.rate if self.rate > 0 else math.inf

    def coefficients(self, max_length: int, scale: float = 1.0) -> NDArray[np.float64]:
        return (self.rate * scale**2) ** np.arange(check_length(max_length) + 1.0)

    def evaluate(self, x: Any) -> Any:
        return 1.0 / (1.0 - self.rate * x)

    def relative_tail(self, max_length: int, growth: float) -> float:
        return float((self.rate * growth) ** (max_length + 1))

    def modulation(self, max_length: int, scale: float = 1.0) -> NDArray[np.float64]:
        # f_k = decay^k C(2k, k) / 4^k, the series of (1 - decay x)^(-1/2)
        k = np.arange(1.0, check_length(max_length) + 1.0)
        return np.cumprod(np.concatenate([[1.0], self.rate * scale**2 * (1.0 - 0.5 / k)]))

    def modulation_length(self, growth: float, rtol: float = 1e-9) -> int:
        self.check_convergence(growth)
        q = self.rate * growth  # f_k growth^k <= q^k, and the whole of it is (1 - q)^(-1/2)
        return first_length(lambda length: q ** (length + 1) / math.sqrt(1.0 - q) <= rtol, self, growth)


@dataclass(frozen=True)
class Exponential(_Decaying):
    """The exponential series mu_i = decay^i / i!, which converges for every decay.

    Parameters
    ----------
    decay : float or "auto"
        A number of at least 0. "auto" becomes 1 / d_max^2 when an estimator is fitted.

    Examples
    --------
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
        if self.rate * growth > LARGEST_EXPONENT:
            raise DivergenceError(
                f"the infinite series {self} may reach exp({self.rate * growth:.6g}), past the range of float64; "
                f"the decay must be at most {LARGEST_EXPONENT / growth:.6g}, or truncate the series with max_length"
            )

    def coefficients(self, max_length: int, scale: float = 1.0) -> NDArray[np.float64]:
        ratios = self.rate * scale**2 / np.arange(1.0, check_length(max_length) + 1.0)
        return np.cumprod(np.concatenate([[1.0], ratios]))

    def evaluate(self, x: Any) -> Any:
        return np.exp(self.rate * x)

    def relative_tail(self, max_length: int, growth: float) -> float:
        return float(gammainc(max_length + 1, self.rate * growth))

    def modulation(self, max_length: int, scale: float = 1.0) -> NDArray[np.float64]:
        # f_k = (decay / 2)^k / k!
        return Exponential(self.rate / 2).coefficients(max_length, scale)

    def modulation_length(self, growth: float, rtol: float = 1e-9) -> int:
        return Exponential(self.rate / 2).truncation_length(growth, rtol)


def series_named(name: str, decay: float | None = None) -> Series:
    """Make a series of its name on the command line."""
    kinds = {"geometric": Geometric, "exponential": Exponential}
    if name not in kinds:
        raise ParameterError(f"series must be 'geometric' or 'exponential', not {name!r}")
    return kinds[name]("auto" if decay is None else decay)
