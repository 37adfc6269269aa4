"""The explanation of a prediction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gvoys._compiled.cpu.attribution_cpu import largest_shares
from gvoys.errors import ParameterError
from gvoys.graphs.batch import GraphBatch
from gvoys.walks import SparseProfiles, Walk
from gvoys.walks.attribution import Found, spell, spell_neighbours

_SHOWN = 5  # nodes and sequences in the text of an explanation

Array = NDArray[np.float64]


@dataclass(frozen=True)
class SequenceShare:
    """A label sequence and its share in a prediction.

    Parameters
    ----------
    spelled : str
        The labels, such as "CH3–C=O"; those of a node with its neighbours are "C(–C)(–O)(=O)".
    share : float
        What its walks add to the prediction.
    count : float
        The weight of its walks: how many there are, where nodes and edges have no weights.
    nodes : tuple of int
        The nodes of one of them.
    iteration : int
        After so many Weisfeiler–Lehman iterations: walks spell it only if the surroundings of their nodes are the same
        too, up to that distance.
    layer : str
        The labels that are compared: "coarse", the first part of a label, an atom's element; "given", the label; or
        "fine", the label with degree and rings, of which only the label is spelled.
    """

    spelled: str
    share: float
    count: float
    nodes: tuple[int, ...]
    iteration: int
    layer: str

    @property
    def note(self) -> str:
        """Facts that are compared beside the labels that are spelled."""
        notes = ["fine"] * (self.layer == "fine")
        if self.iteration > 1:
            notes.append(f"within {self.iteration} steps")
        elif self.iteration and len(self.nodes) > 1:  # the neighbours of a single node are spelled
            notes.append("with neighbours")
        return ", ".join(notes)

    def __str__(self) -> str:
        return f"{self.spelled} ({self.note})" if self.note else self.spelled


@dataclass(frozen=True, repr=False)
class Explanation:
    """Why a prediction is what it is.

    Parameters
    ----------
    decision : float
        The prediction, of which the parts below are made: a number, or the decision for the class `of`; among several
        classes the sum of its decisions against each other class.
    baseline : float
        The same for a graph without walks.
    of : object
        The class that the decision is for; None for numbers.
    nodes : ndarray of shape (n_nodes,)
        The share of every node; they add up to decision - baseline.
    node_errors : ndarray of shape (n_nodes,)
        Standard errors of the shares; 0 where walks are counted rather than sketched.
    edges : ndarray of shape (n_edges, 2)
        The ends of every edge.
    edge_shares : ndarray of shape (n_edges,)
        The share of every edge; they add up to what walks of length 1 and more add.
    lengths : ndarray of shape (n_iterations, max_length + 1)
        The share of every Weisfeiler–Lehman iteration and walk length.
    sequences : list of SequenceShare
        Label sequences with the largest shares, the largest first; of those that are counted.
    graph : GraphBatch
        The graph.
    smiles : str or None, default=None
        The SMILES that the graph was read from, by which it is drawn as a molecule; None draws its nodes and edges.
    """

    decision: float
    baseline: float
    of: Any
    nodes: Array
    node_errors: Array
    edges: NDArray[np.int64]
    edge_shares: Array
    lengths: Array
    sequences: list[SequenceShare]
    graph: GraphBatch
    smiles: str | None = None

    def __repr__(self) -> str:
        what = "prediction" if self.of is None else f"decision for {self.of!r}"
        lines = [
            f"{what} {self.decision:.4g} = {self.baseline:.4g} + {self.nodes.sum():.4g} by {len(self.nodes)} nodes"
        ]
        order = np.argsort(-np.abs(self.nodes), kind="stable")[:_SHOWN].tolist()
        lines += [f"  node {node}: {self.nodes[node]:+.4g}" for node in order]
        lines += [f"  {item}: {item.share:+.4g}" for item in self.sequences[:_SHOWN]]
        return "\n".join(lines)

    def _repr_svg_(self) -> str:
        """The drawing, in notebooks."""
        from gvoys.drawing.attribution_drawing import attribution_svg

        return attribution_svg(self)

    def _repr_html_(self) -> str:
        """The drawing with fragments for label sequences, in notebooks."""
        from gvoys.drawing.attribution_drawing import attribution_html

        return attribution_html(self)

    def save(self, path: str | PathLike[str]) -> None:
        """Draw the graph, its nodes and edges coloured by their shares, into a file.

        Parameters
        ----------
        path : str or path-like
            The file, .svg, or .png with a bar for each walk length beside the drawing.

        Raises
        ------
        MissingDependencyError
            If what draws it is not installed.
        """
        from gvoys.drawing.attribution_drawing import save_attribution

        save_attribution(self, Path(path))


def with_smiles(explained: list[Explanation], graphs: Any, smiles: Sequence[str] | None) -> list[Explanation]:
    """Add the SMILES that graphs were read from: those given, or the graphs where they are SMILES."""
    from gvoys.drawing.picture import check_smiles

    if smiles is None:
        texts = graphs.tolist() if hasattr(graphs, "tolist") else graphs
        known = isinstance(texts, (list, tuple)) and all(isinstance(text, str) for text in texts)
        return _named(explained, texts) if known else explained
    if len(smiles) != len(explained):
        raise ParameterError(f"smiles must have one value for each of {len(explained)} graphs, not {len(smiles)}")
    for g, (item, text) in enumerate(zip(explained, smiles, strict=True)):
        check_smiles(text, item.graph, g)
    return _named(explained, smiles)


def _named(explained: list[Explanation], smiles: Sequence[str]) -> list[Explanation]:
    return [replace(item, smiles=text) for item, text in zip(explained, smiles, strict=True)]


@dataclass(frozen=True)
class Counted:
    """Counts of some graphs under some labels, and the weight of each in their predictions."""

    batch: GraphBatch  # the graphs as they are walked
    walk: Walk  # how they are walked
    counts: SparseProfiles  # their counts
    weights: list[list[Array]]  # by iteration and length, in the order of `Counts.listing`
    layer: str = "given"  # what their labels are

    @property
    def blocks(self) -> list[tuple[int, int]]:
        """Iterations and lengths."""
        return [(r, i) for r, row in enumerate(self.weights) for i in range(len(row))]

    def shares(self) -> Iterator[tuple[NDArray[np.int64], Array]]:
        """Where the shares of each graph begin, and the shares, block by block."""
        for r, i in self.blocks:
            pointers, _, values = self.counts.blocks[r][i].listing
            yield pointers, self.weights[r][i] * values


class Largest(NamedTuple):
    """The sequences with the largest shares of each graph, over several counts."""

    found: list[Found]  # for each of the counts
    shares: list[Array]
    counts: list[Array]

    @classmethod
    def of(cls, counted: list[Counted], n_graphs: int, count: int) -> tuple[Largest, list[Array]]:
        """At most so many of each graph; and of each counts sums of shares, (n_iterations, n_lengths, n_graphs)."""
        parts = [(owners, *block) for owners, item in enumerate(counted) for block in item.blocks]
        listed = [part_values for item in counted for part_values in item.shares()]
        begins = np.cumsum([0, *(len(shares) for _, shares in listed)])
        pointers = np.array(
            [first + part_values for first, (part_values, _) in zip(begins[:-1], listed, strict=True)], np.int64
        )
        shares = np.concatenate([shares for _, shares in listed])
        best = np.empty((n_graphs, count), np.int64)
        largest_shares(pointers.reshape(len(parts), n_graphs + 1), shares, best)
        graphs, _ = np.nonzero(best >= 0)
        kept = best[best >= 0]
        owners = np.searchsorted(begins, kept, "right") - 1
        views, iterations, lengths = np.array(parts, np.int64)[owners].T if len(kept) else np.empty((3, 0), np.int64)
        result = cls([], [], [])
        for view, item in enumerate(counted):
            part_values = np.flatnonzero(views == view)
            entries = [item.counts.blocks[r][i].listing for r, i in item.blocks]
            first = sum(len(other.blocks) for other in counted[:view])
            indices = kept[part_values] - begins[owners[part_values]]
            rows = list(zip((owners[part_values] - first).tolist(), indices.tolist(), strict=True))
            keys = np.array([entries[block][1][index] for block, index in rows], np.uint64)
            values = np.array([entries[block][2][index] for block, index in rows], np.float64)
            result.found.append(Found(graphs[part_values], iterations[part_values], lengths[part_values], keys))
            result.shares.append(shares[kept[part_values]])
            result.counts.append(np.ldexp(values, lengths[part_values] * item.counts.exponents[graphs[part_values]]))
        return result, [_by_block(item) for item in counted]


def _by_block(counted: Counted) -> Array:
    """Sums of the shares, (n_iterations, n_lengths, n_graphs)."""
    counts = counted.counts
    out = np.zeros((counts.n_iterations, counts.n_lengths, len(counts)))
    for (r, i), (pointers, shares) in zip(counted.blocks, counted.shares(), strict=True):
        out[r, i] = np.bincount(np.repeat(np.arange(len(counts)), np.diff(pointers)), shares, minlength=len(counts))
    return out


@dataclass(frozen=True)
class Candidate:
    """A sequence that may be named, with the nodes and entries of one of its walks."""

    share: float
    count: float
    iteration: int
    layer: str
    walk: Walk
    way: tuple[NDArray[np.int64], NDArray[np.int64]]

    def named(self, batches: dict[str, GraphBatch], graph: int, unit: float) -> SequenceShare:
        """Spelled by the labels that people know; nodes are numbered within the graph."""
        nodes, entries = self.way
        batch = batches[self.layer]
        spelled = spell(batch, self.walk, nodes, entries)
        if not batch.directed:
            spelled = min(spelled, spell(batch, self.walk, nodes[::-1], entries[::-1]))
        if self.iteration and len(nodes) == 1:
            spelled = spell_neighbours(batch, self.walk, int(nodes[0]))
        within = tuple((nodes - batch.node_offsets[graph]).tolist())
        return SequenceShare(spelled, unit * self.share, self.count, within, self.iteration, self.layer)


def merged(named: list[SequenceShare], count: int) -> list[SequenceShare]:
    """The largest ones, the largest first; a sequence and the same backwards are one.

    In undirected graphs they are spelled alike and have the same share, by which they are known.
    """
    result: dict[Any, SequenceShare] = {}
    for index, each in enumerate(named):
        alone = index if len(each.nodes) == 1 else -1  # a single label has no other direction
        key = (alone, each.layer, each.iteration, each.spelled, f"{each.share:.9g}", f"{each.count:.9g}")
        other = result.get(key)
        if other is not None:
            each = replace(other, share=other.share + each.share, count=other.count + each.count)
        result[key] = each
    return sorted(result.values(), key=lambda each: -abs(each.share))[:count]
