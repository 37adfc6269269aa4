"""Random graphs, whole collections at once, with no loop over nodes or edges."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.csgraph import connected_components

from gvoys.errors import ParameterError
from gvoys.graphs.batch import GraphBatch

Edges = NDArray[np.int64]
_ATTEMPTS = 1000


def erdos_renyi(
    n_graphs: int, n_nodes: int, p: float, *, connected: bool = False, random_state: int | None = 0
) -> GraphBatch:
    """Random graphs in which each pair of nodes is an edge with the same probability.

    Parameters
    ----------
    n_graphs : int
        Number of graphs.
    n_nodes : int
        Number of nodes of each graph.
    p : float
        Probability of an edge.
    connected : bool, default=False
        Whether each graph is redrawn until it is connected.
    random_state : int or None, default=0
        Seed; None draws new graphs each time.

    Returns
    -------
    GraphBatch
        The graphs.

    Raises
    ------
    ParameterError
        If no connected graph is found in 1000 attempts.

    Examples
    --------
    >>> erdos_renyi(3, 100, 0.1, connected=True)
    GraphBatch(3 graphs, 300 nodes, 1429 edges)
    """
    _check_counts(n_graphs=n_graphs, n_nodes=n_nodes)
    _check_probability("p", p)
    rng = np.random.default_rng(random_state)

    def draw() -> Edges:
        return _pair(_draw_successes(n_nodes * (n_nodes - 1) // 2, p, rng))

    graphs = [_draw_connected(draw, n_nodes) if connected else draw() for _ in range(n_graphs)]
    return _join_graphs(graphs, [n_nodes] * n_graphs)


def stochastic_block(n_graphs: int, sizes: Sequence[int], p: ArrayLike, *, random_state: int | None = 0) -> GraphBatch:
    """Random graphs made of blocks; the nodes are labelled with their block.

    Parameters
    ----------
    n_graphs : int
        Number of graphs.
    sizes : sequence of int
        Number of nodes of each block.
    p : array-like of shape (n_blocks, n_blocks)
        Probability ``p[a][b]`` of an edge between nodes of blocks a and b; symmetric.
    random_state : int or None, default=0
        Seed; None draws new graphs each time.

    Returns
    -------
    GraphBatch
        The graphs.
    """
    if not isinstance(sizes, (list, tuple, range, np.ndarray)) or (isinstance(sizes, np.ndarray) and sizes.ndim != 1):
        raise ParameterError(f"sizes must be a list of numbers of nodes, not {sizes!r}")
    _check_counts(n_graphs=n_graphs, **{f"sizes[{i}]": size for i, size in enumerate(sizes)})
    try:
        matrix = np.asarray(p, dtype=np.float64)
    except (TypeError, ValueError):
        matrix = np.empty(0)
    if matrix.shape != (len(sizes), len(sizes)) or not np.array_equal(matrix, matrix.T):
        raise ParameterError(f"p must be a symmetric matrix of {len(sizes)} x {len(sizes)} probabilities")
    for value in matrix.ravel():
        _check_probability("p", float(value))
    rng = np.random.default_rng(random_state)
    first = np.cumsum(sizes) - np.asarray(sizes)
    blocks = [(a, b) for a in range(len(sizes)) for b in range(a, len(sizes))]

    def draw(a: int, b: int) -> Edges:
        if a == b:
            return first[a] + _pair(_draw_successes(sizes[a] * (sizes[a] - 1) // 2, matrix[a, a], rng))
        cells = _draw_successes(sizes[a] * sizes[b], matrix[a, b], rng)
        return np.column_stack([first[a] + cells // sizes[b], first[b] + cells % sizes[b]])

    graphs = [np.concatenate([draw(a, b) for a, b in blocks]) for _ in range(n_graphs)]
    labels = np.tile(np.repeat(np.arange(len(sizes)), sizes), n_graphs)
    return _join_graphs(graphs, [int(sum(sizes))] * n_graphs, node_labels=labels)


def regular(n_graphs: int, n_nodes: int, degree: int, *, random_state: int | None = 0) -> GraphBatch:
    """Random simple graphs in which every node has the same degree (asymptotically uniform among these).

    Parameters
    ----------
    n_graphs : int
        Number of graphs.
    n_nodes : int
        Number of nodes of each graph.
    degree : int
        Degree of every node, below `n_nodes`; `n_nodes` times `degree` is even.
    random_state : int or None, default=0
        Seed; None draws new graphs each time.

    Returns
    -------
    GraphBatch
        The graphs.

    Raises
    ------
    ParameterError
        If there is no such graph.
    """
    _check_counts(n_graphs=n_graphs, n_nodes=n_nodes, degree=degree)
    if degree >= max(n_nodes, 1) or n_nodes * degree % 2:
        raise ParameterError(
            f"there is no simple graph of {n_nodes} nodes of degree {degree}: the degree must be below the number of "
            "nodes, and their product even"
        )
    rng = np.random.default_rng(random_state)
    if degree > (n_nodes - 1) // 2:  # pair the stubs of the complement instead: far fewer collisions
        graphs = [_complement(_pair_stubs(n_nodes, n_nodes - 1 - degree, rng), n_nodes) for _ in range(n_graphs)]
    else:
        graphs = [_pair_stubs(n_nodes, degree, rng) for _ in range(n_graphs)]
    return _join_graphs(graphs, [n_nodes] * n_graphs)


def molecules(
    n_graphs: int, mean_nodes: float = 30.0, n_labels: int = 37, *, random_state: int | None = 0
) -> GraphBatch:
    """Random connected graphs shaped like drug molecules: chains with branches and six-rings, no degree above four.

    Node labels fall off quickly in frequency, as elements do; edges are labelled 1, 2 or 3, as bonds are. By default
    sizes, degrees and labels are those of the dataset NCI1.

    Parameters
    ----------
    n_graphs : int
        Number of graphs.
    mean_nodes : float, default=30.0
        Mean number of nodes.
    n_labels : int, default=37
        Number of different node labels.
    random_state : int or None, default=0
        Seed; None draws new graphs each time.

    Returns
    -------
    GraphBatch
        The graphs.
    """
    _check_counts(n_graphs=n_graphs, n_labels=n_labels)
    if not 1 <= mean_nodes < 1e9 or n_labels < 1:
        raise ParameterError(f"molecules have at least one node and one label, not {mean_nodes} and {n_labels}")
    rng = np.random.default_rng(random_state)
    sizes = 1 + rng.negative_binomial(5, 5 / (4 + mean_nodes), n_graphs)
    total = int(sizes.sum())
    within = np.arange(total) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    # a node hangs on one of the three before it, so that no node has more than three below it and one above
    back = np.minimum(rng.choice([1, 2, 3], total, p=[0.8, 0.15, 0.05]), within)
    children = np.flatnonzero(within > 0)
    tree = np.column_stack([children - back[children], children])
    edges = np.concatenate([tree, _draw_rings(within, tree, rng)])
    frequencies = 1.0 / np.arange(1.0, n_labels + 1) ** 2
    return GraphBatch.from_arrays(
        edges,
        sizes,
        node_labels=rng.choice(n_labels, total, p=frequencies / frequencies.sum()),
        edge_labels=rng.choice([1, 2, 3], len(edges), p=[0.6, 0.35, 0.05]),
    )


# -- pieces


def _check_counts(**counts: Any) -> None:
    for name, count in counts.items():
        if not isinstance(count, (int, np.integer)) or isinstance(count, bool) or count < 0:
            raise ParameterError(f"{name} must be an integer of at least 0, not {count!r}")


def _check_probability(name: str, p: float) -> None:
    if not isinstance(p, (int, float, np.integer, np.floating)) or not 0 <= p <= 1:
        raise ParameterError(f"{name} must be a probability between 0 and 1, not {p!r}")


def _join_graphs(graphs: list[Edges], sizes: list[int], **labels: Any) -> GraphBatch:
    first = np.cumsum(sizes) - np.asarray(sizes, dtype=np.int64)
    shifted = [edges + shift for edges, shift in zip(graphs, first, strict=True)]
    edges = np.concatenate(shifted) if shifted else np.empty((0, 2), np.int64)
    return GraphBatch.from_arrays(edges, np.asarray(sizes, np.int64), **labels)


def _draw_successes(trials: int, p: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw the trials that succeed by their gaps, so that memory grows with the successes alone."""
    if p <= 0 or trials == 0:
        return np.empty(0, np.int64)
    steps = [np.array([-1])]
    while steps[-1][-1] < trials:
        expected = (trials - steps[-1][-1]) * p
        gaps = rng.geometric(p, int(expected + 5 * np.sqrt(expected)) + 10)
        gaps = np.where(gaps > 0, np.minimum(gaps, trials + 1), trials + 1)  # the smallest p overflow
        steps.append(steps[-1][-1] + np.cumsum(gaps))
    positions = np.concatenate(steps[1:])
    return positions[positions < trials]


def _pair(index: NDArray[np.int64]) -> Edges:
    """Number pairs u < v as (0,1), (0,2), (1,2), (0,3) …: index = v (v - 1) / 2 + u."""
    v = ((1.0 + np.sqrt(1.0 + 8.0 * index)) / 2.0).astype(np.int64)
    v -= v * (v - 1) // 2 > index  # the square root may round up, or down
    v += (v + 1) * v // 2 <= index
    return np.column_stack([index - v * (v - 1) // 2, v])


def _draw_connected(draw: Callable[[], Edges], n_nodes: int) -> Edges:
    for _ in range(_ATTEMPTS):
        edges = draw()
        if n_nodes <= 1 or _is_connected(edges, n_nodes):
            return edges
    raise ParameterError(
        f"{_ATTEMPTS} graphs of {n_nodes} nodes were drawn and none was connected; raise p above "
        f"ln(n)/n = {np.log(n_nodes) / n_nodes:.2g}"
    )


def _is_connected(edges: Edges, n_nodes: int) -> bool:
    matrix = sp.coo_array((np.ones(len(edges), bool), (edges[:, 0], edges[:, 1])), shape=(n_nodes, n_nodes))
    return int(connected_components(sp.csr_array(matrix), directed=False)[0]) == 1


def _pair_stubs(n_nodes: int, degree: int, rng: np.random.Generator) -> Edges:
    """Pair `degree` stubs of each node at random; pair loops and repeats anew, together with as many others."""
    pairs = rng.permutation(np.repeat(np.arange(n_nodes), degree)).reshape(-1, 2)
    for _ in range(_ATTEMPTS):
        bad = _find_loops_and_repeats(pairs, n_nodes)
        if not bad.any():
            return pairs
        others = rng.choice(len(pairs), min(len(pairs), int(bad.sum()) + 4), replace=False)
        again = np.flatnonzero(bad | np.isin(np.arange(len(pairs)), others))
        pairs[again] = rng.permutation(pairs[again].ravel()).reshape(-1, 2)
    raise ParameterError(
        f"no simple graph of {n_nodes} nodes of degree {degree} was found in {_ATTEMPTS} attempts; try another seed"
    )


def _find_loops_and_repeats(pairs: Edges, n_nodes: int) -> NDArray[np.bool_]:
    keys = pairs.min(axis=1) * n_nodes + pairs.max(axis=1)
    repeated = np.ones(len(keys), bool)
    repeated[np.unique(keys, return_index=True)[1]] = False
    return repeated | (pairs[:, 0] == pairs[:, 1])


def _complement(pairs: Edges, n_nodes: int) -> Edges:
    low, high = pairs.min(axis=1), pairs.max(axis=1)
    absent = np.ones(n_nodes * (n_nodes - 1) // 2, bool)
    absent[high * (high - 1) // 2 + low] = False
    return _pair(np.flatnonzero(absent))


def _draw_rings(within: NDArray[np.int64], tree: Edges, rng: np.random.Generator) -> Edges:
    """Join nodes five apart where neither branches yet: a closing bond can then raise no degree above four."""
    degree = np.bincount(tree.ravel(), minlength=len(within))
    open_ends = np.flatnonzero((within >= 5) & (rng.random(len(within)) < 0.2))
    open_ends = open_ends[(degree[open_ends] <= 2) & (degree[open_ends - 5] <= 2)]
    return np.column_stack([open_ends - 5, open_ends])
