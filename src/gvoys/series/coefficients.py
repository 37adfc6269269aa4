"""Any finite series."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import DivergenceError, ModulationError, ParameterError
from gvoys.series.base import LARGEST_EXPONENT, Series, check_length, check_series, first_length
from gvoys.series.square_root import OTHERS, ROUNDING, finite_square_root, square_root


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
        """log(mu_i growth^i) where it is not zero."""
        positive = {i: mu for i, mu in enumerate(self.mu) if mu > 0 and (growth > 0 or i == 0)}
        return {i: math.log(mu) + (i * math.log(growth) if i else 0.0) for i, mu in positive.items()}

    def check_convergence(self, growth: float) -> None:
        if max(self._exponents(growth).values(), default=0.0) > LARGEST_EXPONENT:
            raise DivergenceError(
                f"a term of this series may reach exp({max(self._exponents(growth).values()):.6g}), past the range of "
                "float64; take smaller coefficients or fewer of them"
            )

    def modulation(self, max_length: int, scale: float = 1.0) -> NDArray[np.float64]:
        """The modulation f: the square root of the polynomial; a finite mu has in general an infinite f.

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
            If f is negative somewhere, or does not exist.
        """
        f = square_root(self.coefficients(len(self.mu) - 1, scale), check_length(max_length))
        negative = np.flatnonzero(f < -ROUNDING * np.abs(f).max())
        if negative.size:
            raise ModulationError(
                f"the modulation f of these coefficients is negative at k = {negative[0]}, and the walkers need its "
                f"square root; {OTHERS}"
            )
        return np.maximum(f, 0.0)

    def check_modulation(self) -> None:
        self.modulation(2 * len(self.mu))  # unless mu is a square, a coefficient just beyond it is negative

    @property
    def modulation_radius(self) -> float:
        """Infinite where f is a polynomial, else the nearest zero of sum_i mu_i x^i / x^lowest."""
        mu = np.trim_zeros(np.array(self.mu), "b")
        if not mu.size or finite_square_root(mu) is not None:
            return math.inf
        return float(np.abs(np.roots(np.trim_zeros(mu)[::-1])).min(initial=math.inf))

    def modulation_length(self, growth: float, rtol: float = 1e-9) -> int:
        """The length after which f may be truncated.

        Found from f itself as far as Cauchy's estimate reaches: f is analytic up to the polynomial's nearest zero.

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

        Raises
        ------
        ModulationError
            If f diverges at `growth`.
        """
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
                f"{OTHERS}"
            )
        radius = math.sqrt(max(growth, 1e-300) * nearest)
        ratio = growth / radius
        bound = math.sqrt(float(self.evaluate(radius))) / (1.0 - ratio)  # |f_k| growth^k <= bound (1 - ratio) ratio^k
        reach = first_length(lambda length: bound * ratio ** (length + 1) <= 0.5 * rtol * whole, self, growth)
        tails = _tails(np.abs(square_root(mu, reach)) * growth ** np.arange(reach + 1.0))
        return int(np.argmax(tails <= 0.5 * rtol * whole))


def _tails(terms: NDArray[np.float64]) -> NDArray[np.float64]:
    """sum_{k > i} terms_k for every i."""
    return np.concatenate([np.cumsum(terms[::-1])[-2::-1], [0.0]])
