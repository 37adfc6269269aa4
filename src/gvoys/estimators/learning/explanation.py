"""What an explanation of a prediction holds."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.graphs.batch import GraphBatch

__all__ = ["Explanation", "SequenceShare"]

_SHOWN = 5  # nodes and sequences in the text of an explanation

Array = NDArray[np.float64]


@dataclass(frozen=True)
class SequenceShare:
    """A label sequence and its share in a prediction.

    Parameters
    ----------
    spelled : str
        The labels, such as "CH3–C=O".
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
        """What else is compared beside the labels that are spelled."""
        notes = ["fine"] * (self.layer == "fine") + [f"iteration {self.iteration}"] * (self.iteration > 0)
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

    def __repr__(self) -> str:
        what = "prediction" if self.of is None else f"decision for {self.of!r}"
        lines = [
            f"{what} {self.decision:.4g} = {self.baseline:.4g} + {self.nodes.sum():.4g} by {len(self.nodes)} nodes"
        ]
        order = np.argsort(-np.abs(self.nodes), kind="stable")[:_SHOWN].tolist()
        lines += [f"  node {node}: {self.nodes[node]:+.4g}" for node in order]
        lines += [f"  {each}: {each.share:+.4g}" for each in self.sequences[:_SHOWN]]
        return "\n".join(lines)

    def _repr_svg_(self) -> str:
        """The drawing, in notebooks."""
        from gvoys.report.attribution import attribution_svg

        return attribution_svg(self)

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
        from gvoys.report.attribution import save_attribution

        save_attribution(self, Path(path))
