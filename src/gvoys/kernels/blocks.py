"""One kernel per choice of labels, Weisfeiler–Lehman iteration and walk length, each of unit mean diagonal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import ParameterError
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.labels import LABEL_CHOICES
from gvoys.kernels.inputs import check_has_labels, check_walk_of_learner
from gvoys.threads import threads
from gvoys.walks import Moments, Profiles, Sequences, Sketch, SparseProfiles
from gvoys.walks.checks import check_length, is_auto
from gvoys.walks.structure import check_structure
from gvoys.walks.walk import Walk, check_walk

LONG_WALKS = Walk(5, refine="auto", backtrack=False, start="ones", stop="ones")
KINDS_OF_LABELS = {(False, False): "plain", (True, False): "node", (False, True): "edge", (True, True): "both"}


@dataclass(frozen=True)
class WalkBlocks:
    """Blocks that a profile is cut into, each divided by its trace over the fitted graphs."""

    walks: tuple[Walk, ...]  # one per choice of labels
    cosine: bool
    width: int | None  # of a block in feature space; None for exact counts
    seed: int
    n_jobs: int | None
    traces: NDArray[np.float64]  # (n_plain_blocks,)

    @classmethod
    def fitted(
        cls,
        batch: GraphBatch,
        walks: tuple[Walk, ...],
        *,
        cosine: bool = False,
        n_components: int | None = None,
        seed: int = 0,
        n_jobs: int | None = None,
        weights: NDArray[np.float64] | None = None,
    ) -> tuple[WalkBlocks, list[Any]]:
        """Take the traces of these graphs, and keep their profiles: exact, or with `n_components` features in all."""
        n_blocks = sum(walk.n_iterations * walk.n_lengths for walk in walks) * (2 if cosine else 1)
        width = None if n_components is None else max(n_components // n_blocks, 1)
        bare = cls(walks, cosine, width, seed, n_jobs, np.ones(0))
        made = bare.profile(batch)
        diagonals = _diagonals(made)
        means = diagonals.mean(axis=1) if weights is None else np.average(diagonals, axis=1, weights=weights)
        return replace(bare, traces=_positive(means)), made

    def on_one_thread(self) -> WalkBlocks:
        """The same, by the threads of the caller alone."""
        return replace(self, n_jobs=None)

    @property
    def names(self) -> list[str]:
        """Names of the blocks, such as "node walk3", "node round1 walk3" or "node walk3 cosine"."""
        plain = [
            f"{title_of(walk)}{f' round{r}' if walk.refine else ''} walk{i}"
            for walk in self.walks
            for r in range(walk.n_iterations)
            for i in range(walk.n_lengths)
        ]
        return [*plain, *(f"{name} cosine" for name in plain if self.cosine), "constant"]

    def profile(self, batch: GraphBatch) -> list[Any]:
        """Profiles of some graphs, one for each choice of labels."""
        for walk in self.walks:
            check_has_labels(batch, walk.node_labels, walk.edge_labels)
        with threads(self.n_jobs):
            return [self._method(walk).profile(batch, walk) for walk in self.walks]

    def _method(self, walk: Walk) -> Any:
        if self.width is None:
            return Sequences()
        return Moments() if walk.plain else Sketch(self.width, self.seed)

    # -- exact counts

    def grams(self, left: list[SparseProfiles], right: list[SparseProfiles] | None = None) -> NDArray[np.float64]:
        """Kernel values of every block, (n_blocks, n_left, n_right)."""
        right = left if right is None else right
        plain = np.concatenate(
            [
                left_part.grams(None if left_part is right_part else right_part)
                for left_part, right_part in zip(left, right, strict=True)
            ]
        )
        parts = [plain / self.traces[:, None, None]]
        if self.cosine:
            norms = [np.sqrt(_positive(_diagonals(side))) for side in (left, right)]
            parts.append(plain / (norms[0][:, :, None] * norms[1][:, None, :]))
        return np.concatenate([*parts, np.ones((1, *plain.shape[1:]))])

    def diagonals(self, some: list[SparseProfiles]) -> NDArray[np.float64]:
        """K(G, G) of every block, (n_blocks, n_graphs)."""
        plain = _diagonals(some)
        parts = [plain / self.traces[:, None]]
        if self.cosine:
            parts.append((plain > 0).astype(float))
        return np.concatenate([*parts, np.ones((1, plain.shape[1]))])

    # -- features

    @property
    def columns(self) -> NDArray[np.int64]:
        """The block of each column of `features`."""
        widths = [
            1 if walk.plain else self.width or 1
            for walk in self.walks
            for _ in range(walk.n_iterations * walk.n_lengths)
        ]
        return np.repeat(np.arange(len(self.names)), [*widths * (2 if self.cosine else 1), 1])

    def features(self, batch: GraphBatch) -> NDArray[np.float32]:
        """(n_graphs, n_columns): dot products within a block are its kernel, exactly or in expectation."""
        plain = [
            made.block(r, i)
            for made in self.profile(batch)
            for r in range(made.n_iterations)
            for i in range(made.n_lengths)
        ]
        parts = [block / np.sqrt(trace) for block, trace in zip(plain, self.traces, strict=True)]
        if self.cosine:
            parts += [block / np.sqrt(_positive(np.einsum("nw,nw->n", block, block)))[:, None] for block in plain]
        return np.concatenate([*parts, np.ones((len(batch), 1))], axis=1).astype(np.float32)


def walks_on(batch: GraphBatch, given: Any, refine: int) -> tuple[Walk, ...]:
    """Check one walk or several, and choose what is "auto"; `refine` is the number of iterations then."""
    walks = tuple(given) if isinstance(given, (tuple, list)) else (given,)
    if not walks:
        raise ParameterError("walk must name at least one walk")
    return tuple(_resolved(batch, LONG_WALKS if is_auto(walk) else check_walk(walk), refine) for walk in walks)


def _resolved(batch: GraphBatch, walk: Walk, refine: int) -> Walk:
    chosen: dict[str, Any] = {"labels": all_labels(batch), "refine": refine, "backtrack": False}
    chosen = {name: value for name, value in chosen.items() if is_auto(getattr(walk, name))}
    check_walk_of_learner(walk, "attribute_bandwidth", "edge_attribute_bandwidth")
    check_length(walk.max_length)
    return replace(walk, **chosen).on(batch)


def title_of(walk: Walk) -> str:
    """Return the labels that are compared, as in "node" or "core node"."""
    return " ".join((*check_structure(walk.structure), KINDS_OF_LABELS[walk.node_labels, walk.edge_labels]))


def all_labels(batch: GraphBatch) -> str | None:
    """The choice of labels that compares all that there are."""
    has = batch.node_labels is not None, batch.edge_labels is not None
    return next(name for name, used in LABEL_CHOICES.items() if used == has)


def _diagonals(profiles: Sequence[Profiles]) -> NDArray[np.float64]:
    """K(G, G) of every plain block, (n_plain_blocks, n_graphs)."""
    return np.concatenate(
        [made.diagonals().reshape(made.n_iterations * made.n_lengths, len(made)) for made in profiles]
    )


def _positive(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Where there is nothing to divide by, divide by one."""
    return np.where(values > 0, values, 1.0)
