"""One kernel per choice of labels, Weisfeiler–Lehman iteration and walk length, each of unit mean diagonal."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gvoys.errors import ParameterError
from gvoys.estimators.vocabulary import Vocabulary, sparse_gram, squared_norms
from gvoys.graphs.batch import GraphBatch
from gvoys.threads import threads
from gvoys.walks.profiles import moment_profiles, sequence_rounds, sketch_profiles
from gvoys.walks.settings import Settings, check_length, check_settings, choose_labels, choose_scale

__all__ = ["ExactBlocks", "WalkBlocks"]


@dataclass(frozen=True)
class ExactBlocks:
    """Some graphs: for each block their counts of the known label sequences, and K(G, G) over all of them."""

    counts: list[sp.csr_array]
    diagonals: NDArray[np.float64]  # (n_plain_blocks, n_graphs)


@dataclass(frozen=True)
class WalkBlocks:
    """How graphs are cut into blocks. Traces and known sequences come from the graphs of `fitted`."""

    settings: tuple[Settings, ...]  # one per choice of labels
    kinds: tuple[str, ...]
    max_length: int
    cosine: bool
    width: int | None  # of a block in feature space; None for exact counts
    n_jobs: int | None
    traces: NDArray[np.float64] | None = None  # (n_plain_blocks,)
    vocabularies: tuple[Vocabulary, ...] = ()

    @classmethod
    def fitted(
        cls,
        batch: GraphBatch,
        *,
        max_length: int,
        labels: Any,
        cosine: bool = False,
        n_components: int | None = None,
        start: Any = "ones",
        stop: Any = "ones",
        refine: int = 0,
        backtrack: bool = True,
        seed: int = 0,
        n_jobs: int | None = None,
    ) -> WalkBlocks:
        """Choose labels and scale, and take the traces (and the sequences, where counts are exact) of these graphs."""
        chosen = labels if isinstance(labels, (tuple, list)) else (labels,)
        if not chosen:
            raise ParameterError("labels must name at least one choice")
        scale = choose_scale(batch)
        settings = []
        for name in chosen:
            node, edge = choose_labels(batch, name)
            settings.append(Settings(start, stop, node, edge, refine, backtrack, None, seed, scale))
            check_settings(batch, settings[-1])
        kinds = tuple(_kind(one) for one in settings)
        length = check_length(max_length)
        n_blocks = len(settings) * (refine + 1) * (length + 1) * (2 if cosine else 1)
        width = None if n_components is None else max(n_components // n_blocks, 1)
        bare = cls(tuple(settings), kinds, length, cosine, width, n_jobs)
        return bare._with_exact(batch) if width is None else replace(bare, traces=_traces(bare._plain(batch)))

    @property
    def n_rounds(self) -> int:
        """Rounds of refinement, the labels as given included."""
        return self.settings[0].refine + 1

    @property
    def names(self) -> list[str]:
        """What each block is, as in "node walk3", "node round1 walk3" or "node walk3 cosine"."""
        rounds = [f" round{r}" for r in range(self.n_rounds)] if self.n_rounds > 1 else [""]
        plain = [f"{kind}{r} walk{i}" for kind in self.kinds for r in rounds for i in range(self.max_length + 1)]
        return [*plain, *(f"{name} cosine" for name in plain if self.cosine), "constant"]

    # -- exact counts

    def _with_exact(self, batch: GraphBatch) -> WalkBlocks:
        counted = self._count(batch)
        vocabularies = tuple(Vocabulary.from_counts([[counts]]) for counts in counted)
        return replace(self, vocabularies=vocabularies, traces=_positive(_diagonals(counted, len(batch)).mean(axis=1)))

    def _count(self, batch: GraphBatch) -> list[Any]:
        with threads(self.n_jobs):
            rounds = [lengths for one in self.settings for lengths in sequence_rounds(batch, self.max_length, one)]
        return [counts for lengths in rounds for counts in lengths]

    def exact(self, batch: GraphBatch) -> ExactBlocks:
        """Counts of label sequences of each length."""
        counted = self._count(batch)
        one = np.ones((1, 1))
        known = [
            vocabulary.features([[counts]], one, len(batch))
            for vocabulary, counts in zip(self.vocabularies, counted, strict=True)
        ]
        return ExactBlocks(known, _diagonals(counted, len(batch)))

    def grams(self, left: ExactBlocks, right: ExactBlocks) -> NDArray[np.float64]:
        """Kernel values of every block, (n_blocks, n_left, n_right)."""
        assert self.traces is not None
        plain = np.array(
            [sparse_gram(a, a if left is right else b) for a, b in zip(left.counts, right.counts, strict=True)]
        )
        parts = [plain / self.traces[:, None, None]]
        if self.cosine:
            norms = np.sqrt(_positive(left.diagonals))[:, :, None] * np.sqrt(_positive(right.diagonals))[:, None, :]
            parts.append(plain / norms)
        return np.concatenate([*parts, np.ones((1, *plain.shape[1:]))])

    def grams_among(self, batch: GraphBatch) -> NDArray[np.float64]:
        """Kernel values between these graphs, over all their sequences, known or not."""
        own = replace(self._with_exact(batch), traces=self.traces)
        held = own.exact(batch)
        return own.grams(held, held)

    def diagonals(self, some: ExactBlocks) -> NDArray[np.float64]:
        """K(G, G) of every block, (n_blocks, n_graphs)."""
        assert self.traces is not None
        parts = [some.diagonals / self.traces[:, None]]
        if self.cosine:
            parts.append((some.diagonals > 0).astype(float))
        return np.concatenate([*parts, np.ones((1, some.diagonals.shape[1]))])

    # -- features

    @property
    def columns(self) -> NDArray[np.int64]:
        """The block of each column of `features`."""
        n_blocks = self.n_rounds * (self.max_length + 1)
        widths = [1 if one.plain else self.width or 1 for one in self.settings for _ in range(n_blocks)]
        return np.repeat(np.arange(len(self.names)), [*widths * (2 if self.cosine else 1), 1])

    def _plain(self, batch: GraphBatch) -> list[NDArray[Any]]:
        """One array of (n_graphs, width) per block, unscaled."""
        parts: list[NDArray[Any]] = []
        with threads(self.n_jobs):
            for one in self.settings:
                made: NDArray[Any] = (
                    moment_profiles(batch, self.max_length, one)
                    if one.plain
                    else sketch_profiles(batch, self.max_length, self.width or 1, one)
                )
                for part in np.split(made, self.n_rounds, axis=2):
                    parts += [part[:, i] for i in range(self.max_length + 1)]
        return parts

    def features(self, batch: GraphBatch) -> NDArray[np.float32]:
        """(n_graphs, n_columns): dot products within a block are its kernel, exactly or in expectation."""
        assert self.traces is not None
        plain = self._plain(batch)
        parts = [block / np.sqrt(trace) for block, trace in zip(plain, self.traces, strict=True)]
        if self.cosine:
            parts += [block / np.sqrt(_positive(_squares(block)))[:, None] for block in plain]
        return np.concatenate([*parts, np.ones((len(batch), 1))], axis=1).astype(np.float32)


def _kind(settings: Settings) -> str:
    kinds = {(False, False): "plain", (True, False): "node", (False, True): "edge", (True, True): "both"}
    return kinds[settings.node_labels, settings.edge_labels]


def _diagonals(counted: list[Any], n_graphs: int) -> NDArray[np.float64]:
    one = np.ones((1, 1))
    return np.array([squared_norms([[counts]], one, n_graphs) for counts in counted])


def _squares(block: NDArray[Any]) -> NDArray[np.float64]:
    return np.einsum("nw,nw->n", block, block, dtype=np.float64)


def _traces(blocks: list[NDArray[Any]]) -> NDArray[np.float64]:
    return _positive(np.array([_squares(block).mean() for block in blocks]))


def _positive(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Where there is nothing to divide by, divide by one."""
    return np.where(values > 0, values, 1.0)
