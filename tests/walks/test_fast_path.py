"""The fast path beside the generic path: the same random maps, for every kind of graph and walk."""

from dataclasses import replace
from itertools import product

import networkx as nx
import numpy as np
import pytest

import gvoys as gv
from gvoys._compiled.cpu import sketch_cpu as block
from gvoys._compiled.cpu.randomness import EDGE, NODE, normal_table, philox, sign_table, uniform_table
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


# Random123's known answers for philox4x32-10: counter, key, output
KNOWN = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


@pytest.mark.parametrize(("counter", "key", "expected"), KNOWN)
def test_known_answers(counter, key, expected):
    assert philox(*map(np.uint64, (*counter, *key))) == expected


def table(seed=1, purpose=NODE, groups=range(4), n_steps=5, labels=range(50)):
    return sign_table(seed, purpose, np.array(groups), n_steps, np.array(labels, np.uint64))


def test_a_word_depends_on_its_name_alone():
    signs, places = table()
    part_signs, part_places = table(groups=[2], n_steps=3, labels=[7, 3])
    np.testing.assert_array_equal(part_signs[0], signs[2, :3][:, [7, 3]])
    np.testing.assert_array_equal(part_places[0], places[2, :3][:, [7, 3]])


@pytest.mark.parametrize(
    "other", [{"seed": 2}, {"purpose": EDGE}, {"groups": range(4, 8)}, {"labels": range(50, 100)}, {"seed": 1 + 2**32}]
)
def test_every_part_of_the_name_matters(other):
    assert not (table()[0] == table(**other)[0]).any()


def test_bits_and_places_are_uniform():
    signs, places = table(groups=range(16), n_steps=8, labels=range(200))
    bits = np.unpackbits(signs.view(np.uint8).ravel()).astype(float)
    assert abs(bits.mean() - 0.5) * 2 * np.sqrt(bits.size) < 5
    counts = np.bincount(places.ravel() % 128, minlength=128)
    expected = places.size / 128
    assert abs(((counts - expected) ** 2 / expected).sum() - 127) < 5 * np.sqrt(2 * 127)


def test_uniform_and_normal_numbers():
    uniform = uniform_table(3, NODE, np.arange(8), 4, 1000).ravel()
    assert 0 < uniform.min() < uniform.max() < 1
    assert abs(uniform.mean() - 0.5) * np.sqrt(12 * uniform.size) < 5
    normal = normal_table(3, NODE, np.arange(8), 4, 1000).ravel()
    assert abs(normal.mean()) * np.sqrt(normal.size) < 5
    assert abs((normal**2).mean() - 1) * np.sqrt(normal.size / 2) < 5
