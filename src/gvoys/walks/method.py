"""What a method is: something that makes profiles of graphs, says which walks it can, and what that costs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import UnsupportedError
from gvoys.graphs.batch import GraphBatch
from gvoys.walks.growth import choose_exponents
from gvoys.walks.walk import Walk

__all__ = ["Choice", "Cost", "Method", "Support", "WalkMethod", "check", "check_supports", "choose_method"]


class Support(NamedTuple):
    """Whether a method can do something, and why not.

    Parameters
    ----------
    supported : bool
        Whether it can.
    reason : str, default=""
        Why not, or why it is a good choice.
    """

    supported: bool
    reason: str = ""

    def __bool__(self) -> bool:
        return self.supported


class Cost(NamedTuple):
    """What profiles cost, roughly.

    Parameters
    ----------
    operations : float
        Additions; inf if there are too many to find out.
    bytes : float
        Memory of the profiles.
    """

    operations: float
    bytes: float


class Method(ABC):
    """A way to make profiles."""

    name: ClassVar[str]

    @abstractmethod
    def supports(self, walk: Walk, batch: GraphBatch) -> Support:
        """Say whether the method can count these walks.

        Parameters
        ----------
        walk : Walk
            What is walked.
        batch : GraphBatch
            The graphs.

        Returns
        -------
        Support
            True or False, with a reason.
        """

    def fits(self, walk: Walk, batch: GraphBatch) -> Support:
        """Say whether the method can count these walks, and is cheap enough to be chosen unasked.

        Parameters
        ----------
        walk : Walk
            What is walked.
        batch : GraphBatch
            The graphs.

        Returns
        -------
        Support
            True or False, with a reason.
        """
        return self.supports(walk, batch)

    def fitted(self, walk: Walk, batch: GraphBatch) -> Any:
        """The method with what depends on the graphs that it is first used for.

        Parameters
        ----------
        walk : Walk
            What is walked.
        batch : GraphBatch
            The graphs.

        Returns
        -------
        Method
            The method by which all later graphs are walked too.
        """
        return self

    @abstractmethod
    def cost(self, walk: Walk, batch: GraphBatch) -> Cost:
        """Estimate the work and the memory.

        Parameters
        ----------
        walk : Walk
            What is walked.
        batch : GraphBatch
            The graphs.

        Returns
        -------
        Cost
            Additions and bytes.
        """

    @abstractmethod
    def profile(self, batch: GraphBatch, walk: Walk, out: NDArray[Any] | None = None) -> Any:
        """Walk the graphs.

        Parameters
        ----------
        batch : GraphBatch
            The graphs.
        walk : Walk
            What is walked.
        out : ndarray or None, default=None
            Array to write to, for methods that can.

        Returns
        -------
        Profiles
            Their profiles, each a function of its graph alone.
        """


class WalkMethod(Method):
    """A method that walks each graph alone, and whose profiles may be had as features too."""

    feature_type: ClassVar[Any] = np.float64  # of features

    @property
    def width(self) -> int:
        """Numbers of one walk length and iteration; 0 if that depends on the graphs."""
        return 0

    def adds_up(self, walk: Walk) -> Support:
        """Say whether profiles of different lengths may be added up, and their products be unbiased still.

        Parameters
        ----------
        walk : Walk
            What is walked.

        Returns
        -------
        Support
            True or False, with a reason.
        """
        return Support(
            False,
            f"lengths='summed' needs method='sketch', since sums of {self.name} mix the lengths; use lengths='stacked'",
        )

    def profile(self, batch: GraphBatch, walk: Walk, out: NDArray[Any] | None = None) -> Any:
        exponents = choose_exponents(batch, walk.max_length)
        made = self.compute(batch, walk, np.ldexp(1.0, exponents), out)
        return self._collect(made, exponents, batch, walk)

    def compute(
        self, batch: GraphBatch, walk: Walk, scales: NDArray[np.float64], out: NDArray[Any] | None = None
    ) -> Any:
        """Walk the graphs, each divided by a number.

        Parameters
        ----------
        batch : GraphBatch
            The graphs.
        walk : Walk
            What is walked.
        scales : ndarray of shape (n_graphs,)
            Number that each graph's adjacency matrix is divided by. Powers of two change no bit but exponents.
        out : ndarray or None, default=None
            Array to write to, for methods that can.

        Returns
        -------
        ndarray of shape (n_graphs, n_lengths, n_iterations * width), or a list of list of counts
            What profiles are made of.

        Raises
        ------
        ParameterError
            If numbers leave the range of floating point.
        UnsupportedError
            If label sequences exceed their budget.
        """
        return self._compute(batch, walk, scales, out)

    @abstractmethod
    def _compute(self, batch: GraphBatch, walk: Walk, scales: NDArray[np.float64], out: NDArray[Any] | None) -> Any: ...

    @abstractmethod
    def _collect(self, made: Any, exponents: NDArray[np.int64], batch: GraphBatch, walk: Walk) -> Any:
        """Profiles of what was computed."""


M = TypeVar("M", bound=Method)


class Choice(str):
    """Name of a method, with the reason why it was chosen.

    Parameters
    ----------
    name : str
        Name of the method.
    reason : str
        Why it was chosen, in words.
    """

    reason: str

    def __new__(cls, name: str, reason: str) -> Choice:
        self = super().__new__(cls, name)
        self.reason = reason
        return self

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]
        return str(self), self.reason

    def __repr__(self) -> str:
        return f"{str(self)!r} ({self.reason})"


def choose_method(methods: Sequence[M], walk: Walk, batch: GraphBatch) -> tuple[M, str]:
    """Choose the first of some methods, the best ones first, that can count these walks.

    Parameters
    ----------
    methods : sequence of Method
        The methods; the last can count any walks.
    walk : Walk
        What is walked.
    batch : GraphBatch
        The graphs.

    Returns
    -------
    method : Method
        The method, fitted to the graphs.
    reason : str
        Why it was chosen: its own merit, or what the one before it lacks.
    """
    reason = ""
    for method in methods[:-1]:
        fitted = method.fitted(walk, batch)
        found = fitted.fits(walk, batch)
        reason = found.reason
        if found:
            return fitted, reason
    return methods[-1].fitted(walk, batch), reason


def check_supports(method: Method, walk: Walk, batch: GraphBatch) -> None:
    """Raise UnsupportedError, with the reason, if a method cannot count these walks."""
    check(method.supports(walk, batch))


def check(found: Support) -> None:
    """Raise UnsupportedError with the reason, if there is no support."""
    if not found:
        raise UnsupportedError(found.reason)
