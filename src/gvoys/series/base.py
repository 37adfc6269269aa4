"""The base class of series.

`growth` below bounds how fast walks multiply: |K_i| <= const * growth^i, with growth = rho(G) * rho(H), the product
of the two spectral radii.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import DivergenceError, ParameterError

if TYPE_CHECKING:
    from gvoys.series.coefficients import Coefficients

LARGEST_EXPONENT = 650.0  # exp(709) is the largest that float64 holds; leave room for the endpoints
_LONGEST = 1_000_000  # a series that needs more terms than this is as good as divergent


class Series(ABC):
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
        from gvoys.series.coefficients import Coefficients

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

    # -- as scikit-learn knows parameters, so that grids over series__decay work

    @abstractmethod
    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters of the series.

        Parameters
        ----------
        deep : bool, default=True
            Ignored; scikit-learn asks for it.

        Returns
        -------
        dict
            Values by name.
        """

    def set_params(self, **params: Any) -> Series:
        """Return a copy with some of these changed.

        Parameters
        ----------
        **params : dict
            New values by name.

        Returns
        -------
        Series
            The copy.
        """
        known = self.get_params()
        unknown = next((name for name in params if name not in known), None)
        if unknown is not None:
            raise ParameterError(f"{type(self).__name__} has no parameter {unknown!r}, only {', '.join(known)}")
        return type(self)(**known | params)

    def __sklearn_clone__(self) -> Series:
        return copy(self)

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
    """The smallest length that is enough, by doubling and bisection."""
    low, high = -1, 1
    while not enough(high):
        if high >= _LONGEST:
            raise DivergenceError(f"{series} needs over {_LONGEST} terms at growth {growth:.6g}; lower its decay")
        low, high = high, min(2 * high, _LONGEST)
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
