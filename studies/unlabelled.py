"""Graphs without labels: what degrees, core numbers, closed walks, balls and return probabilities tell of their class.

Generated graphs come in two kinds with the same degrees, or nearly so, that differ in how nodes are arranged.
"""

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import networkx as nx
import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.model_selection import StratifiedShuffleSplit

import gvoys as gv
from gvoys.errors import DatasetError, InputWarning

N_SEEDS = 5
Dataset = tuple[gv.GraphBatch, np.ndarray]

_WALK = gv.Walk(refine="auto", backtrack="auto", start="ones", stop="ones")
WAYS: dict[str, dict] = {
    **{name: {"walk": _WALK.set_params(structure=name)} for name in ("degree", "core", "closed", "ball1")},
    "degree and returns": {"walk": _WALK.set_params(structure="degree", attribute_bandwidth="auto")},
    "core and returns (default)": {},
}


def run(console: Console) -> None:
    table = Table("", *WAYS, title=f"accuracy without labels, a fifth left out, {N_SEEDS} seeds, ± over seeds")
    for name, make in {**GENERATED, **{name: _stripped(name) for name in ("MUTAG", "PROTEINS", "ENZYMES")}}.items():
        try:
            batch, y = make()
        except DatasetError as error:
            console.print(f"{name} is left out: {error}", markup=False)
            continue
        cells = [_cell(_scores(batch, y, **how)) for how in WAYS.values()]
        table.add_row(name, *cells)
        console.print(name, *cells)
    console.print(table)
    _with_labels(console)


def _with_labels(console: Console) -> None:
    structures = (None, "core", "closed", "ball1")
    table = Table("", *map(str, structures), title="with labels: default, and structure in front of them")
    for name in ("MUTAG", "PTC_MR", "ENZYMES", "PROTEINS", "AIDS"):
        try:
            batch, y = gv.datasets.load_tu(name)
        except DatasetError as error:
            console.print(f"{name} is left out: {error}", markup=False)
            continue
        cells = []
        for structure in structures:
            cells.append(
                _cell(_scores(batch, y, walk=_WALK.set_params(structure=structure, attribute_bandwidth="auto")))
            )
        table.add_row(name, *cells)
    console.print(table)


def _scores(batch: gv.GraphBatch, y: np.ndarray, **options) -> np.ndarray:
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)
        for seed in range(N_SEEDS):
            splits = StratifiedShuffleSplit(1, test_size=0.2, random_state=seed).split(y, y)
            known, test = next(splits)
            model = gv.RandomWalkClassifier(random_state=seed, **options).fit(batch[known], y[known])
            found.append(model.score(batch[test], y[test]))
    return 100 * np.array(found)


def _cell(scores: np.ndarray) -> str:
    return f"{scores.mean():.1f} ± {scores.std(ddof=1) / np.sqrt(len(scores)):.1f}"


def _stripped(name: str) -> Callable[[], Dataset]:
    def make() -> Dataset:
        batch, y = gv.datasets.load_tu(name)
        return replace(batch, node_labels=None, edge_labels=None, node_attributes=None), y

    return make


# -- generators


def discussions(n_graphs: int = 2000, n_nodes: int = 430, order: float = 0.6, seed: int = 0) -> Dataset:
    """Trees of stars, like who answers whom: in one kind of them busy threads come first, so that hubs meet hubs."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_graphs) % 2
    edges = [_arranged(_children(n_nodes, rng), order * kind, rng) for kind in y]
    sizes = np.full(n_graphs, n_nodes)
    return gv.GraphBatch.from_arrays(edges=np.concatenate(edges) + _shifts(sizes, edges), graph_sizes=sizes), y


def _children(n_nodes: int, rng: np.random.Generator) -> np.ndarray:
    """How many answers each node has, if answers go to nodes by how many they have already."""
    ends = np.zeros(2 * (n_nodes - 1), np.int64)
    for node in range(1, n_nodes):
        ends[2 * node - 2], ends[2 * node - 1] = node, ends[rng.integers(max(2 * (node - 1), 1))]
    return np.bincount(ends[1::2], minlength=n_nodes)


def _arranged(children: np.ndarray, order: float, rng: np.random.Generator) -> np.ndarray:
    """A tree with these numbers of children, level by level; with `order` the busy nodes tend to be near the root."""
    keys = order * np.log1p(children) + rng.gumbel(size=len(children))
    ordered = children[np.argsort(-keys)]
    lowest = np.argmin(np.cumsum(ordered - 1))  # of all rotations one leaves no level without a parent too early
    ordered = np.roll(ordered, -(int(lowest) + 1))
    return np.column_stack([np.repeat(np.arange(len(ordered)), ordered), np.arange(1, len(ordered))])


def _shifts(sizes: np.ndarray, edges: list[np.ndarray]) -> np.ndarray:
    return np.repeat(np.cumsum(sizes) - sizes, [len(each) for each in edges])[:, None]


def trees(n_graphs: int = 400, n_nodes: int = 60) -> Dataset:
    """Smaller trees of the same two kinds."""
    return discussions(n_graphs, n_nodes, order=1.6, seed=1)


def ego_networks(n_graphs: int = 400, seed: int = 0) -> Dataset:
    """A node and its circles of friends; in one kind friends were exchanged between circles, with the same degrees."""
    rng, y, graphs = np.random.default_rng(seed), np.arange(n_graphs) % 2, []
    for kind in y:
        graph, ego = nx.Graph(), 0
        for _ in range(rng.integers(3, 7)):
            circle = rng.choice(np.arange(1, 31), size=rng.integers(4, 9), replace=False)
            graph.add_edges_from((int(a), int(b)) for a in circle for b in circle if a < b and rng.random() < 0.7)
        swaps = int(kind) * graph.number_of_edges()
        nx.double_edge_swap(graph, swaps, max_tries=100 * swaps + 100, seed=int(rng.integers(2**31)))
        graph.add_edges_from((ego, friend) for friend in list(graph))
        graphs.append(nx.convert_node_labels_to_integers(graph))
    return gv.as_batch(graphs), y


def blocks(n_graphs: int = 400, n_nodes: int = 48, seed: int = 0) -> Dataset:
    """Stochastic block models with two groups or none, and the same mean degree."""
    within, between, half = 0.28, 0.04, n_nodes // 2
    apart = gv.datasets.stochastic_block(
        n_graphs // 2, [half, half], [[within, between], [between, within]], random_state=seed
    )
    mean = (within * (half - 1) + between * half) / (n_nodes - 1)
    alike = gv.datasets.erdos_renyi(n_graphs // 2, n_nodes, mean, random_state=seed + 1)
    y = np.repeat([0, 1], n_graphs // 2)
    return gv.GraphBatch.concatenate([replace(apart, node_labels=None), alike]), y


GENERATED: dict[str, Callable[[], Dataset]] = {
    "ego networks": ego_networks,
    "block models": blocks,
    "trees": trees,
    "discussions": partial(discussions, 600),  # of 2000, in a third of the time
}
