"""The explanation of a prediction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import ParameterError
from gvoys.graphs.batch import GraphBatch

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
        from gvoys.report.attribution import attribution_svg

        return attribution_svg(self)

    def _repr_html_(self) -> str:
        """The drawing with fragments for label sequences, in notebooks."""
        from gvoys.report.attribution import attribution_html

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
        from gvoys.report.attribution import save_attribution

        save_attribution(self, Path(path))


def with_smiles(explained: list[Explanation], graphs: Any, smiles: Sequence[str] | None) -> list[Explanation]:
    """Add the SMILES that graphs were read from: those given, or the graphs where they are SMILES."""
    from gvoys.report.picture import check_smiles

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
