"""search_nodes: the node with the largest value, by measuring few of them (Thompson sampling)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import ParameterError
from gvoys.estimators.base import as_seed
from gvoys.io.convert import as_one_graph
from gvoys.nodes.node_regressor import NodeRegressor
from gvoys.walks.checks import check_count, check_flag


@dataclass(frozen=True)
class NodeSearch:
    """The nodes that a search has measured, and their values.

    Parameters
    ----------
    nodes : ndarray of shape (n_measured,)
        The nodes, in the order in which they were measured.
    values : ndarray of shape (n_measured,)
        Their values.
    best_node : int
        The node with the best value.
    best_value : float
        The best value.
    model : NodeRegressor
        What was learned from all but the last round.
    """

    nodes: NDArray[np.int64]
    values: NDArray[np.float64]
    best_node: int
    best_value: float
    model: NodeRegressor = field(repr=False)


def search_nodes(
    graph: Any,
    measure: Callable[[NDArray[np.int64]], Any],
    n_rounds: int = 20,
    n_initial: int = 20,
    n_per_round: int = 5,
    *,
    maximize: bool = True,
    random_state: Any = 0,
    on_progress: Callable[[int, float], None] = lambda round_number, best: None,
    **options: Any,
) -> NodeSearch:
    """Search a graph for the node with the largest value, where measuring is expensive.

    Some nodes are measured at random. Then every round draws functions from the posterior of a `NodeRegressor`, and
    measures where each of them is largest: near the best nodes so far, and where little is known.

    Parameters
    ----------
    graph : graph
        One graph of any kind that `as_batch` takes.
    measure : callable
        Returns the values of an array of nodes.
    n_rounds : int, default=20
        Number of rounds.
    n_initial : int, default=20
        Number of nodes that are measured at random before.
    n_per_round : int, default=5
        Number of nodes that are measured in a round.
    maximize : bool, default=True
        Whether the largest value is wanted, or else the smallest.
    random_state : int, RandomState or None, default=0
        Seed of what is random.
    on_progress : callable, optional
        Called after every round with its number and the best value.
    **options : object
        Parameters of the NodeRegressor.

    Returns
    -------
    NodeSearch
        The nodes and their values.

    Examples
    --------
    >>> import networkx as nx
    >>> import gvoys as gv
    >>> ring = nx.cycle_graph(300)
    >>> found = gv.search_nodes(ring, lambda nodes: -abs(nodes - 200.0), n_rounds=8)
    >>> abs(found.best_node - 200) < 5, len(found.nodes)
    (True, 60)
    """
    one = as_one_graph(graph, "graph", labels=False)
    check_flag(maximize, "maximize")
    if not callable(measure):
        raise ParameterError(f"measure must be a function of an array of nodes, not {measure!r}")
    n_initial, n_per_round = check_count(n_initial, "n_initial"), check_count(n_per_round, "n_per_round")
    if n_initial > one.n_nodes:
        raise ParameterError(f"n_initial must be at most the {one.n_nodes} nodes of the graph, not {n_initial}")
    generator, sign = np.random.default_rng(as_seed(random_state)), 1.0 if maximize else -1.0
    nodes = generator.choice(one.n_nodes, n_initial, replace=False)
    values = sign * _measure_nodes(measure, nodes)
    model = NodeRegressor(**options)
    for number in range(check_count(n_rounds, "n_rounds", least=0)):
        model.fit(one, nodes, values)
        drawn = model.sample_y(n_samples=n_per_round, random_state=int(generator.integers(2**31)))
        new = _choose_nodes(drawn, nodes)
        if not len(new):
            break
        nodes, values = np.append(nodes, new), np.append(values, sign * _measure_nodes(measure, new))
        on_progress(number, sign * float(values.max()))
    best = int(values.argmax())
    return NodeSearch(nodes, sign * values, int(nodes[best]), sign * float(values[best]), model)


def _measure_nodes(measure: Callable[[NDArray[np.int64]], Any], nodes: NDArray[np.int64]) -> NDArray[np.float64]:
    result = measure(nodes)
    try:
        values = np.asarray(result, np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"measure must return a number for each of {len(nodes)} nodes, not {result!r}") from None
    if values.shape != nodes.shape or not np.isfinite(values).all():
        raise ParameterError(f"measure must return a finite number for each of {len(nodes)} nodes, not {values!r}")
    return values


def _choose_nodes(drawn: NDArray[np.float64], measured: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the node where each function is largest, among those that were not measured, each once."""
    drawn[measured] = -np.inf
    chosen: list[int] = []
    for column in drawn.T:
        column[chosen] = -np.inf
        best = int(column.argmax())
        if np.isfinite(column[best]):
            chosen.append(best)
    return np.array(chosen, np.int64)
