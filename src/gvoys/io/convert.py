"""as_batch: the one entry point for graphs of other libraries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import GraphError, GvoysError, LabelError, ParameterError
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.build import assemble, join_attributes, join_edge_attributes, join_values
from gvoys.graphs.check import as_floats, check_directed
from gvoys.graphs.entries import Entries, check_entries, check_symmetric, index_type, merge_parallel
from gvoys.graphs.labels import Labels
from gvoys.io.array_graphs import is_grakel, is_matrix, is_pyg, read_grakel, read_matrix, read_pyg
from gvoys.io.named_graphs import (
    LABEL,
    GraphParts,
    Names,
    is_igraph,
    is_networkx,
    is_node_link,
    read_igraph,
    read_networkx,
    read_node_link,
    stack_attributes,
    warn_unlabelled,
)
from gvoys.io.smiles import is_molecule, read_molecule, read_smiles

_KINDS = (
    "networkx, igraph or PyG graphs, SciPy matrices, node-link dictionaries, GraKeL graphs, RDKit molecules, SMILES "
    "or GraphBatches"
)
_NAMES = Names()
_SINGLE_READERS: dict[Callable[[Any], bool], Callable[[Any, Names], GraphParts]] = {  # by what recognises their graphs
    is_networkx: read_networkx,
    is_igraph: read_igraph,
    is_matrix: read_matrix,
    is_pyg: read_pyg,
    is_node_link: read_node_link,
    is_molecule: read_molecule,
}
_READERS = {**_SINGLE_READERS, is_grakel: read_grakel}  # GraKeL's tuples come last, since they say least of themselves


def as_batch(
    graphs: GraphBatch | Iterable[Any],
    node_label: str | None = "label",
    edge_label: str | None = "label",
    weight: str | None = "weight",
    node_attributes: str | Sequence[str] | None = None,
    directed: bool = False,
    edge_attributes: str | Sequence[str] | None = None,
) -> GraphBatch:
    """Convert a list of graphs to one GraphBatch.

    Parameters
    ----------
    graphs : list of graphs or GraphBatch
        Graphs of networkx, igraph or PyG, SciPy sparse or dense adjacency matrices, node-link dictionaries, GraKeL
        graphs or tuples, RDKit molecules, SMILES strings or GraphBatches; a GraphBatch is returned as it is. Molecules
        and SMILES become the graphs that `from_smiles` makes of them by default; a pandas Series of SMILES is a list.
    node_label, edge_label : str or None, default="label"
        Names of the attributes to read as labels; None reads none. Where no graph has the default name, the batch has
        no labels, with a warning if nodes have other data that could be labels.
    weight : str or None, default="weight"
        Name of the attribute to read as edge weight; None reads none. Where no graph has the default name, all weights
        are one.
    node_attributes : str, sequence of str or None, default=None
        Name or names of real node attributes, numbers or vectors.
    directed : bool, default=False
        How to read formats that do not say it themselves (matrices, PyG, GraKeL tuples). False means that every edge is
        listed in both directions.
    edge_attributes : str, sequence of str or None, default=None
        Name or names of real edge attributes, numbers or vectors.

    Returns
    -------
    GraphBatch
        The graphs. Parallel edges of a multigraph are merged by adding their weights, unless their labels or attributes
        differ.

    Raises
    ------
    GraphError
        If a graph cannot be read, is not symmetric with ``directed=False``, or no graph has a name that you gave; the
        message names the graph.

    Examples
    --------
    >>> import networkx as nx
    >>> as_batch([nx.path_graph(3), nx.cycle_graph(4)])
    GraphBatch(2 graphs, 7 nodes, 6 edges)
    """
    if isinstance(graphs, GraphBatch):
        return graphs
    if hasattr(graphs, "iloc") and hasattr(graphs, "columns"):
        raise GraphError(
            "as_batch takes a list of graphs, not a DataFrame; gvoys.datasets.load_smiles(table, target) and "
            "gvoys.io.open_graphs(table) read one, and a column of SMILES is such a list: table['smiles']"
        )
    items = as_list(graphs, "as_batch")
    if items and all(isinstance(item, GraphBatch) for item in items):
        return GraphBatch.concatenate(items)
    check_directed(directed)
    names = as_names(node_label, edge_label, weight, node_attributes, edge_attributes, directed)
    if _are_all_smiles(items):
        return _read_molecules(items, names)
    parts = [read_graph(item, names, index) for index, item in enumerate(items)]
    batch = build_batch(parts)
    if any(part.named for part in parts):
        check_names(batch, names)
        if node_label == LABEL:
            warn_unlabelled(items, "pass node_label={} to as_batch", names.node_attributes)
    return batch


def as_names(
    node_label: Any, edge_label: Any, weight: Any, node_attributes: Any, edge_attributes: Any, directed: bool = False
) -> Names:
    """Return the names of the fields to read, after a check that they are names."""
    for option, name in (("node_label", node_label), ("edge_label", edge_label), ("weight", weight)):
        if name is not None and not isinstance(name, str):
            raise GraphError(f"{option} must be the name of a field or None, not {name!r}")
    node_names, edge_names = _as_tuple(node_attributes, "node"), _as_tuple(edge_attributes, "edge")
    return Names(node_label, edge_label, weight, node_names, directed, edge_names)


def _are_all_smiles(items: list[Any]) -> bool:
    """Return whether these are strings, among which some may be missing, as in a column of pandas."""
    kinds = (str, float, type(None))
    return any(isinstance(item, str) for item in items) and all(
        isinstance(item, kinds) or type(item).__name__ == "NAType" for item in items
    )


def _read_molecules(items: list[Any], names: Names) -> GraphBatch:
    for index, text in enumerate(items):
        if not isinstance(text, str) or not text.strip():
            raise GraphError(f"graph {index}: there is no SMILES, but {text!r}; correct it or remove it")
    batch, skipped = read_smiles(items)
    for index, reason in skipped:
        raise GraphError(f"graph {index}: {reason}; correct it or remove it")
    if names.node_label != LABEL:
        batch = batch._with(node_labels=None)
    if names.edge_label != LABEL:
        batch = batch._with(edge_labels=None)
    stack_attributes(dict.fromkeys(names.node_attributes), batch.n_nodes)  # which raises if any are asked for
    stack_attributes(dict.fromkeys(names.edge_attributes), batch.n_nodes, "edge")
    check_names(batch, names)
    return batch


def as_graphs(graphs: Any) -> GraphBatch:
    """Return a batch of several graphs, or of one that is given as it is."""
    if isinstance(graphs, GraphBatch):
        return graphs
    return as_batch(graphs if isinstance(graphs, (list, tuple)) else [graphs])


def as_one_graph(graph: Any, name: str, labels: bool = True) -> GraphBatch:
    """Return a batch of one graph, of any kind that `as_batch` reads; `name` is the parameter's, for the message."""
    name_of_labels = LABEL if labels else None
    batch = graph if isinstance(graph, GraphBatch) else as_batch([graph], name_of_labels, name_of_labels)
    if len(batch) != 1:
        raise ParameterError(f"{name} must be one graph, but it is a batch of {len(batch)}; select one, as in batch[0]")
    return batch


def _as_tuple(given: Any, kind: str) -> tuple[str, ...]:
    names = (given,) if isinstance(given, str) else () if given is None else given
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
        raise GraphError(f"{kind}_attributes must be the name or names of {kind} attributes, not {given!r}")
    return tuple(names)


def as_list(graphs: Any, function: str) -> list[Any]:
    """Return the graphs of a list, or of anything like one; `function` was called, for the message."""
    if any(recognise(graphs) for recognise in _SINGLE_READERS):
        raise GraphError(
            f"{function} takes a list of graphs and was given a single graph; wrap it: {function}([graph])"
        )
    if hasattr(graphs, "__getitem__") and hasattr(graphs, "__len__") and not isinstance(graphs, Iterable):
        return [graphs[index] for index in range(len(graphs))]  # PyG's datasets are such
    if isinstance(graphs, (str, bytes, dict)) or not isinstance(graphs, Iterable) or getattr(graphs, "ndim", 1) == 0:
        raise GraphError(f"{function} takes a list of {_KINDS}, not {type(graphs).__name__!r}")
    return list(graphs)


def read_graph(graph: Any, names: Names = _NAMES, index: int | None = None) -> GraphParts:
    """Read one graph of any library; the message of an error names its `index` in a list."""
    subject, prefix = ("it", "") if index is None else (f"graph {index}", f"graph {index}: ")
    if isinstance(graph, GraphBatch):
        raise GraphError(f"{subject} is a GraphBatch among graphs of other kinds; convert those with as_batch first")
    read = next((read for recognise, read in _READERS.items() if recognise(graph)), None)
    if read is None:
        kind = type(graph).__name__
        raise GraphError(f"{subject} is a {kind!r}, which is not a graph; as_batch takes a list of {_KINDS}")
    try:
        part = read(graph, names)
        _check_range(part)
    except GvoysError as error:
        raise type(error)(f"{prefix}{error}") from None
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RecursionError) as error:
        raise GraphError(
            f"{subject} looks like a graph but cannot be read ({error}); as_batch takes a list of {_KINDS}"
        ) from error
    return part


def _check_range(part: GraphParts) -> None:
    if not 0 <= part.n_nodes < 2**31:
        raise GraphError(f"it says to have {part.n_nodes} nodes; a graph has 0 to 2^31 - 1")
    if not len(part.rows):
        return
    low = min(int(part.rows.min()), int(part.columns.min()))
    high = max(int(part.rows.max()), int(part.columns.max()))
    if low < 0 or high >= part.n_nodes:
        outside = low if low < 0 else high
        raise GraphError(f"an edge names node {outside}, but the nodes are numbered 0 to {part.n_nodes - 1}")


def build_batch(parts: list[GraphParts]) -> GraphBatch:
    """Build a batch from graphs that were read; an error names the graph that is malformed or does not fit."""
    sizes = np.fromiter((part.n_nodes for part in parts), np.int64, len(parts))
    counts = np.fromiter((len(part.rows) for part in parts), np.int64, len(parts))
    directions = [part.directed for part in parts]
    if len(set(directions)) > 1:
        one, other = directions.index(True), directions.index(False)
        raise GraphError(
            f"graph {one} is directed and graph {other} is not; make them alike, for example with to_directed()"
        )
    directed = any(directions)
    entries = _join_entries(parts, sizes, counts)
    check_entries(entries, sizes)
    mirror = np.fromiter((not part.directed and not part.both_ways for part in parts), bool, len(parts))
    if mirror.any():
        entries = entries.mirrored(np.repeat(mirror, counts))
    entries = merge_parallel(entries, sizes)
    if not directed and not mirror.all():
        check_symmetric(entries, sizes)
    labels = _join_labels("node labels", [part.node_labels for part in parts], sizes)
    columns = [part.node_attributes for part in parts]
    attributes = join_values("node attributes", columns, sizes.tolist(), join_attributes)
    return assemble(entries, sizes, directed, labels, attributes)


def _join_entries(parts: list[GraphParts], sizes: NDArray[np.int64], counts: NDArray[np.int64]) -> Entries:
    rows = _join_numbers([part.rows for part in parts], sizes, counts)
    columns = _join_numbers([part.columns for part in parts], sizes, counts)
    weights = None
    if any(part.weights is not None for part in parts):
        weights = np.concatenate([_read_weights(part, index) for index, part in enumerate(parts)])
    labels = _join_labels("edge labels", [part.edge_labels for part in parts], counts)
    edge_attributes = [part.edge_attributes for part in parts]
    attributes = join_values("edge attributes", edge_attributes, counts.tolist(), join_edge_attributes)
    return Entries(rows, columns, weights, labels, attributes)


def _join_numbers(parts: list[Any], sizes: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[Any]:
    """Turn node numbers within graphs into numbers over all graphs."""
    kind = index_type(int(sizes.sum()))
    if len(parts) == 1:
        return np.asarray(parts[0]).astype(kind, copy=False)
    shift = np.repeat((np.cumsum(sizes) - sizes).astype(kind), counts)
    return np.concatenate([*parts, np.empty(0, kind)]).astype(kind, copy=False) + shift


def _read_weights(part: GraphParts, index: int) -> NDArray[np.float64]:
    if part.weights is None:
        return np.ones(len(part.rows))
    try:
        return as_floats(part.weights, "edge weights", flat=True)
    except GraphError as error:
        raise GraphError(f"graph {index}: {error}") from None


def _join_labels(what: str, columns: list[Any], counts: NDArray[np.int64]) -> Labels | None:
    """Join the labels of all graphs; an error names the first graph whose labels are malformed."""
    try:
        joined: Labels | None = join_values(what, columns, counts.tolist(), _join_columns)
    except LabelError as error:
        for index, column in enumerate(columns):
            try:
                Labels.from_values([] if column is None else column)
            except LabelError:
                raise LabelError(f"graph {index}: {error}") from None
        raise
    return joined


def _join_columns(columns: list[Any]) -> Labels:
    arrays = [column for column in columns if isinstance(column, np.ndarray)]
    if len(arrays) == len(columns) and len({(array.dtype, array.shape[1:]) for array in arrays}) == 1:
        return Labels.from_values(np.concatenate(arrays))
    if arrays:  # of different types, which numpy would turn into one another
        return Labels.concatenate([Labels.from_values(column) for column in columns])
    return Labels.from_values(list(chain.from_iterable(columns)))


def check_names(batch: GraphBatch, names: Names) -> None:
    """Raise GraphError for a name that was given and that no graph has; the default names need not be there."""
    for what, values, count in (
        ("node_label", batch.node_labels, batch.n_nodes),
        ("edge_label", batch.edge_labels, batch.n_entries),
        ("weight", batch.edge_weights, batch.n_entries),
    ):
        name = getattr(names, what)
        if name not in (None, getattr(_NAMES, what)) and values is None and count:
            raise GraphError(f"no graph has the {what} {name!r}; pass {what}=None to do without")
