"""The fast path beside the generic path: the same random maps, for every kind of graph and walk."""

from dataclasses import replace
from itertools import product

import networkx as nx
import numpy as np
import pytest

import gvoys as gv
from gvoys._compiled.cpu import sketch_cpu as block
from gvoys._compiled.cpu.sketch_large import cut_graph
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


def share_every_graph(patch, longest=3):
    for name, value in {"LARGE_GRAPH": 1, "BLOCK_ITEMS": 7, "PIECE_ENTRIES": longest}.items():
        patch.setattr(block, name, value)


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weights"])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_walk_has_the_numbers_of_the_generic_path(kind, weighted, monkeypatch):
    batch = make_batch(kind, weighted)
    for walk in WALKS:
        small = compute(batch, walk)
        with monkeypatch.context() as patch:
            share_every_graph(patch)
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


@pytest.mark.parametrize("kind", [nx.Graph, nx.MultiDiGraph], ids=lambda kind: kind.__name__)
def test_cuts_cover_every_node_and_entry_once(kind):
    batch = make_batch(kind, False)
    sketch = block.CpuSketch.__new__(block.CpuSketch)
    sketch.batch, sketch.weights, sketch.ends = batch, None, (None, None, None)
    for g in range(1, len(batch)):
        first, last = batch.node_offsets[g : g + 2].tolist()
        cuts = cut_graph(sketch._graphs(), g, block=7, longest=3)
        assert cuts.blocks[0] == first
        assert cuts.blocks[-1] == last
        assert (np.diff(cuts.blocks) > 0).all()
        degrees = np.diff(batch.indptr)
        np.testing.assert_array_equal(cuts.hubs, first + np.flatnonzero(degrees[first:last] > 3))
        work = np.add.reduceat(np.minimum(degrees, 3) + 1, cuts.blocks[:-1])
        assert (np.minimum(work, 7 + 4) == work)[:-1].all()
        for h, node in enumerate(cuts.hubs):
            pieces = slice(cuts.pieces[h], cuts.pieces[h + 1])
            begins, ends = cuts.begins[pieces], cuts.ends[pieces]
            assert begins[0] == batch.indptr[node]
            assert ends[-1] == batch.indptr[node + 1]
            np.testing.assert_array_equal(begins[1:], ends[:-1])
            assert (batch.indices[ends[:-1] - 1] != batch.indices[begins[1:]]).all()


@pytest.mark.parametrize("backtrack", [True, False])
def test_labelled_graphs_without_nodes(backtrack):
    """Alone, there is no label to draw a map for."""
    empty = gv.GraphBatch.from_arrays([], [0, 0], node_labels=[], edge_labels=[])
    made = gv.profiles(empty, gv.Walk(2, labels="both", backtrack=backtrack), method="sketch", n_components=128)
    np.testing.assert_array_equal(made, np.zeros((2, 3, 128)))
