"""All threads on one large graph: blocks of nodes of about equal work, and hubs' entries in pieces.

Blocks and pieces depend on the graph alone, and sums over them have a fixed order: any number of threads gives the same
bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gvoys._compiled.arguments import Graphs
from gvoys._compiled.cpu.sketch_rows import WIDTH
from gvoys._jit import kernel


class Cuts(NamedTuple):
    """The work on one graph, its nodes and entries numbered over all graphs."""

    blocks: Any  # (n_blocks + 1,), nodes at which blocks begin and end
    longest: Any  # most entries of a node that is no hub
    hubs: Any  # (n_hubs,)
    pieces: Any  # (n_hubs + 1,), where the pieces of each hub begin and end
    begins: Any  # (n_pieces,), first entry of each piece
    ends: Any  # (n_pieces,), entry after the last


def cut_graph(graphs: Graphs, graph: int, block: int, longest: int) -> Cuts:
    """Cut a graph into blocks of about `block` nodes and entries, and hubs into pieces of about `longest` entries."""
    first, last = int(graphs.node_offsets[graph]), int(graphs.node_offsets[graph + 1])
    degrees = np.diff(graphs.indptr[first : last + 1]).astype(np.int64)
    done = np.cumsum(np.minimum(degrees, longest) + 1)
    goals = np.searchsorted(done, np.arange(block, done[-1], block)) + 1
    blocks = first + np.unique(np.concatenate([[0], goals, [last - first]]))
    hubs = np.flatnonzero(degrees > longest)
    pieces, most = np.zeros(len(hubs) + 1, np.int64), int((-(-degrees[hubs] // longest)).sum())
    begins, ends = np.empty(most, np.int64), np.empty(most, np.int64)
    _cut_hubs(graphs.indptr, graphs.indices, first + hubs, longest, pieces, begins, ends)
    return Cuts(blocks, longest, first + hubs, pieces, begins[: pieces[-1]], ends[: pieces[-1]])


@kernel()
def _cut_hubs(indptr, indices, hubs, longest, pieces, begins, ends):
    """Parallel entries stay in one piece, since they are skipped together."""
    count = 0
    for h in range(len(hubs)):
        e, end = np.int64(indptr[hubs[h]]), np.int64(indptr[hubs[h] + 1])
        while e < end:
            begins[count] = e
            e = min(e + longest, end)
            while e < end and indices[e] == indices[e - 1]:
                e += 1
            ends[count] = e
            count += 1
        pieces[h + 1] = count


def sketch_large(graph: int, states: Sequence[Any], step: Callable[..., Any], norm: Any, out: NDArray[Any]) -> None:
    """Write the profile of one graph into out[graph], one group of components after the other.

    `step(group, t, before, after)` takes the states before step t to those after it, and returns the blocks' shares.
    """
    for group in range(-(-out.shape[2] // WIDTH)):
        before, after = states
        for t in range(out.shape[1]):
            shares = step(group, t, before, after)
            out[graph, t, group * WIDTH : (group + 1) * WIDTH] = shares.sum(axis=0) * norm
            before, after = after, before
