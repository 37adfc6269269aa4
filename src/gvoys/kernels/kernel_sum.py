"""The learned kernel of a Gaussian process, between any graphs: a sum of terms, each on a view of the graphs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from gvoys._compiled.cpu.distances import add_values
from gvoys.errors import ParameterError
from gvoys.graphs.batch import GraphBatch
from gvoys.kernels.covariance import SAME, Distances, Term
from gvoys.kernels.views import Surroundings, View
from gvoys.threads import threads
from gvoys.walks import SparseProfiles, Walk

Array = NDArray[np.float64]

KINDS = ("linear", "matern12", "matern32", "gaussian")

_JITTER = 1e-8  # of the largest prior variance, for landmarks that are copies of others


def kinds_of(kernel: Any) -> tuple[str, ...]:
    """The kernels of a sum such as "matern32 + linear"."""
    kinds = tuple(part.strip() for part in kernel.split("+")) if isinstance(kernel, str) else ()
    if not kinds or len(set(kinds)) < len(kinds) or not set(kinds) <= set(KINDS):
        raise ParameterError(f'kernel must be "auto", {", ".join(map(repr, KINDS))} or a sum of these, not {kernel!r}')
    return kinds


@dataclass(frozen=True)
class KernelSum:
    """A sum of terms and a constant."""

    views: tuple[View, ...]
    places: tuple[int, ...]  # the view of each term
    terms: tuple[Term, ...]
    constant: float
    n_jobs: int | None = None

    @classmethod
    def learned(
        cls, views: tuple[View, ...], places: tuple[int, ...], found: tuple[list[Term], float], held: list[Distances]
    ) -> KernelSum:
        """Build the kernel from weights in units of the fitted graphs."""
        terms, constant = found
        values = [
            replace(term, weights=term.weights / held[index].units) for term, index in zip(terms, places, strict=True)
        ]
        return cls(views, places, tuple(values), constant)

    @property
    def walks(self) -> tuple[Walk, ...]:
        """The walks of all views."""
        return tuple(view.walk for view in self.views)

    def profile(self, batch: GraphBatch) -> list[SparseProfiles]:
        """Profile graphs in every view."""
        with threads(self.n_jobs):
            return [view.profile(batch) for view in self.views]

    def values(self, left: list[SparseProfiles], right: list[SparseProfiles] | None = None) -> Array:
        """Kernel values without the constant, (n_left, n_right)."""
        right = left if right is None else right
        total = np.zeros((len(left[0]), len(right[0])))
        with threads(self.n_jobs):
            for term, index in zip(self.terms, self.places, strict=True):
                view, left_part, right_part = self.views[index], left[index], right[index]
                inner = view.weighed(term.weights, left_part, right_part)
                if term.kind == "linear":
                    total += inner
                    continue
                sizes = view.sizes(term.weights, left_part), view.sizes(term.weights, right_part)
                add_values(term.kind, term.amplitude, inner, sizes, SAME, total)
        return total

    def diagonal(self, some: list[SparseProfiles]) -> Array:
        """Return the kernel of each graph with itself, (n,)."""
        total = np.zeros(len(some[0]))
        for term, index in zip(self.terms, self.places, strict=True):
            linear = term.kind == "linear"
            total += self.views[index].sizes(term.weights, some[index]) if linear else term.amplitude
        return total

    def similarities(self, left: list[SparseProfiles], right: list[SparseProfiles] | None = None) -> Array:
        """Return the share of common surroundings, averaged over layers, (n_left, n_right).

        Kernels of distances are near one for all graphs where they are smooth, which says little.
        """
        right = left if right is None else right
        surroundings = [i for i, view in enumerate(self.views) if isinstance(view, Surroundings)]
        one = np.ones(1)
        return np.mean([self.views[i].weighed(one, left[i], right[i]) for i in surroundings], axis=0)


@dataclass(frozen=True)
class Induced:
    """Features by comparison with some graphs, the landmarks (Nyström): products approximate the kernel.

    A last column of ones is the constant.
    """

    kernel: KernelSum
    landmarks: list[SparseProfiles]
    factor: Array  # Cholesky factor of the landmarks' own values

    @classmethod
    def on(cls, kernel: KernelSum, graphs: list[SparseProfiles], count: int) -> Induced:
        """At most so many of the graphs, evenly spread.

        Graphs like most others do better than those that differ most from each other (pivoted Cholesky).
        """
        n = len(graphs[0])
        chosen = np.arange(min(count, n)) * n // max(min(count, n), 1)
        landmarks = [item.take(chosen) for item in graphs]
        K = kernel.values(landmarks)
        return cls(kernel, landmarks, np.linalg.cholesky(K + _JITTER * K.diagonal().max() * np.eye(len(K))))

    @property
    def walks(self) -> tuple[Walk, ...]:
        """Walks of the kernel."""
        return self.kernel.walks

    def on_one_thread(self) -> Induced:
        """The same, by the threads of the caller alone."""
        return replace(self, kernel=replace(self.kernel, n_jobs=None))

    @property
    def columns(self) -> NDArray[np.int64]:
        """The block of each column: the kernel, and the constant."""
        return np.append(np.zeros(len(self.factor), np.int64), 1)

    @property
    def names(self) -> list[str]:
        """Names of the blocks."""
        return ["kernel", "constant"]

    def features(self, batch: GraphBatch) -> Array:
        """(n_graphs, n_landmarks + 1)."""
        return self.features_and_lost(batch)[0]

    def features_and_lost(self, batch: GraphBatch) -> tuple[Array, Array]:
        """Features, and what they lack of K(G, G)."""
        new = self.kernel.profile(batch)
        report = solve_triangular(self.factor, self.kernel.values(new, self.landmarks).T, lower=True).T
        lost = self.kernel.diagonal(new) - np.einsum("ij,ij->i", report, report)
        return np.append(report, np.ones((len(report), 1)), axis=1), np.maximum(lost, 0.0)
