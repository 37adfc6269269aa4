"""What every series offers.

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
    """A power series with coefficients mu_i >= 0, applied when profiles meet."""

    @property
    @abstractmethod
    def radius(self) -> float:
        """Convergence radius: the whole series converges where growth < radius."""

    rounds: tuple[tuple[float, ...], ...] = ()  # coefficients of each round of refinement, where they differ

    @property
    def unit(self) -> float:
        """The growth below which the whole series is of order mu_0."""
        return self.radius

    @abstractmethod
    def coefficients(self, max_length: int, scale: float = 1.0) -> NDArray[np.float64]:
        """mu_i * scale^(2 i) for i = 0 … max_length, (max_length + 1,).

        `scale` undoes the division of the adjacency matrices by `scale` while walking, without overflow.
        """

    def coefficients_by_round(self, n_rounds: int, max_length: int, scale: float = 1.0) -> NDArray[np.float64]:
        """The same for each round of label refinement, (n_rounds, max_length + 1)."""
        return np.tile(self.coefficients(max_length, scale), (n_rounds, 1))

    @abstractmethod
    def evaluate(self, x: Any) -> Any:
        """sum_i mu_i x^i, elementwise."""

    @abstractmethod
    def relative_tail(self, max_length: int, growth: float) -> float:
        """The share of sum_i mu_i growth^i that lies beyond `max_length`."""

    @abstractmethod
    def modulation(self, max_length: int, scale: float = 1.0) -> NDArray[np.float64]:
        """f_k * scale^(2 k) for k = 0 … max_length, with sum_p f_p f_(k-p) = mu_k (f >= 0, or it is refused)."""

    @property
    def modulation_radius(self) -> float:
        """Convergence radius of sum_k f_k x^k."""
        return self.radius

    def check_modulation(self) -> None:
        """Refuse a series without a modulation f >= 0."""
        self.modulation(0)

    @abstractmethod
    def modulation_length(self, growth: float, rtol: float = 1e-9) -> int:
        """A length, as short as is known, after which ``sum_k |f_k| growth^k`` has at most `rtol` of itself left."""

    def tail_bound(self, max_length: int, growth: float) -> float:
        """sum_{i > max_length} mu_i growth^i."""
        self.check_convergence(growth)
        return self.relative_tail(max_length, growth) * float(self.evaluate(growth))

    def truncation_length(self, growth: float, rtol: float = 1e-12) -> int:
        """The smallest length after which the tail is at most `rtol` of the whole series."""
        self.check_convergence(growth)
        return first_length(lambda length: self.relative_tail(length, growth) <= rtol, self, growth)

    def truncated(self, max_length: int) -> Coefficients:
        """The series cut after `max_length`, which may have any decay."""
        from gvoys.series.coefficients import Coefficients

        return Coefficients(self.coefficients(check_length(max_length)).tolist())

    def resolved(self, max_degree: float) -> Series:
        """Replace ``decay="auto"`` by 1 / max_degree^2; a series with a number stays as it is."""
        return self

    # -- as scikit-learn knows parameters, so that grids over series__decay work

    @abstractmethod
    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """What the series was made with."""

    def set_params(self, **params: Any) -> Series:
        """Change what the series was made with; returns the series itself."""
        known = self.get_params()
        unknown = next((name for name in params if name not in known), None)
        if unknown is not None:
            raise ParameterError(f"{type(self).__name__} has no parameter {unknown!r}, only {', '.join(known)}")
        made = type(self)(**known | params)
        for name, value in vars(made).items():
            object.__setattr__(self, name, value)
        return self

    def __sklearn_clone__(self) -> Series:
        return copy(self)

    def check_convergence(self, growth: float) -> None:
        """Refuse a whole series that diverges at `growth`."""
        if growth >= self.radius:
            raise DivergenceError(
                f"the whole series {self} diverges: decay * rho1 * rho2 = {growth / self.radius:.6g} is not below 1; "
                f"the largest decay that would do is just under {1 / growth:.6g}, or cut the series at a max_length"
            )


def check_length(max_length: int) -> int:
    if not isinstance(max_length, (int, np.integer)) or isinstance(max_length, bool) or max_length < 0:
        raise ParameterError(f"max_length must be an integer of at least 0, not {max_length!r}")
    return int(max_length)


def check_number(series: Series, max_degree: float) -> None:
    """Raise where ``decay="auto"`` meets a function without a fit: its value would change from call to call."""
    resolved = series.resolved(max_degree)
    if resolved is not series:
        raise ParameterError(
            f'decay="auto" is resolved when an estimator is fitted, and here nothing is; give a number: '
            f"for these graphs, 1 / d_max^2, it would be {resolved!r}"
        )


def first_length(enough: Callable[[int], bool], series: Series, growth: float) -> int:
    """The smallest length that is enough, by doubling and bisection; `enough` is monotone."""
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
    """Refuse what is not a series, or one for other rounds of refinement."""
    if not isinstance(series, Series):
        raise ParameterError(f"series must be Geometric, Exponential or Coefficients, not {series!r}")
    if series.rounds and len(series.rounds) != n_rounds:
        raise ParameterError(
            f"this series has coefficients for {len(series.rounds)} rounds of refinement and meets {n_rounds}; "
            f"it belongs with refine={len(series.rounds) - 1}"
        )
    return series
