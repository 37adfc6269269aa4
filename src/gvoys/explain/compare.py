"""Take the kernel value of two graphs apart: walk lengths, and the label sequences that they share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import GraphError, UnsupportedError
from gvoys.explain.spelling import Spelled, spelled_sequences
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.degrees import max_degree
from gvoys.io.convert import as_batch
from gvoys.series import Geometric, Series, check_series
from gvoys.walks.checks import check_count, is_auto
from gvoys.walks.layers import usual_labels
from gvoys.walks.spelling import spell
from gvoys.walks.structure import check_structure
from gvoys.walks.walk import Walk, check_walk, takes_walk

_SHOWN = 10  # sequences in the text of a comparison


@dataclass(frozen=True)
class SharedSequence:
    """A label sequence that two graphs share."""

    spelled: str  # the labels, such as "CH3–C=O"
    length: int  # number of steps
    contribution: float  # what it adds to the kernel value
    weights: tuple[float, float]  # the weight of the walks that spell it, in each graph
    walks: tuple[tuple[int, ...], tuple[int, ...]]  # the nodes of one such walk in each graph


@dataclass(frozen=True, repr=False)
class Comparison:
    """The parts of the kernel value of two graphs."""

    value: float  # the kernel value
    similarity: float  # the value divided by the root of those of each graph with itself; 0 where a graph has no walks
    lengths: NDArray[np.float64]  # what each walk length adds to the value
    sequences: list[SharedSequence]  # the label sequences that add most, the largest first
    n_shared: int  # how many sequences the graphs share

    def __repr__(self) -> str:
        lines = [f"kernel {self.value:.6g}, similarity {self.similarity:.3f}, {self.n_shared} shared sequences"]
        size = self.value or 1.0
        lines += [f"  length {i}: {share / size:6.1%}" for i, share in enumerate(self.lengths)]
        lines += [f"  {sequence.spelled}: {sequence.contribution / size:.1%}" for sequence in self.sequences[:_SHOWN]]
        return "\n".join(lines)


@takes_walk()
def compare(
    g: Any,
    h: Any,
    series: Series = Geometric("auto"),  # noqa: B008 (immutable)
    walk: Walk = Walk(),  # noqa: B008
    *,
    top: int = 20,
) -> Comparison:
    """Say what the kernel value of two graphs is made of.

    Parameters
    ----------
    g, h : graph
        Two graphs, or SMILES.
    series : Series, default=Geometric("auto")
        Weights of the walk lengths; ``decay="auto"`` becomes 1 / d_max^2 of the two graphs.
    walk : Walk, default=Walk()
        What is counted, without refinement and attributes. ``labels="auto"`` uses the bonds of molecules too.
    top : int, default=20
        Number of label sequences that are listed.

    Returns
    -------
    Comparison
        The value with its parts, which add up to it.

    Raises
    ------
    UnsupportedError
        If a graph has too many walks to tell apart, or label sequences do not say what is counted.

    Examples
    --------
    >>> import gvoys as gv
    >>> found = gv.compare("CC(=O)O", "CC(=O)N", walk=gv.Walk(max_length=2))
    >>> found.sequences[0].spelled, bool(abs(found.lengths.sum() - found.value) < 1e-12)
    ('O', True)
    """
    pair = _as_pair(g, h)
    walk = check_walk(walk)
    if is_auto(walk.labels):
        walk = replace(walk, labels=usual_labels(pair))
    walk = walk.on(pair)
    if walk.refine or walk.attributed or check_structure(walk.structure):
        raise UnsupportedError("compare cannot spell refine, structure or attributes; RandomWalkKernel has the value")
    series = check_series(series).resolved(lambda: max_degree(pair))
    mu, count = series.coefficients(walk.longest), check_count(top, "top", least=0)
    halves = walk.on_pair(pair[0].n_nodes)
    left_sequences, right_sequences = (spelled_sequences(pair[i], halves[i]) for i in range(2))
    shared = [_shared(mu[i], *both) for i, both in enumerate(zip(left_sequences, right_sequences, strict=True))]
    lengths = np.array([float(parts.sum()) for parts, _, _ in shared])
    norms = [
        sum(float(mu[i] * (sequences.weights**2).sum()) for i, sequences in enumerate(side))
        for side in (left_sequences, right_sequences)
    ]
    value, size = float(lengths.sum()), float(np.sqrt(norms[0] * norms[1]))
    ranked = sorted(
        ((parts[k], i, k) for i, (parts, _, _) in enumerate(shared) for k in _largest(parts, count)), reverse=True
    )
    shared_sequences = []
    for contribution, i, k in ranked[:count]:
        positions = shared[i][1][k], shared[i][2][k]
        both = tuple(zip((left_sequences[i], right_sequences[i]), positions, strict=True))
        shared_sequences.append(
            SharedSequence(
                spell(pair[0], walk, left_sequences[i].walks[positions[0]], left_sequences[i].entries[positions[0]]),
                i,
                float(contribution),
                tuple(float(side.weights[position]) for side, position in both),  # type: ignore[arg-type]
                tuple(tuple(side.walks[position].tolist()) for side, position in both),  # type: ignore[arg-type]
            )
        )
    n_shared = sum(len(parts) for parts, _, _ in shared)
    return Comparison(value, value / size if size > 0 else 0.0, lengths, shared_sequences, n_shared)


def _as_pair(g: Any, h: Any) -> GraphBatch:
    if not any(isinstance(side, GraphBatch) for side in (g, h)):
        return as_batch([g, h])
    sides = [side if isinstance(side, GraphBatch) else as_batch([side]) for side in (g, h)]
    for name, side in zip("gh", sides, strict=True):
        if len(side) != 1:
            raise GraphError(f"{name} must be one graph, but it is a batch of {len(side)}; select one, as in batch[0]")
    return GraphBatch.concatenate(sides)


def _shared(mu: float, ours: Spelled, theirs: Spelled) -> tuple[NDArray[np.float64], NDArray[Any], NDArray[Any]]:
    """Return what shared sequences of one length add, and their positions in both graphs."""
    _, left, right = np.intersect1d(ours.keys, theirs.keys, assume_unique=True, return_indices=True)
    return mu * ours.weights[left] * theirs.weights[right], left, right


def _largest(parts: NDArray[np.float64], count: int) -> list[int]:
    return np.argsort(-parts, kind="stable")[:count].tolist()
