"""Take the kernel value of two graphs apart: walk lengths, and the label sequences that they share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import GraphError, UnsupportedError
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.labels import combine_hashes, hash_integers
from gvoys.graphs.spectrum import max_degree
from gvoys.io.convert import as_batch
from gvoys.series import Geometric, Series, check_series
from gvoys.walks.attribution import spell
from gvoys.walks.checks import check_count, is_auto
from gvoys.walks.structure import check_structure, usual_labels
from gvoys.walks.walk import Walk, check_walk, takes_walk

_MOST = 5_000_000  # states of one length, a gigabyte


@dataclass(frozen=True)
class Spelled:
    """The label sequences of one walk length."""

    keys: NDArray[np.uint64]  # hashes of the sequences, sorted
    weights: NDArray[np.float64]  # the weight of all walks that spell each
    walks: NDArray[np.int64]  # the nodes of one of them
    entries: NDArray[np.int64]  # and the entries that it goes along


@dataclass(frozen=True)
class _States:
    """Walks that begin at a node and spell a sequence, merged; after a step, the entry and the state it leads to."""

    nodes: NDArray[np.int64]
    keys: NDArray[np.uint64]
    weights: NDArray[np.float64]
    entries: NDArray[np.int64]
    before: NDArray[np.int64]


def spelled_sequences(graph: GraphBatch, walk: Walk) -> list[Spelled]:
    """Count the label sequences of one graph, each with a walk that spells it."""
    start, stop = walk.ends(graph)
    labels = _hashes(graph.node_labels if walk.node_labels else None, graph.n_nodes)
    none, nodes = np.zeros(graph.n_nodes, np.int64), np.arange(graph.n_nodes)
    levels = [_States(nodes, hash_integers(labels), stop, none - 1, none - 1)]
    for length in range(1, walk.n_lengths):
        levels.append(_stepped(graph, walk, labels, levels[-1], length))
    return [_collected(levels[: length + 1], start) for length in range(walk.n_lengths)]


def _hashes(labels: Any, count: int) -> NDArray[np.uint64]:
    return np.zeros(count, np.uint64) if labels is None else labels.hashed


def _stepped(graph: GraphBatch, walk: Walk, labels: NDArray[np.uint64], states: _States, length: int) -> _States:
    """Walks with one more node in front."""
    rows, columns = graph.rows(), graph.columns()
    order = np.argsort(columns, kind="stable")
    pointers = np.concatenate([[0], np.cumsum(np.bincount(columns, minlength=graph.n_nodes))])
    fans = np.diff(pointers)[states.nodes]
    if fans.sum() > _MOST:
        raise UnsupportedError(
            f"the graph has over {_MOST:,} walks of length {length} to tell apart; pass a smaller max_length"
        )
    before = np.repeat(np.arange(len(fans)), fans)
    within = np.arange(len(before)) - np.repeat(np.cumsum(fans) - fans, fans)
    entries = order[pointers[states.nodes[before]] + within]
    if not walk.backtrack and length > 1:
        onward = rows[entries] != columns[states.entries[before]]
        before, entries = before[onward], entries[onward]
    kinds = _hashes(graph.edge_labels if walk.edge_labels else None, graph.n_entries)
    nodes = rows[entries]
    keys = combine_hashes(combine_hashes(states.keys[before], kinds[entries]), labels[nodes])
    weights = states.weights[before] * graph.weights()[entries]
    # non-backtracking walks go on by where they were, so that states with other next nodes stay apart
    indices = nodes if walk.backtrack else nodes * graph.n_nodes + columns[entries]
    states_at = np.column_stack([indices, keys.view(np.int64)])
    _, first, merged = np.unique(states_at, axis=0, return_index=True, return_inverse=True)
    total = np.bincount(merged.ravel(), weights, minlength=len(first)).astype(np.float64, copy=False)
    return _States(nodes[first], keys[first], total, entries[first], before[first])


def _collected(levels: list[_States], start: NDArray[np.float64]) -> Spelled:
    """Sequences wherever they begin, each with its first walk."""
    last = levels[-1]
    keys, first, merged = np.unique(last.keys, return_index=True, return_inverse=True)
    result = np.bincount(merged.ravel(), start[last.nodes] * last.weights, minlength=len(keys))
    weights = result.astype(np.float64, copy=False)
    walks, entries, at = [], [], first
    for level in reversed(levels):
        walks.append(level.nodes[at])
        entries.append(level.entries[at])
        at = level.before[at]
    return Spelled(keys, weights, np.column_stack(walks), np.column_stack(entries)[:, :-1])


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
