"""The fast path beside the generic path: the same random maps, for every kind of graph and walk."""

from dataclasses import replace
from itertools import product

import networkx as nx
import numpy as np
import pytest

import gvoys as gv
from gvoys._compiled.cpu import sketch_cpu as block
from gvoys.threads import threads
from gvoys.walks import Sketch, Walk
from gvoys.walks.sketch import WIDTH

KINDS = [nx.Graph, nx.MultiGraph, nx.DiGraph, nx.MultiDiGraph]
WALKS = [
    Walk(5, labels, backtrack=backtrack) for labels, backtrack in product((None, "node", "edge", "both"), (False, True))
]
HUB = 30


def hub(kind):
    graph = nx.star_graph(HUB, kind if not kind().is_directed() else None)
    return kind(graph)


def random_graph(kind, rng):
    n = int(rng.integers(1, 20))
    graph = nx.empty_graph(n, kind)
    graph.add_edges_from(rng.integers(0, n, (rng.integers(0, 3 * n), 2)).tolist())
    return graph


def make_batch(kind, weighted):
    """Nothing, single nodes, a star, and graphs with loops, parallel edges where there may be, and isolated nodes."""
    rng = np.random.default_rng(0)
    graphs = [nx.empty_graph(0, kind), nx.empty_graph(2, kind), hub(kind)]
    graphs += [random_graph(kind, rng) for _ in range(30)]
    for graph in graphs:
        nx.set_node_attributes(graph, {u: int(rng.integers(3)) for u in graph}, "label")
        for *_, data in graph.edges(data=True):
            data.update(label=int(rng.integers(4)), weight=float(rng.uniform(0.3, 2)))
    batch = gv.as_batch(graphs)
    return batch if weighted else replace(batch, edge_weights=None)


def compute(batch, walk, n_components=2 * WIDTH):
    start, stop = np.random.default_rng(1).uniform(0.2, 1, (2, batch.n_nodes))
    walk = replace(walk, start=start, stop=stop)
    return Sketch(n_components, 3).compute(batch, walk, np.full(len(batch), 4.0))


def assert_same_numbers(found, expected):
    """Up to rounding, beside the largest number of each graph and length."""
    largest = np.abs(expected).max(axis=2, keepdims=True)
    assert (np.abs(found - expected) <= 3e-6 * largest).all()


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weights"])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_walk_has_the_numbers_of_the_generic_path(kind, weighted, monkeypatch):
    batch = make_batch(kind, weighted)
    for walk in WALKS:
        small = compute(batch, walk)
        with monkeypatch.context() as patch:
            patch.setattr(block, "LARGE_GRAPH", 1)
            patch.setattr(block, "BLOCK_ITEMS", 7)
            patch.setattr(block, "PIECE_ENTRIES", 3)
            large = compute(batch, walk)
            with threads(1):
                np.testing.assert_array_equal(compute(batch, walk), large)
        with threads(1):
            np.testing.assert_array_equal(compute(batch, walk), small)
        with monkeypatch.context() as patch:
            patch.setattr(block.CpuSketch, "is_fast", staticmethod(lambda walk: False))
            expected = compute(batch, walk)
        assert_same_numbers(small, expected)
        assert_same_numbers(large, expected)


@pytest.mark.parametrize("walk", WALKS[1::2], ids=str)
def test_components_beyond_whole_groups(walk, monkeypatch):
    batch = make_batch(nx.Graph, False)
    found = compute(batch, walk, 2 * WIDTH + 6)
    monkeypatch.setattr(block.CpuSketch, "is_fast", staticmethod(lambda walk: False))
    assert_same_numbers(found, compute(batch, walk, 2 * WIDTH + 6))


@pytest.mark.parametrize("walk", WALKS, ids=str)
def test_tables_for_a_group_at_a_time_change_no_bit(walk, monkeypatch):
    batch = make_batch(nx.Graph, False)
    expected = compute(batch, walk, 3 * WIDTH)
    monkeypatch.setattr(block, "RANDOM_TABLE_BYTES", 1)
    np.testing.assert_array_equal(compute(batch, walk, 3 * WIDTH), expected)
