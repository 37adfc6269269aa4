"""The interface of methods: profiles of graphs, the walks that they support, and their cost."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from gvoys._compiled.cpu.moments_cpu import compute_moments
from gvoys._compiled.cpu.sketch_cpu import CpuSketch
from gvoys._compiled.cpu.voyagers_cpu import sample_both_sides, sample_one_side
from gvoys._compiled.random_maps import SketchBlock
from gvoys.errors import UnsupportedError
from gvoys.graphs.batch import GraphBatch
from gvoys.walks.growth import choose_exponents
from gvoys.walks.walk import Walk


class Support(NamedTuple):
    """Whether a method can do something, with the reason why not, or why it is a good choice."""

    supported: bool
    reason: str = ""

    def __bool__(self) -> bool:
        return self.supported


class Cost(NamedTuple):
    """Approximate cost of profiles."""

    operations: float  # additions; inf if there are too many to find out
    bytes: float  # memory of the profiles


class Method(ABC):
    """A way to make profiles."""

    name: ClassVar[str]

    @abstractmethod
    def supports(self, walk: Walk, batch: GraphBatch) -> Support:
        """Say whether the method can count these walks, and why not."""

    def fits(self, walk: Walk, batch: GraphBatch) -> Support:
        """Say whether the method can count these walks, and is cheap enough to be chosen unasked."""
        return self.supports(walk, batch)

    def fitted(self, walk: Walk, batch: GraphBatch) -> Any:
        """Return the method with what depends on the graphs that it is first used for."""
        return self

    @abstractmethod
    def cost(self, walk: Walk, batch: GraphBatch) -> Cost:
        """Estimate the work and the memory."""

    def resolve(self, walk: Walk, batch: GraphBatch) -> Walk:
        """Check every field of a walk, and choose the labels that are "auto"."""
        return walk.on(batch)

    def prepare(self, walk: Walk, batch: GraphBatch) -> tuple[GraphBatch, Walk]:
        """Return the graphs with all labels that walks go by, and the walk by them; raise what is not supported."""
        walk = self.resolve(walk, batch)
        check_supports(self, walk, batch)
        return walk.labelled_by_structure(batch)

    @abstractmethod
    def profile(self, batch: GraphBatch, walk: Walk, out: NDArray[Any] | None = None) -> Any:
        """Return profiles, each a function of its graph alone; some methods write to `out`."""


class WalkMethod(Method):
    """A method that walks each graph alone, and whose profiles may be had as features too."""

    feature_type: ClassVar[Any] = np.float64  # of features

    @property
    def width(self) -> int:
        """Numbers of one walk length and iteration; 0 if that depends on the graphs."""
        return 0

    def adds_up(self, walk: Walk) -> Support:
        """Say whether profiles of different lengths may be added up, and their products be unbiased still."""
        return Support(
            False,
            f"lengths='summed' needs method='sketch', since sums of {self.name} mix the lengths; use lengths='stacked'",
        )

    def profile(self, batch: GraphBatch, walk: Walk, out: NDArray[Any] | None = None) -> Any:
        walk = self.resolve(walk, batch)
        exponents = choose_exponents(batch, walk.longest)
        made = self.compute(batch, walk, np.ldexp(1.0, exponents), out)
        return self._collect(made, exponents, batch, walk)

    def compute(
        self, batch: GraphBatch, walk: Walk, scales: NDArray[np.float64], out: NDArray[Any] | None = None
    ) -> Any:
        """Return the array or counts that profiles are made of; each adjacency matrix is divided by its scale."""
        batch, walk = self.prepare(walk, batch)
        return self._compute(batch, walk, scales, out)

    @abstractmethod
    def _compute(self, batch: GraphBatch, walk: Walk, scales: NDArray[np.float64], out: NDArray[Any] | None) -> Any:
        """Walk graphs that have their labels."""

    @abstractmethod
    def _collect(self, made: Any, exponents: NDArray[np.int64], batch: GraphBatch, walk: Walk) -> Any:
        """Make profiles of what was computed."""


M = TypeVar("M", bound=Method)


class Choice(str):
    """Name of a method, with the reason why it was chosen."""

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
    """Choose the first method that fits, and the reason; the last can count any walks, and the one before says why."""
    reason = ""
    for method in methods[:-1]:
        fitted = method.fitted(walk, batch)
        support = fitted.fits(walk, batch)
        reason = support.reason
        if support:
            return fitted, reason
    return methods[-1].fitted(walk, batch), reason


def check_supports(method: Method, walk: Walk, batch: GraphBatch) -> None:
    """Raise UnsupportedError, with the reason, if a method cannot count these walks."""
    check(method.supports(walk, batch))


def check(support: Support) -> None:
    """Raise UnsupportedError with the reason, if there is no support."""
    if not support:
        raise UnsupportedError(support.reason)


class Backend(NamedTuple):
    """Kernels of a device, one for each method; all devices take the same arguments."""

    moments: Callable[..., NDArray[np.float64]]
    sketch: type[SketchBlock]
    one_sided_walks: Callable[..., NDArray[np.float64]]
    voyagers: Callable[..., NDArray[np.float64]]
    empty: Callable[..., NDArray[Any]]  # a new array on the host, in memory that the device copies to fastest
    keeps: Callable[[int], bool]  # whether profiles of so many bytes stay on the device
    products: Any = None  # sums of products of sparse rows, where it has its own


_CPU = Backend(compute_moments, CpuSketch, sample_one_side, sample_both_sides, np.empty, lambda n_bytes: False)


def backend(device: str) -> Backend:
    """Find the kernels of a device."""
    if not isinstance(device, str) or device not in ("cpu", "cuda"):
        raise UnsupportedError(f"device must be 'cpu' or 'cuda', not {device!r}")
    if device == "cpu":
        return _CPU
    from gvoys._compiled.cuda import device as gpu
    from gvoys._compiled.cuda import moments_cuda as moments
    from gvoys._compiled.cuda import products_cuda as sparse
    from gvoys._compiled.cuda import sketch_cuda as sketch
    from gvoys._compiled.cuda import voyagers_cuda as voyagers

    gpu.check_cuda()
    walks = (voyagers.sample_one_side, voyagers.sample_both_sides)
    memory = (gpu.empty_on_host, gpu.has_room)
    return Backend(moments.compute_moments, sketch.GpuSketch, *walks, *memory, sparse.summed_products)


def check_device(device: str) -> None:
    """Check that there is such a device here."""
    backend(device)


def empty_for(device: str, shape: tuple[int, ...], kind: Any) -> NDArray[Any]:
    """Make a new array on the host, in memory that the device copies to fastest."""
    kernels = backend(device)
    return kernels.empty(shape, kind)
