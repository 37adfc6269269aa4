"""Directed edges as walkers, for non-backtracking walks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.entries import stable_order

__all__ = ["LineGraph", "line_graph", "reverse_entries"]


@dataclass(frozen=True)
class LineGraph:
    """The line graph without backtracking: its nodes are the arcs e = (tail -> head).

    Parameters
    ----------
    tails : ndarray of shape (n_arcs,)
        Tail of each arc.
    heads : ndarray of shape (n_arcs,)
        Head of each arc.
    pointers : ndarray of shape (n_arcs + 1,)
        Where the arcs that may precede arc e begin in `sources`.
    sources : ndarray
        The arcs that may precede each arc.
    """

    tails: NDArray[np.int64]
    heads: NDArray[np.int64]
    pointers: NDArray[np.int64]
    sources: NDArray[np.int64]


def line_graph(batch: GraphBatch) -> LineGraph:
    """Find all pairs of consecutive arcs (y -> u), (u -> x) with y != x.

    Cost: the sum of squared degrees.

    Parameters
    ----------
    batch : GraphBatch
        The graphs.

    Returns
    -------
    LineGraph
        The arcs and their predecessors.
    """
    tails, heads = batch.rows(), batch.columns()
    into = stable_order(heads)  # arcs by the node they end at
    begin = np.concatenate([[0], np.cumsum(np.bincount(heads, minlength=batch.n_nodes))])
    fans = np.diff(begin)[tails]
    offsets = np.cumsum(fans) - fans
    sources = into[np.repeat(begin[tails] - offsets, fans) + np.arange(int(fans.sum()))]
    arcs = np.repeat(np.arange(len(tails)), fans)
    kept = tails[sources] != heads[arcs]
    pointers = np.concatenate([[0], np.cumsum(np.bincount(arcs[kept], minlength=len(tails)))])
    return LineGraph(tails, heads, pointers, sources[kept])


def reverse_entries(batch: GraphBatch) -> NDArray[np.int64]:
    """Find the entries x -> u for each entry u -> x.

    Parameters
    ----------
    batch : GraphBatch
        The graphs.

    Returns
    -------
    ndarray of shape (n_entries, 2)
        Where they begin and end; parallel edges may be several.
    """
    rows, columns = batch.rows().astype(np.int64), batch.columns()
    forward, backward = rows * batch.n_nodes + columns, columns * batch.n_nodes + rows
    return np.column_stack([np.searchsorted(forward, backward, side) for side in ("left", "right")])
