"""Sums that are linear in sketches, spread over nodes and edges: walk by walk on small graphs, and the same bits."""

from dataclasses import replace

import numpy as np
import pytest

import gvoys as gv
from gvoys.graphs.labels import Labels
from gvoys.graphs.transform import refinement_rounds
from gvoys.threads import threads
from gvoys.walks import Sketch, Walk
from gvoys.walks import sketch as sketch_module
from gvoys.walks.attribution import spread_gradients
from gvoys.walks.sketch import WIDTH

LENGTH = 3
SIZES = [5, 1, 0, 4, 2, 6]  # the last node of each is isolated
EVERYTHING = {"labels": "both", "attribute_bandwidth": 0.8, "edge_attribute_bandwidth": 1.3}
CASES = {
    "labels": {"labels": "node"},
    "none": {"labels": None},
    "edge labels": {"labels": "edge"},
    "both labels": {"labels": "both"},
    "non-backtracking": {"labels": "node", "backtrack": False},
    "non-backtracking, both labels": {"labels": "both", "backtrack": False},
    "refined": {"labels": "node", "refine": 1},
    "refined without labels": {"labels": None, "refine": 2},
    "node attributes": {"labels": "node", "attribute_bandwidth": 0.8},
    "edge attributes": {"labels": "node", "edge_attribute_bandwidth": 1.3},
    "everything": EVERYTHING,
    "everything, non-backtracking": {**EVERYTHING, "backtrack": False, "refine": 1},
}
KINDS = {"": (False, False), "directed": (True, False), "weighted": (False, True), "both": (True, True)}


def some_graphs(directed=False, weighted=False):
    """Graphs with loops, isolated nodes, one node and none; everything that walks may use."""
    rng = np.random.default_rng(3)
    offsets = np.concatenate([[0], np.cumsum(SIZES)])
    edges = np.concatenate([_edges(rng, n, directed) + first for n, first in zip(SIZES, offsets, strict=False)])
    return gv.GraphBatch.from_arrays(
        edges,
        SIZES,
        node_labels=rng.integers(0, 2, offsets[-1]),
        edge_labels=rng.integers(0, 2, len(edges)),
        edge_weights=rng.uniform(-1.0, 2.0, len(edges)) if weighted else None,
        node_attributes=rng.normal(size=(offsets[-1], 2)),
        edge_attributes=rng.normal(size=(len(edges), 1)),
        directed=directed,
    )


def _edges(rng, n, directed):
    present = rng.random((n, n)) < 0.6
    present[:, n - 1 :] = present[n - 1 :] = False
    if n == 4:
        present[1, 1] = True
    return np.argwhere(present if directed else np.triu(present)).reshape(-1, 2)


def random_ends(batch, walk):
    rng = np.random.default_rng(5)
    start, stop = rng.uniform(-0.5, 1, (2, batch.n_nodes))
    return replace(walk, start=start, stop=stop)


def profile_and_gradients(batch, walk, sketch):
    made = sketch.profile(batch, walk)
    return made, np.random.default_rng(7).normal(size=made.values.shape).astype(np.float32)


def all_walks(batch, length, backtrack):
    """Entries of all walks of a length, and the node where each begins."""
    columns, walks = batch.columns(), [([], u) for u in range(batch.n_nodes)]
    for step in range(length):
        longer = []
        for entries, begin in walks:
            u = columns[entries[-1]] if entries else begin
            before = None if step == 0 else columns[entries[-2]] if step > 1 else begin
            for e in range(batch.indptr[u], batch.indptr[u + 1]):
                if backtrack or step == 0 or columns[e] != before:
                    longer.append(([*entries, e], begin))
        walks = longer
    return [([begin, *columns[entries]], entries) for entries, begin in walks]


def as_paths(batch, walks, length):
    """A directed path for each walk, whose nodes and edges have what those of the walk have."""
    nodes = np.array([u for way, _ in walks for u in way], np.int64)
    entries = np.array([e for _, way in walks for e in way], np.int64)
    last = np.arange(len(nodes)) % (length + 1) == length
    return gv.GraphBatch(
        np.arange(len(walks) + 1) * (length + 1),
        np.concatenate([[0], np.cumsum(~last)]),
        np.tile(np.arange(1, length + 1, dtype=np.int32), len(walks)),
        True,
        edge_weights=batch.weights()[entries],
        edge_labels=Labels.from_hashes(batch.edge_labels.hashed[entries]) if batch.edge_labels else None,
        node_labels=Labels.from_hashes(batch.node_labels.hashed[nodes]) if batch.node_labels else None,
        node_attributes=batch.node_attributes[nodes],
        edge_attributes=batch.edge_attributes[entries],
    )


def spread_walk_by_walk(batch, walk, sketch, exponents, gradients):
    """Shares of nodes and entries, and the same of absolute values of products, (2, n_groups, n)."""
    d, (start, stop) = sketch.n_components, walk.ends(batch)
    n_groups, graph_of = -(-d // WIDTH), batch.node_graphs()
    nodes, entries = np.zeros((2, n_groups, batch.n_nodes)), np.zeros((2, n_groups, batch.n_entries))
    for r, graphs in enumerate(refinement_rounds(batch, walk.refine, walk.node_labels, walk.edge_labels)):
        labelled = replace(graphs, edge_labels=batch.edge_labels)
        for i in range(walk.n_lengths):
            walks = all_walks(batch, i, walk.backtrack)
            if not walks:
                continue
            own = np.array([graph_of[way[0]] for way, _ in walks])
            begins, ends = np.zeros((2, len(walks), i + 1))
            begins[:, 0], ends[:, i] = start[[way[0] for way, _ in walks]], stop[[way[-1] for way, _ in walks]]
            alone = replace(walk.in_iteration(r), max_length=i)
            alone = replace(alone, start=begins.ravel(), stop=ends.ravel())
            made = sketch.compute(as_paths(labelled, walks, i), alone, np.ldexp(1.0, exponents[own]))[:, i]
            products = gradients[own, i, r * d : (r + 1) * d].astype(float) * made
            shares, sizes = (
                np.add.reduceat(each, np.arange(0, d, WIDTH), axis=1) for each in (products, abs(products))
            )
            for (on_nodes, on_entries), share, size in zip(walks, shares, sizes, strict=True):
                for out, passed, count in ((nodes, on_nodes, i + 1), (entries, on_entries, i)):
                    for place in passed:
                        out[0, :, place] += share / count
                        out[1, :, place] += size / count
    return nodes, entries


def check_walk_by_walk(batch, walk, sketch):
    made, gradients = profile_and_gradients(batch, walk, sketch)
    found = spread_gradients(batch, walk, sketch, made.exponents, gradients)
    expected = spread_walk_by_walk(batch, walk, sketch, made.exponents, gradients)
    for ours, (theirs, size) in zip(found, expected, strict=True):
        assert ours.shape == theirs.shape
        assert np.abs(theirs).max() > 1e-3
        assert np.all(np.abs(ours - theirs) <= 1e-6 * size)
    return made, gradients, found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("options", CASES.values(), ids=list(CASES))
def test_every_walk_is_shared_by_its_nodes_and_by_its_edges(options, kind):
    batch, walk = some_graphs(*KINDS[kind]), Walk(LENGTH, **options)
    if kind:
        check_walk_by_walk(batch, random_ends(batch, walk), Sketch(144, 11, first_group=2))
    for n_components in (64, 128, 148, 192) if not kind else ():
        check_walk_by_walk(batch, walk, Sketch(n_components, 11))


@pytest.mark.parametrize("backtrack", [True, False])
@pytest.mark.parametrize("edge_labels", [True, False])
def test_parallel_edges(backtrack, edge_labels):
    """Entries of an edge that is there twice are walks of their own, and back along either is back."""
    rng = np.random.default_rng(0)
    pairs = [(0, 1), (0, 1), (0, 2), (1, 0), (1, 0), (1, 2), (2, 0), (2, 1), (2, 3), (3, 2)]
    rows, columns = np.array(pairs).T
    batch = gv.GraphBatch(
        np.array([0, 4]),
        np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=4))]),
        columns.astype(np.int32),
        False,
        edge_labels=Labels.from_hashes(rng.integers(0, 2, len(pairs)).astype(np.uint64)),
        node_attributes=np.zeros((4, 1)),
        edge_attributes=np.zeros((len(pairs), 1)),
    )
    check_walk_by_walk(batch, Walk(4, "edge" if edge_labels else None, backtrack=backtrack), Sketch(192))


@pytest.mark.parametrize("sizes", [[], [0], [0, 0], [1]])
def test_hardly_any_graph(sizes):
    n = sum(sizes)
    batch = gv.GraphBatch.from_arrays(
        np.empty((0, 2), int), sizes, [1] * n, [], None, np.zeros((n, 2)), edge_attributes=np.empty((0, 1))
    )
    for options in CASES.values():
        walk, sketch = Walk(2, **options), Sketch(192)
        made, gradients = profile_and_gradients(batch, walk, sketch)
        nodes, entries = spread_gradients(batch, walk, sketch, made.exponents, gradients)
        assert (nodes.shape, entries.shape) == ((2, n), (2, 0))
        np.testing.assert_allclose(nodes.sum(), (gradients * made.values).sum(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("case", ["labels", "edge labels", "non-backtracking", "everything, non-backtracking"])
def test_the_same_bits_however_they_are_computed(case, monkeypatch):
    batch, sketch = gv.GraphBatch.concatenate([some_graphs(weighted=True)] * 5), Sketch(192)
    walk = random_ends(batch, Walk(4, **CASES[case]))
    made, gradients = profile_and_gradients(batch, walk, sketch)

    def check(size=100):
        parts = [slice(first, min(first + size, len(batch))) for first in range(0, len(batch), size)]
        found = [
            spread_gradients(batch[s], walk.within(batch, s), sketch, made.exponents[s], gradients[s].copy())
            for s in parts
        ]
        for ours, theirs in zip(map(np.hstack, zip(*found, strict=True)), expected, strict=True):
            np.testing.assert_array_equal(ours, theirs)

    with threads(1):
        expected = spread_gradients(batch, walk, sketch, made.exponents, gradients.copy())
    with threads(2):
        check()
    check(1)
    check(7)
    with monkeypatch.context() as patch:
        patch.setattr(sketch_module, "_TABLE_BYTES", 1)
        check()
    monkeypatch.setattr("gvoys.threads._lost", True)
    check()
