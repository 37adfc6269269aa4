"""The posterior of all nodes: means, variances and samples."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from gvoys.nodes.matrices import on_host
from gvoys.nodes.node_likelihood import dense_terms
from gvoys.nodes.observations import Observations
from gvoys.nodes.variances import Moderated, moderate

_SAMPLE_TOL = 2e-2  # of systems for samples, whose squares 16 of them know to a third
_MEAN_TOL = 1e-3  # of the system for the constant mean
_EXACT = 2e10  # entries that are added up for exact variances at most
_DENSE = 1000  # measured values, likewise
_AT_ONCE = 64  # columns, likewise

Array = NDArray[Any]


@dataclass(frozen=True)
class NodePosterior:
    """A Gaussian process of the nodes given measured values, whose constant mean is not known before."""

    seen: Observations  # the covariance of the values
    mean: float  # the constant mean, estimated
    alpha: Array  # the covariance's inverse times what the values differ from the mean
    ones: Array  # the covariance's inverse times ones

    @cached_property
    def unexplained(self) -> Array:
        """Weight of the constant mean in each node's prediction, (n_nodes,)."""
        return 1.0 - on_host(self.seen.spread(self.ones)[:, 0]).astype(np.float64)

    @property
    def mean_variance(self) -> float:
        """Variance of the estimated mean."""
        return 1.0 / max(float(self.ones.sum(dtype=np.float64)), 1e-300)

    def means(self) -> Array:
        """Means of all nodes, by row."""
        return self.mean + on_host(self.seen.spread(self.alpha)[:, 0]).astype(np.float64)

    def variances(self, n_samples: int, seed: int, known: Array) -> Array:
        """Variances of all nodes' functions, by row: exact where graph and values are few, else from samples."""
        of_mean = self.unexplained**2 * self.mean_variance
        sparse = self.seen.prior.matrix.sparse
        work = float(len(sparse.indices) + len(sparse.left)) * len(sparse.left) * 24
        if self.seen.n_observed <= _DENSE and work <= _EXACT:
            return np.asarray(self._exact_variances() + of_mean)
        squares = on_host((self.deviations(n_samples, seed) ** 2).mean(axis=1, dtype=np.float64))
        moderated: Moderated = moderate(squares, n_samples, np.column_stack([known, self.unexplained]))
        return np.asarray(moderated.widened + of_mean)

    def _exact_variances(self) -> Array:
        seen = self.seen
        covariance = np.tensordot(seen.weights, dense_terms(seen.prior, seen.rows), 1)
        covariance[np.diag_indices(seen.n_observed)] += seen.noise
        factor = cho_factor(covariance, lower=True)
        n = seen.prior.matrix.n_nodes
        out = np.empty(n)
        for first in range(0, n, _AT_ONCE):
            block = np.arange(first, min(first + _AT_ONCE, n))
            units = np.zeros((n, len(block)), seen.kind)
            units[block, np.arange(len(block))] = 1.0
            columns = on_host(seen.prior.apply(seen.weights, seen.put(units), 0.0)).astype(np.float64)
            own_values, observed_values = columns[block, np.arange(len(block))], columns[seen.rows]
            out[block] = own_values - np.einsum("ij,ij->j", observed_values, cho_solve(factor, observed_values))
        return np.maximum(out, 0.0)

    def deviations(self, count: int, seed: int) -> Array:
        """Samples of what nodes differ from their means, (n_nodes, count), by row; the mean is taken as it is.

        A function drawn from the prior, with noise at the measured nodes, less its own prediction from there
        (Wilson et al. 2020).
        """
        generator, seen = np.random.default_rng([seed, 2]), replace(self.seen, share=_SAMPLE_TOL)
        drawn = generator.standard_normal((seen.prior.matrix.n_nodes, count), dtype=seen.kind)
        prior = seen.prior.root(seen.weights, seen.put(drawn))
        solved = seen.solve(prior[seen.places] + seen.draw_noise(generator, count), _SAMPLE_TOL).X
        return prior - seen.spread(solved)

    def samples(self, count: int, seed: int) -> Array:
        """Functions drawn from the posterior, (n_nodes, count), by row."""
        shifts = np.random.default_rng([seed, 3]).normal(size=count) * np.sqrt(self.mean_variance)
        fields = on_host(self.deviations(count, seed)).astype(np.float64)
        return self.means()[:, None] + fields + self.unexplained[:, None] * shifts


def condition(seen: Observations, y: Array, tol: float, start: Array | None = None) -> NodePosterior:
    """Condition a process on values."""
    begin = None if start is None else np.concatenate([start, np.zeros_like(start)], axis=1)
    ends = seen.put(np.column_stack([y, np.ones(seen.n_observed)]))
    # of many values, the constant mean need not be known as closely as the others
    solved = seen.solve(ends, tol if start is None else (tol, max(tol, _MEAN_TOL)), begin).X
    of_values, of_ones = solved[:, :1], solved[:, 1:]
    mean = float(of_values.sum(dtype=np.float64) / max(of_ones.sum(dtype=np.float64), 1e-300))
    return NodePosterior(seen, mean, of_values - seen.kind(mean) * of_ones, of_ones)
