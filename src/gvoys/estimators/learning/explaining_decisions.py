"""Explanations of the classifier: support vector machines and logistic models on profiles by labels and attributes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.estimators.learning.balance import BalancedProfiles
from gvoys.estimators.learning.base_kernels import BaseKernel
from gvoys.estimators.learning.explaining import Attribution, Block, Blocks, Gradient, along_ray, weights_of_counts
from gvoys.estimators.learning.explanation import Explanation
from gvoys.estimators.learning.profiler import Profiler
from gvoys.estimators.learning.spelled import Counted
from gvoys.graphs.batch import GraphBatch
from gvoys.walks import CombinedProfiles, DenseProfiles, SparseProfiles

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
