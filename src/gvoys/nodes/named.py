"""Kernels of nodes by their names: functions of a Laplacian that are never negative, so that the kernel is a kernel."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import ParameterError


class LaplacianKernel(ABC):
    """A function of the Laplacian, which is small for smooth functions of the nodes."""

    def __post_init__(self: Any) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            is_number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
            if not is_number or not 0 < value < math.inf:
                raise ParameterError(f"{field.name} must be a positive number, not {value!r}")

    @abstractmethod
    def evaluate(self, eigenvalue: Any) -> NDArray[np.float64]:
        """The function of one eigenvalue of the Laplacian.

        Parameters
        ----------
        eigenvalue : array-like
            Eigenvalues, at least 0.

        Returns
        -------
        ndarray
            The kernel's eigenvalues.
        """

    def check(self, largest: float) -> None:  # noqa: B027 (most kernels have none for any Laplacian)
        """Check that the kernel has no negative eigenvalue.

        Parameters
        ----------
        largest : float
            A bound on the eigenvalues of the Laplacian.

        Raises
        ------
        ParameterError
            If it has one.
        """


@dataclass(frozen=True)
class Diffusion(LaplacianKernel):
    """The diffusion (heat) kernel exp(-time L).

    Parameters
    ----------
    time : float
        How long heat spreads.

    References
    ----------
    Kondor and Lafferty, Diffusion kernels on graphs and other discrete structures, ICML 2002.

    Examples
    --------
    >>> Diffusion(2.0).evaluate([0.0, 1.0]).round(3)
    array([1.   , 0.135])
    """

    time: float

    def evaluate(self, eigenvalue: Any) -> NDArray[np.float64]:
        return np.exp(-self.time * np.asarray(eigenvalue, np.float64))


@dataclass(frozen=True)
class RegularizedLaplacian(LaplacianKernel):
    """The regularised Laplacian kernel (1 + strength L)^-1.

    Parameters
    ----------
    strength : float
        How much neighbours have in common.

    References
    ----------
    Smola and Kondor, Kernels and regularization on graphs, COLT 2003.

    Examples
    --------
    >>> RegularizedLaplacian(1.0).evaluate([0.0, 1.0])
    array([1. , 0.5])
    """

    strength: float

    def evaluate(self, eigenvalue: Any) -> NDArray[np.float64]:
        return np.asarray(1.0 / (1.0 + self.strength * np.asarray(eigenvalue, np.float64)))


@dataclass(frozen=True)
class PStep(LaplacianKernel):
    """The p-step kernel (shift - L)^n_steps: walks of so many steps, which may stay where they are.

    Parameters
    ----------
    shift : float
        At least the largest eigenvalue of the Laplacian, which is at most 2 where it is normalised.
    n_steps : int
        Number of steps.

    References
    ----------
    Smola and Kondor, Kernels and regularization on graphs, COLT 2003.

    Examples
    --------
    >>> PStep(2.0, 3).evaluate([0.0, 1.0])
    array([8., 1.])
    """

    shift: float
    n_steps: int

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.n_steps, (int, np.integer)):
            raise ParameterError(f"n_steps must be an integer of at least 1, not {self.n_steps!r}")

    def evaluate(self, eigenvalue: Any) -> NDArray[np.float64]:
        return np.asarray((self.shift - np.asarray(eigenvalue, np.float64)) ** self.n_steps)

    def check(self, largest: float) -> None:
        if self.n_steps % 2 and self.shift < largest * (1.0 - 1e-9):
            raise ParameterError(
                f"shift must be at least {largest:.6g}, a bound on the eigenvalues of this Laplacian, or the kernel "
                f"may have negative eigenvalues; it is {self.shift:g}"
            )


@dataclass(frozen=True)
class Matern(LaplacianKernel):
    """The graph Matérn kernel (2 smoothness / length_scale^2 + L)^-smoothness, 1 at the eigenvalue 0.

    Parameters
    ----------
    smoothness : float
        The parameter nu: the larger, the smoother.
    length_scale : float
        The parameter kappa: how far nodes have much in common, in steps.

    References
    ----------
    Borovitskiy et al., Matérn Gaussian processes on graphs, AISTATS 2021.

    Examples
    --------
    >>> Matern(1.5, 2.0).evaluate([0.0, 1.0]).round(3)
    array([1.   , 0.281])
    """

    smoothness: float
    length_scale: float

    def evaluate(self, eigenvalue: Any) -> NDArray[np.float64]:
        start = 2.0 * self.smoothness / self.length_scale**2
        return np.asarray((1.0 + np.asarray(eigenvalue, np.float64) / start) ** -self.smoothness)
