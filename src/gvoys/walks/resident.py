"""Profiles that stay on the GPU, where their Gram matrices are formed."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys._compiled.cuda.device import to_host
from gvoys._compiled.cuda.products_cuda import symmetric_product
from gvoys.walks.dense import DenseProfiles
from gvoys.walks.profiles import Comparable, Profiles, check_finite


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
        """The same on the host."""
        return to_host(self.on_device)

    @cached_property
    def _there(self) -> DenseProfiles:
        """The same for arithmetic on the GPU."""
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
        K, spread = self._there.compare(mu, None if same else self._brought(other), normalize, error)
        K, spread = (K + K.T) / 2.0 if same else K, spread
        return to_host(K), to_host(spread) if error else np.broadcast_to(np.nan, K.shape)

    def _brought(self, other: Any) -> DenseProfiles:
        if isinstance(other, ResidentProfiles):
            return other._there
        values = np.asarray(other.values, like=self.on_device)
        return DenseProfiles(values, other.exponents, other.n_iterations, other.rounding)

    def _diagonal(self, roots: NDArray[np.float64]) -> NDArray[np.float64]:
        return to_host(self._there._diagonal(roots))

    def _diagonals(self) -> NDArray[np.float64]:
        return to_host(self._there._diagonals())

    def single_gram(self, mu: Any) -> NDArray[np.float32]:
        """The Gram matrix in single precision."""
        roots = np.asarray(self.roots(mu).astype(np.float32), like=self.on_device)
        weighed = self._there._blocks * roots[..., None]
        K = symmetric_product(weighed.reshape(len(self), -1))
        check_finite(K)
        return to_host(K)

    def __reduce__(self) -> Any:
        """Pickled as profiles on the host."""
        return DenseProfiles, (self.values, self.exponents, self.n_iterations, self.rounding)
