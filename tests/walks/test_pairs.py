"""Maps of entries: one shift and signs in place of those of an edge label and of a node label."""

from dataclasses import replace

import numpy as np
import pytest

import gvoys as gv
from gvoys._compiled.arguments import Ends
from gvoys._compiled.cpu.randomness import number_pairs
from gvoys._compiled.cpu.sketch_cpu import CpuSketch
from gvoys.graphs.labels import Labels
from gvoys.walks import Walk
from gvoys.walks import sketch as module
from gvoys.walks.sketch import WIDTH

N_GROUPS, N_STEPS = 2, 4


def sketch_of(batch, **options):
    ends = Ends(np.ones(batch.n_nodes, np.float32), np.ones(batch.n_nodes, np.float32), np.ones(len(batch), np.float32))
    return CpuSketch(batch, Walk(N_STEPS - 1, **options), ends, seed=3, first_group=5)


def turned(row, signs, shift):
    bits = np.unpackbits(signs.view(np.uint8), bitorder="little")
    return np.where(bits, -1, 1) * np.roll(row, int(shift))


def labelled_batch():
    batch = gv.datasets.molecules(8, mean_nodes=10)
    labels = np.random.default_rng(1).integers(0, 4, batch.n_entries)
    return replace(batch, edge_labels=Labels.from_values(labels))


@pytest.mark.parametrize("edge_labels", [False, True])
def test_the_map_of_an_entry_is_that_of_its_label_after_that_of_its_head(edge_labels):
    batch = labelled_batch()
    sketch = sketch_of(batch, labels="both" if edge_labels else "node")
    signs, shifts = sketch._entry_bits(N_GROUPS, N_STEPS)
    row = np.random.default_rng(0).normal(size=WIDTH)
    for group in range(N_GROUPS):
        nodes = sketch._node_maps(group, N_STEPS, WIDTH)
        edges = sketch._edge_maps(group, N_STEPS, WIDTH)
        for e, head in enumerate(batch.columns()):
            label, pair = nodes.codes[head], sketch.entry_codes[e]
            for t in range(1, N_STEPS):
                expected = nodes.signs[t - 1, label] * np.roll(row, nodes.shifts[t - 1, label])
                if edge_labels:
                    own = edges.codes[e]
                    expected = edges.signs[t, own] * np.roll(expected, edges.shifts[t, own])
                np.testing.assert_array_equal(turned(row, signs[group, t, pair], shifts[group, t, pair]), expected)


@pytest.mark.parametrize("n_second", [3, 10**6], ids=["few", "many possible pairs"])
def test_pairs_are_numbered_once(n_second):
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 4, 200), rng.integers(0, 3, 200) * (n_second // 3)
    codes, pairs = number_pairs(first, second, n_second)
    np.testing.assert_array_equal(pairs[:, codes], [first, second])
    assert len(np.unique(pairs, axis=1).T) == pairs.shape[1] == codes.max() + 1


def test_no_entries_have_no_pairs():
    batch = gv.GraphBatch.from_arrays([], [0, 2], node_labels=["C", "N"])
    nothing = replace(batch, edge_labels=Labels.from_values(np.zeros(0, np.int64)))
    sketch = sketch_of(nothing, labels="both")
    assert sketch.entry_codes.shape == (0,)
    assert sketch._entry_bits(N_GROUPS, N_STEPS)[1].shape == (N_GROUPS, N_STEPS, 0)


def test_tables_of_pairs_are_cut_without_a_trace(monkeypatch):
    """Each block has no more pairs than fit, unless one graph has."""
    batch = labelled_batch()
    batch = replace(batch, node_labels=Labels.from_values(np.arange(batch.n_nodes)))
    walk = Walk(3, "both", refine=2, backtrack=False)
    expected = gv.profiles(batch, walk, "sketch", 2 * WIDTH)
    most = 60
    monkeypatch.setattr(module, "_TABLE", module._bytes_per_label(4, 2 * WIDTH, True) * most)
    np.testing.assert_array_equal(gv.profiles(batch, walk, "sketch", 2 * WIDTH), expected)
    blocks = module._blocks(batch, Walk(3, "both"), module._TABLE // most)
    items = np.array([batch[block].n_nodes + batch[block].n_entries for block in blocks])
    assert len(blocks) > 2
    assert (items <= most + max(batch[i].n_nodes + batch[i].n_entries for i in range(len(batch)))).all()
