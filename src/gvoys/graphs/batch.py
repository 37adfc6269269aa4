"""GraphBatch: many graphs in one compressed sparse row structure, frozen."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from gvoys.errors import GraphError
from gvoys.graphs.check import as_fields, check_structure, copied
from gvoys.graphs.entries import index_type, take
from gvoys.graphs.labels import Labels

PER_EDGE = ("edge_weights", "edge_labels", "edge_attributes")
PER_NODE = ("node_labels", "node_attributes")


@dataclass(frozen=True, eq=False, repr=False)
class GraphBatch:
    """A collection of graphs stored back to back; make one with `as_batch` or `GraphBatch.from_arrays`.

    Graph g owns the nodes ``node_offsets[g]:node_offsets[g + 1]``; node u owns the entries
    ``indptr[u]:indptr[u + 1]`` of `indices`, which number the nodes *within* its graph. An undirected edge is
    stored in both directions, a self-loop once. The entries of a node are sorted. The arrays are read-only copies of
    those given, and a contiguous slice shares them.

    Parameters
    ----------
    node_offsets : array of shape (n_graphs + 1,)
        Where the nodes of each graph begin.
    indptr : array of shape (n_nodes + 1,)
        Where the entries of each node begin.
    indices : array of int32, shape (n_entries,)
        The node that each entry leads to, numbered within its graph.
    directed : bool
        Whether the graphs are directed.
    edge_weights : array of shape (n_entries,) or None
        Weight of each entry; None means that all are one.
    edge_labels, node_labels : Labels or None
        One label per entry, and one per node.
    node_attributes : array of shape (n_nodes, n_attributes) or None
        Real attributes of the nodes.
    edge_attributes : array of shape (n_entries, n_edge_attributes) or None
        Real attributes of the entries.

    Raises
    ------
    GraphError
        If an array does not fit the others or a number is out of its range: all arrays are read once. The constructor
        does not check that an undirected batch has each edge in both directions; `as_batch` does.
    """

    node_offsets: NDArray[Any]  # (n_graphs + 1,)
    indptr: NDArray[Any]  # (n_nodes + 1,)
    indices: NDArray[np.int32]  # (n_entries,)
    directed: bool
    edge_weights: NDArray[np.float64] | None = None  # (n_entries,); None: all ones
    edge_labels: Labels | None = None  # (n_entries,)
    node_labels: Labels | None = None  # (n_nodes,)
    node_attributes: NDArray[np.float64] | None = None  # (n_nodes, n_attributes)
    edge_attributes: NDArray[np.float64] | None = None  # (n_entries, n_edge_attributes)

    def __post_init__(self) -> None:
        self._check(copied)  # the caller could write to what was given

    def _check(self, take_over: Callable[[Any], Any] = lambda value: value) -> None:
        self.__dict__.update({name: take_over(value) for name, value in as_fields(self).items()})
        check_structure(self)
        self._freeze()

    @classmethod
    def _of_checked(cls, *values: Any, **more: Any) -> GraphBatch:
        """The constructor for arrays that come from a batch or were checked before, which are not looked at again."""
        batch = object.__new__(cls)
        batch.__dict__.update(zip(_FIELDS, values, strict=False), **more)
        batch._freeze()
        return batch

    @classmethod
    def _adopt(cls, *values: Any, **more: Any) -> GraphBatch:
        """Build a batch of arrays that nobody else can write: they are checked and not copied."""
        batch = cls._of_checked(*values, **more)
        batch._check()
        return batch

    def _with(self, **changes: Any) -> GraphBatch:
        """Replace fields by others that nobody else can write; the arrays that stay are shared."""
        return GraphBatch._adopt(**{name: getattr(self, name) for name in _FIELDS} | changes)

    @classmethod
    def from_arrays(
        cls,
        edges: ArrayLike,
        graph_sizes: ArrayLike,
        node_labels: Sequence[Any] | NDArray[Any] | None = None,
        edge_labels: Sequence[Any] | NDArray[Any] | None = None,
        edge_weights: ArrayLike | None = None,
        node_attributes: ArrayLike | None = None,
        directed: bool = False,
        edge_attributes: ArrayLike | None = None,
    ) -> GraphBatch:
        """Build a batch from arrays that hold all graphs at once.

        Parameters
        ----------
        edges : array-like of int, shape (n_edges, 2)
            Nodes are numbered 0 … N-1, graph after graph. An undirected edge is given once or in both directions;
            repeats are merged, self-loops are kept once.
        graph_sizes : array-like of int, shape (n_graphs,)
            Numbers of nodes, summing to N.
        node_labels : sequence or None, default=None
            N labels of any hashable type; a two-dimensional array makes labels of several columns.
        edge_labels : sequence or None, default=None
            One label per row of `edges`. Repeats of an edge must agree.
        edge_weights : array-like or None, default=None
            One weight per row of `edges`. Repeats of an edge must agree.
        node_attributes : array-like of shape (N, n_attributes) or None, default=None
            Finite real numbers.
        directed : bool, default=False
            Whether the graphs are directed.
        edge_attributes : array-like of shape (n_edges, n_edge_attributes) or None, default=None
            Finite real numbers, one row per row of `edges`. Repeats of an edge must agree.

        Returns
        -------
        GraphBatch
            The graphs.

        Raises
        ------
        GraphError
            If the arrays do not fit together; the message names the graph.

        Examples
        --------
        >>> batch = GraphBatch.from_arrays([[0, 1], [1, 2], [3, 4]], [3, 2], node_labels=list("CCOCO"))
        >>> batch
        GraphBatch(2 graphs, 5 nodes, 3 edges, 2 node labels)
        """
        from gvoys.graphs.build import batch_from_arrays

        return batch_from_arrays(
            edges, graph_sizes, node_labels, edge_labels, edge_weights, node_attributes, directed, edge_attributes
        )

    @classmethod
    def concatenate(cls, batches: Sequence[GraphBatch]) -> GraphBatch:
        """Join batches.

        Parameters
        ----------
        batches : sequence of GraphBatch
            Either all or none of them have node labels, edge labels and attributes.

        Returns
        -------
        GraphBatch
            The graphs of all batches, in order.

        Raises
        ------
        GraphError
            If the batches differ in direction, labels or attributes.
        """
        from gvoys.graphs.build import concatenate_batches

        return concatenate_batches(batches)

    # -- sizes

    def __len__(self) -> int:
        return len(self.node_offsets) - 1

    @property
    def shape(self) -> tuple[int]:
        """Number of graphs, as an array would have it: scikit-learn then selects graphs at once, not one by one."""
        return (len(self),)

    @property
    def n_nodes(self) -> int:
        """Number of nodes of all graphs together."""
        return len(self.indptr) - 1

    @property
    def n_entries(self) -> int:
        """Number of stored adjacency entries: an undirected edge has two, a self-loop one."""
        return len(self.indices)

    @property
    def n_edges(self) -> int:
        """Number of edges, an undirected one counted once."""
        if self.directed:
            return self.n_entries
        within = np.arange(self.n_nodes, dtype=np.int64) - np.repeat(self.node_offsets[:-1], self.graph_sizes)
        loops = int(np.count_nonzero(self.indices == np.repeat(within.astype(np.int32), np.diff(self.indptr))))
        return (self.n_entries + loops) // 2

    @property
    def graph_sizes(self) -> NDArray[Any]:
        """Number of nodes of each graph, (n_graphs,)."""
        return np.diff(self.node_offsets)

    @property
    def entry_offsets(self) -> NDArray[Any]:
        """Where each graph's adjacency entries begin, (n_graphs + 1,)."""
        return self.indptr[self.node_offsets]

    @property
    def nbytes(self) -> int:
        """Bytes held by the arrays."""
        return sum(array.nbytes for array in self._arrays())

    def __repr__(self) -> str:
        parts = [f"{len(self)} graphs", f"{self.n_nodes} nodes", f"{self.n_edges} edges"]
        parts += ["directed"] if self.directed else []
        parts += ["weighted"] if self.edge_weights is not None else []
        parts += [f"{len(self.node_labels.hashes)} node labels"] if self.node_labels is not None else []
        parts += [f"{len(self.edge_labels.hashes)} edge labels"] if self.edge_labels is not None else []
        parts += [f"{self.node_attributes.shape[1]} attributes"] if self.node_attributes is not None else []
        parts += [f"{self.edge_attributes.shape[1]} edge attributes"] if self.edge_attributes is not None else []
        return f"GraphBatch({', '.join(parts)})"

    def _repr_html_(self) -> str:  # what notebooks show
        from gvoys.graphs.output import as_html

        return as_html(self)

    # -- selection

    def __getitem__(self, index: int | slice | ArrayLike) -> GraphBatch:
        """Select graphs."""
        if isinstance(index, tuple) and len(index) == 2 and index[1] is Ellipsis:  # scikit-learn's batch[graphs, ...]
            index = index[0]
        if isinstance(index, (int, np.integer)):
            if not -len(self) <= index < len(self):
                raise IndexError(f"graph {index} of a batch of {len(self)}")
            first = int(index) % len(self)
            return self._span(first, first + 1)
        if isinstance(index, slice) and index.step in (None, 1):
            start, stop, _ = index.indices(len(self))
            return self._span(start, max(start, stop))
        return self._gather(np.arange(len(self))[index if isinstance(index, slice) else _as_index(index)])

    def __iter__(self) -> Iterator[GraphBatch]:
        return (self._span(g, g + 1) for g in range(len(self)))

    def blocks(self, n_nodes: int, with_entries: bool = False) -> list[slice]:
        """Slices of consecutive graphs that begin within the same `n_nodes` nodes.

        Parameters
        ----------
        n_nodes : int
            Number of nodes of a block.
        with_entries : bool, default=False
            Whether `n_nodes` is the number of nodes and entries together.

        Returns
        -------
        list of slices
            Slices that cover all graphs.
        """
        offsets = self.node_offsets + self.entry_offsets if with_entries else self.node_offsets
        cuts = np.flatnonzero(np.diff(offsets[:-1] // n_nodes, prepend=-1))
        return [slice(int(a), int(b)) for a, b in pairwise([*cuts.tolist(), len(self)])]

    def _span(self, first: int, last: int) -> GraphBatch:
        """The graphs from `first` to `last`, whose arrays are shared."""
        nodes = slice(int(self.node_offsets[first]), int(self.node_offsets[last]))
        entries = slice(int(self.indptr[nodes.start]), int(self.indptr[nodes.stop]))
        offsets = self.node_offsets[first : last + 1] - self.node_offsets[first]
        indptr = self.indptr[nodes.start : nodes.stop + 1] - self.indptr[nodes.start]
        return self._select(
            offsets.astype(index_type(nodes.stop - nodes.start), copy=False),
            indptr.astype(index_type(entries.stop - entries.start), copy=False),
            nodes,
            entries,
        )

    def _gather(self, graphs: NDArray[Any]) -> GraphBatch:
        """Any graphs, whose arrays are copied."""
        nodes = _ranges(self.node_offsets[graphs], self.graph_sizes[graphs])
        degrees = np.diff(self.indptr)[nodes]
        entries = _ranges(self.indptr[nodes], degrees)
        return self._select(
            _offsets(self.graph_sizes[graphs], self.node_offsets.dtype),
            _offsets(degrees, self.indptr.dtype),
            nodes,
            entries,
        )

    def _select(self, node_offsets: Any, indptr: Any, nodes: Any, entries: Any) -> GraphBatch:
        """A batch of these nodes and entries."""
        chosen = {name: take(getattr(self, name), entries) for name in PER_EDGE}
        chosen |= {name: take(getattr(self, name), nodes) for name in PER_NODE}
        return GraphBatch._of_checked(node_offsets, indptr, self.indices[entries], self.directed, **chosen)

    # -- views

    def adjacency(self) -> sp.csr_array:
        """The block-diagonal adjacency matrix of all graphs.

        Returns
        -------
        csr_array of shape (n_nodes, n_nodes)
            The matrix.
        """
        shape = (self.n_nodes, self.n_nodes)
        return sp.csr_array((self.weights().copy(), self.columns(), self.indptr.copy()), shape=shape)

    def weights(self) -> NDArray[np.float64]:
        """The weight of every entry.

        Returns
        -------
        array of shape (n_entries,)
            The weights, ones where none were given.
        """
        return np.ones(self.n_entries) if self.edge_weights is None else self.edge_weights

    def degrees(self) -> NDArray[np.float64]:
        """Weighted out-degree of every node.

        Returns
        -------
        array of shape (n_nodes,)
            The degrees.
        """
        return np.bincount(self.rows(), self.weights(), minlength=self.n_nodes).astype(np.float64, copy=False)

    def rows(self) -> NDArray[Any]:
        """The node, numbered over all graphs, that owns each entry.

        Returns
        -------
        array of shape (n_entries,)
            The nodes.
        """
        return np.repeat(np.arange(self.n_nodes), np.diff(self.indptr))

    def columns(self) -> NDArray[np.int64]:
        """The node, numbered over all graphs, that each entry leads to.

        Returns
        -------
        array of shape (n_entries,)
            The nodes.
        """
        first: NDArray[np.int64] = np.repeat(self.node_offsets[:-1], np.diff(self.entry_offsets)).astype(np.int64)
        return first + self.indices

    def node_graphs(self) -> NDArray[Any]:
        """The graph that owns each node.

        Returns
        -------
        array of shape (n_nodes,)
            The numbers of the graphs.
        """
        return np.repeat(np.arange(len(self)), self.graph_sizes)

    def normalized(self, how: str) -> GraphBatch:
        """Replace A by a normalised adjacency matrix.

        With "row", ``start="uniform"`` and ``stop="ones"`` the walk kernel is the marginalised kernel.

        Parameters
        ----------
        how : {"row", "symmetric"}
            "row" gives the transition matrix D^-1 A, "symmetric" D^-1/2 A D^-1/2.

        Returns
        -------
        GraphBatch
            The weighted graphs. A row-normalised batch is directed, since u -> v and v -> u then differ.

        Raises
        ------
        GraphError
            If a node with edges has no positive degree.
        """
        from gvoys.graphs.transform import normalized_weights

        weights = normalized_weights(self, how)
        return self._with(edge_weights=weights, directed=self.directed or how == "row")

    def to_networkx(
        self,
        node_label: str = "label",
        edge_label: str = "label",
        weight: str = "weight",
        node_attributes: str = "attributes",
        edge_attributes: str = "attributes",
    ) -> list[Any]:
        """Convert to networkx graphs with nodes 0 … n-1 and the labels as they were given.

        Parameters
        ----------
        node_label, edge_label : str, default="label"
            Names of the attributes for labels.
        weight : str, default="weight"
            Name of the attribute for weights.
        node_attributes, edge_attributes : str, default="attributes"
            Names of the attributes for real attributes of nodes and edges.

        Returns
        -------
        list of networkx graphs
            One for each graph.

        Raises
        ------
        MissingDependencyError
            If networkx is not installed.
        """
        from gvoys.graphs.output import to_networkx

        return to_networkx(self, node_label, edge_label, weight, node_attributes, edge_attributes)

    # -- plumbing

    def _freeze(self) -> None:
        for array in self._arrays():
            array.flags.writeable = False

    def __reduce__(self) -> Any:  # an unpickled batch is checked and read-only too, and may share a map of joblib's
        return GraphBatch._adopt, tuple(getattr(self, field.name) for field in fields(self))

    def _arrays(self) -> list[NDArray[Any]]:
        labels = [part for part in (self.edge_labels, self.node_labels) if part is not None]
        arrays = [self.node_offsets, self.indptr, self.indices, self.edge_weights]
        arrays += [self.node_attributes, self.edge_attributes]
        arrays += [array for part in labels for array in (part.codes, part.hashes)]
        return [array for array in arrays if array is not None]


_FIELDS = tuple(field.name for field in fields(GraphBatch))


def _as_index(index: ArrayLike) -> NDArray[Any]:
    """Check a flat index array."""
    array = np.asarray(index)
    if array.size == 0:
        return array.astype(np.intp)
    if array.dtype.kind not in "iub" or array.ndim != 1:
        raise GraphError(f"graphs are selected by an integer, a slice or a flat index array, not by {index!r}")
    return array


def _ranges(starts: NDArray[Any], lengths: NDArray[Any]) -> NDArray[np.int64]:
    """Concatenate ``arange(start, start + length)`` for all pairs."""
    before = np.cumsum(lengths) - lengths
    return np.arange(int(lengths.sum())) + np.repeat(starts - before, lengths)


def _offsets(lengths: NDArray[Any], dtype: Any) -> NDArray[Any]:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(dtype)
