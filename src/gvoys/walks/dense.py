"""Dense profiles: moments, sketches and sampled walks."""

from __future__ import annotations

from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys._compiled.cuda.device import to_host
from gvoys._compiled.cuda.products_cuda import symmetric_product
from gvoys.walks.profiles import Comparable, Profiles, check_finite, gram_with_error, rounding_floor

_BYTES_AT_ONCE = 1 << 24  # of profiles whose squares are added up
_SAFE_FACTORS = (2.0**-40, 2.0**40)  # factors that take no float32 number of a profile out of range


class DenseProfiles(Profiles):
    """Profiles of fixed width."""

    def __init__(
        self,
        values: NDArray[Any],
        exponents: NDArray[np.int64],
        n_iterations: int = 1,
        rounding: NDArray[np.float64] | None = None,
    ) -> None:
        super().__init__(exponents, n_iterations, values.shape[1])
        self.values = values
        self.rounding = rounding

    @property
    def width(self) -> int:
        """Components of one iteration and length."""
        return int(self.values.shape[2]) // self.n_iterations

    def take(self, graphs: Any) -> DenseProfiles:
        rounding = None if self.rounding is None else self.rounding[graphs]
        return DenseProfiles(self.values[graphs], self.exponents[graphs], self.n_iterations, rounding)

    def joined(self, others: list[DenseProfiles]) -> DenseProfiles:
        profiles = [self, *others]
        rounding = None if self.rounding is None else np.concatenate([profile.rounding for profile in profiles])
        exponents = np.concatenate([profile.exponents for profile in profiles])
        return DenseProfiles(
            np.concatenate([profile.values for profile in profiles]), exponents, self.n_iterations, rounding
        )

    def iterations(self, count: int) -> DenseProfiles:
        if count == self.n_iterations:
            return self
        return DenseProfiles(self.values[:, :, : count * self.width].copy(), self.exponents, count, self.rounding)

    def block(self, iteration: int, length: int) -> NDArray[np.float64]:
        part = self.values[:, length, iteration * self.width : (iteration + 1) * self.width]
        return np.ldexp(part.astype(np.float64), (self.exponents * length)[:, None])

    def features(self, mu: Any, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Return one row per graph, whose products are the kernel: length after length, iteration after iteration."""
        out = np.empty(self.values.shape, self.values.dtype) if out is None else out
        if out is not self.values:
            out[:] = self.values
        with np.errstate(over="ignore", invalid="ignore"):
            factors = self.roots(mu).astype(out.dtype)
            blocks = out.reshape(len(self), self.n_lengths, self.n_iterations, self.width)
            np.multiply(blocks, factors[..., None], out=blocks)
        return out.reshape(len(self), out.shape[1] * out.shape[2])

    def columns(self, roots: NDArray[np.float64], begin: int, end: int) -> NDArray[np.float64]:
        """Return some components of every length and iteration, as features in double precision."""
        part = self._blocks[..., begin:end]
        return _weighed(part, roots[..., None]).reshape(len(self), np.prod(part.shape[1:], dtype=int))

    def _products(self, mu: Any, right: Any, cosine: bool, error: bool) -> tuple[Any, Any]:
        roots, right_roots = self.roots(mu), right.roots(mu)
        if self.rounding is None:
            left_columns = self.columns(roots, 0, self.width)
            K = left_columns @ (left_columns if right is self else right.columns(right_roots, 0, self.width)).T
            return K, np.zeros(K.shape)
        right_side = None if right is self else partial(right.columns, right_roots)
        K, spread = gram_with_error(partial(self.columns, roots), right_side, self.width, cosine, error)
        if error:
            left, other = (np.asarray(side.rounding, like=spread) for side in (self, right))
            spread = np.hypot(spread, rounding_floor(left, other, self.diagonal(mu), right.diagonal(mu)))
        return K, spread

    def _diagonal(self, roots: NDArray[np.float64]) -> NDArray[np.float64]:
        out = np.empty(len(self), like=self.values)
        step = max(_BYTES_AT_ONCE // max(self.values[:1].nbytes, 1), 1)
        for first in range(0, len(self), step):
            rows = slice(first, first + step)
            weighed = _weighed(self._blocks[rows], roots[rows, ..., None], self.values.dtype)
            weighed = weighed.reshape(self.values[rows].shape)
            out[rows] = np.einsum("nij,nij->n", weighed, weighed, dtype=np.float64)
        return out

    def _diagonals(self) -> NDArray[np.float64]:
        squares = np.einsum("nlrw,nlrw->rln", self._blocks, self._blocks, dtype=np.float64)
        powers = (2 * np.arange(self.n_lengths)[:, None] * self.exponents).astype(np.int32)
        return np.ldexp(squares, np.asarray(powers, like=squares))

    @property
    def _blocks(self) -> NDArray[Any]:
        return self.values.reshape(len(self), self.n_lengths, self.n_iterations, self.width)


def _weighed(values: NDArray[Any], roots: NDArray[np.float64], kind: Any = np.float64) -> NDArray[Any]:
    """Multiply values by roots in `kind`, rounded as in the precision of the values, but never out of its range."""

    def convert(factors: NDArray[Any], kind: Any) -> Any:
        return np.asarray(factors.astype(kind, copy=False), like=values)

    if values.dtype == np.float64:
        return values * convert(roots, np.float64)
    used = np.abs(roots[roots != 0])
    if not used.size or (used.min() > _SAFE_FACTORS[0] and used.max() < _SAFE_FACTORS[1]):
        return (values * convert(roots, values.dtype)).astype(kind, copy=False)
    # powers of two wait until the product is in double precision, which changes no other bit
    mantissas, exponents = np.frexp(roots)
    exact = (values * convert(mantissas, values.dtype)).astype(np.float64)
    return np.ldexp(exact, convert(exponents, np.int32))


class PairedProfiles(Profiles):
    """Two independent replicates of sampled walks, whose products are unbiased even for a graph with itself."""

    def __init__(self, first: DenseProfiles, second: DenseProfiles) -> None:
        super().__init__(first.exponents, first.n_iterations, first.n_lengths)
        self.first, self.second = first, second

    def take(self, graphs: Any) -> PairedProfiles:
        return PairedProfiles(self.first.take(graphs), self.second.take(graphs))

    def joined(self, others: list[PairedProfiles]) -> PairedProfiles:
        return PairedProfiles(
            self.first.joined([profile.first for profile in others]),
            self.second.joined([profile.second for profile in others]),
        )

    def block(self, iteration: int, length: int) -> NDArray[np.float64]:
        return self.first.block(iteration, length)

    def features(self, mu: Any) -> NDArray[Any]:
        return self.first.features(mu)

    def _diagonals(self) -> NDArray[np.float64]:
        products = np.einsum("nlw,nlw->ln", self.first.values, self.second.values)
        return np.ldexp(products, 2 * np.arange(self.n_lengths)[:, None] * self.exponents)[None]

    def _diagonal(self, roots: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.einsum("nlw,nlw,nl->n", self.first.values, self.second.values, roots[..., 0] ** 2)

    def _columns(self, roots: NDArray[np.float64], begin: int, end: int, swapped: bool = False) -> NDArray[np.float64]:
        parts = [half.columns(roots, begin, end) / np.sqrt(2.0) for half in (self.first, self.second)]
        return np.hstack(parts[::-1] if swapped else parts)

    def _products(self, mu: Any, right: Any, cosine: bool, error: bool) -> tuple[Any, Any]:
        # (X Y' + Y X') / 2: the replicates of one side are swapped
        right_side = partial(right._columns, right.roots(mu), swapped=True)
        K, spread = gram_with_error(partial(self._columns, self.roots(mu)), right_side, self.first.width, error=error)
        if right is self:  # symmetric to the bit, as other methods are
            K, spread = (K + K.T) / 2.0, (spread + spread.T) / 2.0
        return K, spread


class ResidentProfiles(DenseProfiles):
    """Profiles of fixed width on the GPU; whatever needs them on the host copies them there, once."""

    def __init__(
        self,
        on_device: Any,
        exponents: NDArray[np.int64],
        n_iterations: int = 1,
        rounding: NDArray[np.float64] | None = None,
    ) -> None:
        Profiles.__init__(self, exponents, n_iterations, on_device.shape[1])
        self.on_device, self.rounding = on_device, rounding

    @cached_property
    def values(self) -> NDArray[Any]:  # type: ignore[override]
        """Values on the host."""
        return to_host(self.on_device)

    @cached_property
    def _there(self) -> DenseProfiles:
        """Profiles for arithmetic on the GPU."""
        return DenseProfiles(self.on_device, self.exponents, self.n_iterations, self.rounding)

    @property
    def width(self) -> int:
        return self._there.width

    def take(self, graphs: Any) -> ResidentProfiles:
        return self._resident(self._there.take(graphs))

    def joined(self, others: list[DenseProfiles]) -> DenseProfiles:
        resident = [profile._there for profile in others if isinstance(profile, ResidentProfiles)]
        if len(resident) < len(others):
            return super().joined(others)
        return self._resident(self._there.joined(resident))

    def iterations(self, count: int) -> ResidentProfiles:
        return self._resident(self._there.iterations(count))

    @staticmethod
    def _resident(made: DenseProfiles) -> ResidentProfiles:
        return ResidentProfiles(made.values, made.exponents, made.n_iterations, made.rounding)

    def compare(
        self, mu: Any, other: Comparable | None = None, normalize: bool = False, error: bool = True
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        same = other is None or other is self
        K, spread = self._there.compare(mu, None if same else self._move(other), normalize, error)
        K, spread = (K + K.T) / 2.0 if same else K, spread
        return to_host(K), to_host(spread) if error else np.broadcast_to(np.nan, K.shape)

    def _move(self, other: Any) -> DenseProfiles:
        if isinstance(other, ResidentProfiles):
            return other._there
        values = np.asarray(other.values, like=self.on_device)
        return DenseProfiles(values, other.exponents, other.n_iterations, other.rounding)

    def _diagonal(self, roots: NDArray[np.float64]) -> NDArray[np.float64]:
        return to_host(self._there._diagonal(roots))

    def _diagonals(self) -> NDArray[np.float64]:
        return to_host(self._there._diagonals())

    def single_gram(self, mu: Any) -> NDArray[np.float32]:
        """Form the Gram matrix in single precision."""
        roots = np.asarray(self.roots(mu).astype(np.float32), like=self.on_device)
        weighed = self._there._blocks * roots[..., None]
        K = symmetric_product(weighed.reshape(len(self), -1))
        check_finite(K)
        return to_host(K)

    def __reduce__(self) -> Any:  # pickled as profiles on the host
        return DenseProfiles, (self.values, self.exponents, self.n_iterations, self.rounding)
