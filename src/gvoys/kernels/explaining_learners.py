"""Explanations of the classifier: support vector machines and logistic models on profiles by labels and attributes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from gvoys.errors import UnsupportedError
from gvoys.graphs.batch import GraphBatch
from gvoys.kernels.balance import BalancedProfiles
from gvoys.kernels.base_kernels import BaseKernel, Pairs
from gvoys.kernels.blocks import WalkBlocks
from gvoys.kernels.covariance import SAME, Term
from gvoys.kernels.explaining import Attribution, Block, Blocks, Gradient, Step, along_ray, weights_of_counts
from gvoys.kernels.explanation import Counted, Explanation
from gvoys.kernels.kernel_sum import Induced, KernelSum
from gvoys.kernels.posteriors import FeaturePosterior, GramPosterior, KernelPosterior
from gvoys.kernels.profiler import Profiler
from gvoys.kernels.views import Surroundings, View
from gvoys.walks import CombinedProfiles, DenseProfiles, SparseProfiles
from gvoys.walks.structure import in_layer

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Explainer:
    """Explains decisions sum_j w_j k(G, G_j) + b."""

    profiler: Profiler
    kernel: BaseKernel
    fitted: BalancedProfiles
    weights: Array  # (n_classes, n_fitted), for each class
    intercepts: Array  # (n_classes,)
    classes: NDArray[Any]

    def explain(
        self, batch: GraphBatch, graphs: BalancedProfiles, codes: NDArray[np.int64], n_sequences: int
    ) -> list[Explanation]:
        """Explain graphs with their profiles, each for the class of its code."""
        pairs = graphs.pairs(self.fitted)
        step = along_ray(self.kernel.name, self.weights[codes], pairs, self.kernel.unit)
        result = Attribution(batch, n_sequences)
        self._by_labels(result, graphs, step.gradient)
        self._by_attributes(result, graphs, step.gradient)
        intercepts = self.intercepts[codes]
        return result.explanations((step.begin + intercepts, step.end + intercepts), self.classes[codes].tolist())

    def decide(self, graphs: BalancedProfiles, codes: NDArray[np.int64]) -> Array:
        """The decisions that are explained."""
        K = self.kernel.gram(graphs.pairs(self.fitted))
        return np.asarray(np.einsum("ij,ij->i", K, self.weights[codes]) + self.intercepts[codes])

    def _by_labels(self, found: Attribution, graphs: BalancedProfiles, gradient: Gradient) -> None:
        batch, walk = self.profiler.labelled(found.batch), self.profiler.by_labels
        walk = replace(walk, refine=graphs.balance.n_iterations - 1)
        new, known = graphs.profiles.labels, self.fitted.profiles.labels
        blocks = self._blocks(graphs, gradient, "labels")
        if isinstance(new, CombinedProfiles) and isinstance(known, CombinedProfiles):
            found.add_counts(Counted(batch, walk, new.exact, weights_of_counts(new.exact, known.exact, blocks)))
            new, known = new.sketched(), known.sketched()
        if isinstance(new, SparseProfiles) and isinstance(known, SparseProfiles):
            found.add_counts(Counted(batch, walk, new, weights_of_counts(new, known, blocks)))
        elif isinstance(new, DenseProfiles) and isinstance(known, DenseProfiles):
            found.add_gradients(batch, walk, self.profiler.sketch, new, _by_values(new, known, blocks))

    def _by_attributes(self, found: Attribution, graphs: BalancedProfiles, gradient: Gradient) -> None:
        new, known = graphs.profiles.attributes, self.fitted.profiles.attributes
        if new is None or known is None or graphs.balance.attributes is None:
            return
        batch, walk, sketch = self.profiler.attributed(self.profiler.labelled(found.batch))
        by = _by_values(new, known, self._blocks(graphs, gradient, "attributes"))
        found.add_gradients(batch, walk, sketch, new, by)

    def _blocks(self, graphs: BalancedProfiles, gradient: Gradient, part: str) -> Blocks:
        return lambda _, length: Block(gradient, graphs.factors(length, part), self.fitted.factors(length, part))


def _by_values(new: DenseProfiles, known: DenseProfiles, blocks: Blocks) -> Array:
    """The gradient by the values of sketches."""
    out = np.empty(new.values.shape)
    for length in range(new.n_lengths):
        (others, values), left, right = blocks(0, length)
        out[:, length] = (others * right) @ known.values[:, length]
        out[:, length] -= (values * left)[:, None] * new.values[:, length]
        out[:, length] *= left[:, None]
    return out


@singledispatch
def explain_mean(posterior: Any, found: Attribution, target: int) -> tuple[Array, Array]:
    """Add the shares of posterior means to an attribution."""
    raise NotImplementedError


@explain_mean.register
def _(posterior: KernelPosterior, found: Attribution, target: int) -> tuple[Array, Array]:
    weights = posterior.weights.reshape(len(posterior.weights), -1)[:, target]
    constant = posterior.kernel.constant * float(weights.sum())
    return _Sum(posterior.kernel, posterior.fitted, weights).explain(found, constant)


@explain_mean.register
def _(posterior: FeaturePosterior, found: Attribution, target: int) -> tuple[Array, Array]:
    if not isinstance(posterior.walks, Induced):
        raise UnsupportedError(
            'explanations of kernel="linear" need at most max_exact graphs; fit with another kernel, or fewer graphs'
        )
    of_features, induced = posterior.root * posterior.weights, posterior.walks
    weights = solve_triangular(induced.factor, of_features[:-1], lower=True, trans="T")
    return _Sum(induced.kernel, induced.landmarks, weights).explain(found, float(of_features[-1]))


@explain_mean.register
def _(posterior: GramPosterior, found: Attribution, target: int) -> tuple[Array, Array]:
    walks, constant = posterior.walks, float(posterior.mu[-1] * posterior.weights.sum())
    new = walks.profile(found.batch)
    for index, (left, right) in enumerate(zip(new, posterior.fitted, strict=True)):
        weights = _of_blocks(posterior, walks, index, left, right)
        found.add_counts(Counted(found.batch, walks.walks[index], left, weights))
    begin = np.full(len(found.batch), constant)
    return begin, posterior.mean_of(new)


def _of_blocks(
    posterior: GramPosterior, walks: WalkBlocks, place: int, ours: SparseProfiles, theirs: SparseProfiles
) -> list[list[Array]]:
    """Weights of counts where every block is linear, and there a second time as a cosine."""
    before = sum(walk.n_iterations * walk.n_lengths for walk in walks.walks[:place])
    none, plain = np.zeros(len(ours)), len(walks.traces)
    norms = [np.sqrt(np.where(sizes > 0, sizes, 1.0)) for sizes in (ours.diagonals(), theirs.diagonals())]

    def block(r: int, i: int) -> Block:
        at = before + r * ours.n_lengths + i
        scale = np.full((len(ours), len(theirs)), posterior.mu[at] / walks.traces[at])
        if walks.cosine:
            scale += posterior.mu[at + plain] / (norms[0][r, i][:, None] * norms[1][r, i])
        return Block(Gradient(scale * posterior.weights, none), *_powers(i, ours, theirs))

    return weights_of_counts(ours, theirs, block)


def _powers(length: int, *sides: SparseProfiles) -> tuple[Array, Array]:
    """Return the powers of two that counts were divided by."""
    left, right = (np.ldexp(1.0, length * side.exponents) for side in sides)
    return left, right


@dataclass(frozen=True)
class _Sum:
    """Explains sum_j w_j K(G, G_j) with K a sum of terms."""

    kernel: KernelSum
    fitted: list[SparseProfiles]
    weights: Array  # (n_fitted,)

    def explain(self, found: Attribution, constant: float) -> tuple[Array, Array]:
        """Add all views; terms on the same view are spread together."""
        begin = np.full(len(found.batch), constant)
        end = begin.copy()
        new = self.kernel.profile(found.batch)
        for index, view in enumerate(self.kernel.views):
            terms = [term for term, i in zip(self.kernel.terms, self.kernel.places, strict=True) if i == index]
            graphs, counts = in_layer(found.batch, view.layer), new[index]
            if isinstance(view, Surroundings):
                counts = view.counts(graphs)
                weights, shares = self._of_surroundings(terms, new[index], self.fitted[index], counts)
                end += shares
            else:
                steps = [self._along(view, term, new[index], self.fitted[index]) for term in terms]
                weights = _of_walks(view, terms, steps, new[index], self.fitted[index])
                begin += sum(step.begin for step in steps)
                end += sum(step.end for step in steps)
            found.add_counts(Counted(graphs, view.walk, counts, weights, view.layer))
        return begin, end

    def _along(self, view: View, term: Term, new: SparseProfiles, fitted: SparseProfiles) -> Step:
        inner = view.weighed(term.weights, new, fitted)
        pairs = Pairs(inner, view.sizes(term.weights, new), view.sizes(term.weights, fitted))
        return along_ray(term.kind, np.broadcast_to(term.amplitude * self.weights, inner.shape), pairs, same=SAME)

    def _of_surroundings(
        self, terms: list[Term], new: SparseProfiles, fitted: SparseProfiles, counts: SparseProfiles
    ) -> tuple[list[list[Array]], Array]:
        """Weights of labels, from those of the first, second, … node that has one; and what all add."""
        common = new.gram(np.ones(1), fitted)
        sizes = [side.diagonals().sum(axis=(0, 1)) for side in (new, fitted)]
        weights = sum(float(term.weights[0]) for term in terms) * self.weights
        shared, alone, values = _along_shares(common, *sizes)
        block = Block(Gradient(weights * (shared + alone), alone @ weights), np.ones(len(new)), np.ones(len(fitted)))
        unary = weights_of_counts(new, fitted, lambda r, i: block)
        return [
            [_together(part_values, of.listing[2]) for part_values, of in zip(*rows, strict=True)]
            for rows in zip(unary, counts.blocks, strict=True)
        ], values @ weights


def _of_walks(
    view: View, terms: list[Term], steps: list[Step], new: SparseProfiles, fitted: SparseProfiles
) -> list[list[Array]]:
    """Weights of counts by all terms, each of which weighs blocks in its own way."""
    by_block = [term.weights.reshape(view.walk.n_iterations, view.walk.n_lengths) for term in terms]

    def block(r: int, i: int) -> Block:
        parts = [(values[r, i], step.gradient) for values, step in zip(by_block, steps, strict=True)]
        others, values = sum(w * part.others for w, part in parts), sum(w * part.own for w, part in parts)
        return Block(Gradient(np.asarray(others), np.asarray(values)), *_powers(i, new, fitted))

    return weights_of_counts(new, fitted, block)


def _along_shares(common: Array, left: Array, right: Array) -> tuple[Array, Array, Array]:
    """Differentiate S / (n + m - S), with S elements in common: gain of a common one, loss of any other, and the value.

    Along the ray, where t of each element of the new set is there, the value is t S / (m + t (n - S)); elements in
    common add the integral a of 1 / (m + t (n - S)) each, and others take b, so that S a - (n - S) b is the value.
    """
    either = left[:, None] + right[None, :] - common
    known = np.where(right > 0, right, 1.0)[None, :]
    alone = left[:, None] - common
    subset = np.where(alone > 0, alone, 1.0)
    adds = np.where(alone > 0, np.log1p(subset / known) / subset, 1.0 / known)
    values = np.divide(common, either, out=np.zeros_like(common), where=either > 0)
    takes = np.where(alone > 0, (common * adds - values) / subset, 0.5 * common / known**2)
    return adds, takes, values


def _together(weights: Array, counts: Array) -> Array:
    """The mean over each label's nodes, of weights that are listed one by one."""
    times = np.rint(counts).astype(np.int64)
    sums = np.bincount(np.repeat(np.arange(len(times)), times), weights, minlength=len(times))
    return np.asarray(sums / np.maximum(times, 1))
