"""Series given by one decay: geometric and exponential."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammainc

from gvoys.errors import DivergenceError, ParameterError
from gvoys.series.base import LARGEST_EXPONENT, Series, check_length, first_length


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

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"decay": self.decay}

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
        """The modulation f_k = decay^k C(2k, k) / 4^k, the series of (1 - decay x)^(-1/2).

        Parameters
        ----------
        max_length : int
            Longest walk.
        scale : float, default=1.0
            As in `coefficients`.

        Returns
        -------
        array of shape (max_length + 1,)
            The modulation.
        """
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
        """The modulation f_k = (decay / 2)^k / k!.

        Parameters
        ----------
        max_length : int
            Longest walk.
        scale : float, default=1.0
            As in `coefficients`.

        Returns
        -------
        array of shape (max_length + 1,)
            The modulation.
        """
        return Exponential(self.rate / 2).coefficients(max_length, scale)

    def modulation_length(self, growth: float, rtol: float = 1e-9) -> int:
        return Exponential(self.rate / 2).truncation_length(growth, rtol)


def series_named(name: str, decay: float | None = None) -> Series:
    """A series as the command line spells it."""
    kinds = {"geometric": Geometric, "exponential": Exponential}
    if name not in kinds:
        raise ParameterError(f"series must be 'geometric' or 'exponential', not {name!r}")
    return kinds[name]("auto" if decay is None else decay)
