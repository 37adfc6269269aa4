"""Arguments of kernels: arrays that belong together, by name.

A kernel takes its tuples apart before its loops: each time that an array is fetched from one, Numba counts a reference.
None settles a question at compile time where it is an argument by itself, and a parallel loop takes no tuple within a
tuple: hence drivers of one parallel loop each, which call a function for all that a thread does.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Tasks(NamedTuple):
    """Graphs, and where the share of each task begins and ends among them."""

    graphs: Any
    bounds: Any


class Graphs(NamedTuple):
    """Graphs one after the other, in CSR."""

    node_offsets: Any  # (n_graphs + 1,)
    indptr: Any  # (n_nodes + 1,)
    indices: Any  # (n_entries,), numbered within the graph; unsigned, so that no index is looked at for its sign
    weights: Any  # (n_entries,); None, one number or no number where all are one
    start: Any  # (n_nodes,), weights of the nodes where walks start
    stop: Any  # (n_nodes,), and where they stop
    factors: Any  # (n_graphs,), 1 / scale, which a step multiplies by
    reverse: Any = None  # (n_entries, 2), where the entries back begin and end; None where walks may backtrack


class Ends(NamedTuple):
    """Where walks start and stop, and what a step multiplies them by."""

    start: Any  # (n_nodes,)
    stop: Any  # (n_nodes,)
    factors: Any  # (n_graphs,), 1 / scale


class Labels(NamedTuple):
    """The random maps of labels: a cyclic shift, then signs."""

    codes: Any  # (n_nodes,) or (n_entries,)
    signs: Any  # (n_steps, n_labels, width), or 128 bits for each (group, step, label)
    shifts: Any  # (n_steps, n_labels), or (n_groups, n_steps, n_labels)


class Attributes(NamedTuple):
    """The random maps of node attributes: phases, then rotations of pairs of coordinates."""

    values: Any  # (n_nodes, n_attributes)
    omega: Any  # (n_steps, n_attributes, width)
    mixing: Any  # (n_steps, n_levels, 2, width + 1): cosines and sines; last, the bit that pairs differ in


class PairedAttributes(NamedTuple):
    """The same, with rotations as weights of each coordinate and of its partner, (n_steps, n_levels, width)."""

    values: Any
    omega: Any
    cosines: Any
    sines: Any  # with the sign of the partner's weight
    partners: Any  # a coordinate that has none is its own


class Maps(NamedTuple):
    """The random maps of a step."""

    nodes: Labels
    edges: Labels
    attributes: PairedAttributes
    edge_attributes: PairedAttributes


class SharedNodes(NamedTuple):
    """Nodes that threads share, and their graphs."""

    bounds: Any  # where the nodes of each task begin and end
    graph_of: Any  # (n_nodes,)
    starts: Any  # (n_graphs + 1,), where each graph's nodes begin
    pointers: Any  # (n_nodes + 1,)
    columns: Any  # (n_entries,), numbered over all graphs


class WalkedGraphs(NamedTuple):
    """Graphs that walkers start on, and the keys of their random bits."""

    node_offsets: Any  # (n_graphs + 1,)
    keys: Any  # (n_graphs, 2)


class Adjacency(NamedTuple):
    """Adjacency of one direction; empty arrays stand for weights of one and for no edge labels."""

    indptr: Any  # (n_nodes + 1,)
    indices: Any  # (n_entries,), numbered within the graph
    weights: Any  # (n_entries,) or (0,)
    edge_codes: Any  # (n_entries,) or (0,)


class SignedLabels(NamedTuple):
    """Labels that turn the signs of walkers."""

    codes: Any  # (n_nodes,), or (0,) where nodes turn none
    hashes: Any  # of node labels
    edge_hashes: Any


class Walkers(NamedTuple):
    """Sampling of walkers, and random numbers that they share."""

    seed: Any
    n_walks: Any  # per node, side and component
    p_halt: Any
    n_anchors: Any  # -1 for all nodes
    share_signs: Any
    share_halting: Any
    distribution: Any  # of the signs of lengths; -1 for none
    factors: Any  # (n_lengths,), of deposits
    n_starts: Any = 0  # nodes of a larger graph that walkers start from, drawn for each walker; 0 for all nodes


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """A contiguous read-only view: Numba compiles anew for writable arrays, and batches are read-only."""
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view
