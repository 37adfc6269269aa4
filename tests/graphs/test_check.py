"""What the constructor of GraphBatch checks. Each of these once reached compiled code, and most ended the process."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

import gvoys as gv
from gvoys.errors import GraphError
from gvoys.graphs import ranges
from gvoys.graphs.check import check_mirrored
from gvoys.graphs.labels import Labels

PATH = {  # 0 - 1 - 2 and 0 - 1
    "node_offsets": np.array([0, 3, 5]),
    "indptr": np.array([0, 1, 3, 4, 5, 6]),
    "indices": np.array([1, 0, 2, 1, 1, 0], np.int32),
    "directed": False,
}
TABLE = np.array([5, 6], np.uint64)


def make(**changed):
    fields = {**PATH, **changed}
    return gv.GraphBatch(
        **{name: field.copy() if isinstance(field, np.ndarray) else field for name, field in fields.items()}
    )


def labels(codes, hashes=TABLE, values=("a", "b")):
    return Labels(np.array(codes, np.int32), hashes, values)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"indices": np.array([2**30] * 6, np.int32)}, "graph 0: node 0 has an entry that leads to node 1073741824"),
        ({"indices": np.array([1, 0, 2, 1, 2, 0], np.int32)}, "graph 1: node 0 .* leads to node 2, .* numbered 0 to 1"),
        ({"indices": np.array([1, 0, -1, 1, 1, 0], np.int32)}, "graph 0: node 1 .* leads to node -1"),
        ({"indices": np.array([1, 2, 0, 1, 1, 0], np.int32)}, "graph 0: node 1 has entries out of order: 0 after 2"),
        ({"indices": np.array([1, 0, 2, 1, 1, 2**40])}, "indices must be 32-bit integers, and 1099511627776 is not"),
        ({"indices": np.array([1.0, 0, 2, 1, 1, 0])}, "indices must be a flat array of integers, not float64"),
        ({"indices": PATH["indices"][:5]}, "indptr ends at 6 and there are 5 entries"),
        ({"indptr": np.array([0, 1, 2**40, 4, 5, 6])}, "graph 0: node 2: indptr falls from 1099511627776 to 4"),
        ({"indptr": np.array([0, 1, -3, 4, 5, 6])}, "graph 0: node 1: indptr falls from 1 to -3"),
        ({"indptr": np.array([1, 1, 3, 4, 5, 6])}, "indptr must start at 0, not at 1"),
        ({"indptr": np.empty(0, int)}, "indptr is empty"),
        ({"indptr": np.array([[0, 1, 3, 4, 5, 6]])}, r"flat array of integers, not int64 of shape \(1, 6\)"),
        ({"indptr": np.array([0, 1, 3, 4, 5, 2**63], np.uint64)}, "9223372036854775808"),
        ({"indptr": None}, "indptr must be a flat array of integers, not object"),
        ({"indptr": [[0], [1, 2]]}, "indptr must be a flat array of integers"),
        ({"node_offsets": np.array([0, 3, 2**20])}, "node_offsets ends at 1048576 and there are 5 nodes"),
        ({"node_offsets": np.array([0, -3, 5])}, "graph 0: node_offsets falls from 0 to -3"),
        ({"node_offsets": np.array([0, 9, 5])}, "graph 1: node_offsets falls from 9 to 5"),
        ({"directed": "no"}, "directed must be True or False"),
        ({"edge_weights": np.ones(5)}, "edge_weights has 5 rows and should have 6"),
        ({"edge_weights": np.array([1, 1, np.nan, 1, 1, 1])}, "graph 0: node 1 to node 2: the weight is nan"),
        ({"edge_weights": np.ones((6, 1))}, "edge_weights must be real numbers"),
        ({"edge_weights": np.ones(6, complex)}, "edge_weights must be real numbers"),
        ({"node_attributes": np.ones(5)}, "node_attributes must be real numbers, an array of 2 dimensions"),
        ({"node_attributes": np.full((5, 2), np.inf)}, "graph 0: node 0: an attribute is not finite"),
        ({"node_labels": labels([0, 1, 2, 0, 0])}, "node_labels: code 2 at place 2 is not among 0 to 1"),
        ({"node_labels": labels([0, 1, -1, 0, 0])}, "node_labels: code -1 at place 2"),
        ({"node_labels": labels([0, 1])}, "node_labels has 2 codes and should have 5"),
        ({"node_labels": labels([0] * 5, values=("a",))}, "one value for each of its 2 hashes"),
        ({"node_labels": labels([0] * 5, hashes=np.ones(2))}, "64-bit hashes, uint64, not float64"),
        ({"node_labels": list("abcde")}, "node_labels must be Labels, not 'list'"),
        ({"edge_labels": labels([0, 1, 2**30, 0, 0, 0])}, "edge_labels: code 1073741824 at place 2"),
    ],
)
def test_what_does_not_fit_is_named(changed, message):
    with pytest.raises(GraphError, match=message) as caught:
        make(**changed)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", [np.int8, np.uint16, np.uint32, np.int64, ">i4", list])
def test_harmless_types_are_converted(kind):
    def converted(name):
        return PATH[name].tolist() if kind is list else PATH[name].astype(kind)

    spread = np.repeat(np.ones(6, np.float32), 2)[::2]
    batch = make(**{name: converted(name) for name in ("node_offsets", "indptr", "indices")}, edge_weights=spread)
    assert batch.indices.dtype == np.int32
    assert batch.edge_weights.dtype == np.float64
    assert batch.edge_weights.flags.c_contiguous
    np.testing.assert_array_equal(
        gv.profiles(batch, gv.Walk(3), method="moments"), gv.profiles(make(), gv.Walk(3), method="moments")
    )


def test_every_way_to_a_batch_is_checked():
    batch = make(node_labels=labels([0, 1, 0, 0, 1]))
    with pytest.raises(GraphError, match="code 7"):
        replace(batch, node_labels=labels([0, 1, 7, 0, 1]))
    state = pickle.dumps(batch).replace(batch.indices.tobytes(), np.full(6, 77, np.int32).tobytes())
    with pytest.raises(GraphError, match="leads to node 77"):
        pickle.loads(state)
    for given in ({"node_labels": labels([0, 9])}, {"edge_labels": labels([9])}):
        with pytest.raises(GraphError, match="code 9"):
            gv.GraphBatch.from_arrays([[0, 1]], [2], **given)
    with pytest.raises(GraphError, match="node_labels has 1 codes and should have 2"):
        gv.GraphBatch.from_arrays([[0, 1]], [2], node_labels=labels([0]))


SHARED = {
    "whole": lambda array: array,
    "slice": lambda array: array[:],
    "frozen for now": lambda array: np.lib.stride_tricks.as_strided(array, writeable=False),
    "map": lambda array: array.view(np.memmap),
}


@pytest.mark.parametrize("share", SHARED)
@pytest.mark.parametrize(
    "make_batch", [gv.GraphBatch, lambda **fields: replace(gv.GraphBatch(**fields), directed=True)]
)
def test_what_the_caller_writes_later_changes_nothing(share, make_batch):
    """It once ended the process in a kernel, or changed features without a word."""
    arrays = {name: field.copy() for name, field in PATH.items() if name != "directed"}
    arrays |= {"edge_weights": np.arange(6.0), "node_attributes": np.ones((5, 2)), "edge_attributes": np.ones((6, 1))}
    codes, tables, values = [np.zeros(n, np.int32) for n in (5, 6)], [TABLE.copy(), TABLE.copy()], ["a", "b"]
    given = {name: SHARED[share](array) for name, array in arrays.items()}
    for name, own, table in zip(("node_labels", "edge_labels"), codes, tables, strict=True):
        given[name] = Labels(SHARED[share](own), SHARED[share](table), values)
    batch = gv.GraphBatch(**given, directed=False)
    before = pickle.dumps(batch)
    values[:] = []
    for array in (*arrays.values(), *codes, *tables):
        assert array.flags.writeable
        array[...] = 2**30
    assert pickle.dumps(batch) == before


def test_large_batches_are_shared_among_threads(monkeypatch):
    monkeypatch.setattr(ranges, "_LARGE", 1)
    batch = gv.datasets.molecules(300)
    for place in (0, batch.n_entries // 2, batch.n_entries - 1):
        for wrong in (2**30, -1):
            indices = batch.indices.copy()
            indices[place] = wrong
            with pytest.raises(GraphError, match=f"leads to node {wrong}"):
                replace(batch, indices=indices)
    for name in ("node_offsets", "indptr"):
        pointers = getattr(batch, name).copy()
        pointers[-2] = -1
        with pytest.raises(GraphError, match=f"{name} falls from .* to -1"):
            replace(batch, **{name: pointers})


@pytest.mark.parametrize("labelled", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_undirected_batches_pass(labelled, weighted):
    batch = gv.datasets.molecules(50)
    loops = gv.GraphBatch.from_arrays([[0, 0], [0, 1], [2, 2]], [3], edge_labels=[1, 2, 3], node_labels=["C"] * 3)
    batch = gv.GraphBatch.concatenate([batch, loops])
    weights = None
    if weighted:  # of rounding only
        pair = np.sort(np.stack([batch.rows(), batch.columns()]), axis=0)
        weights = np.sin(pair[0] + 1.0) + pair[1] + np.random.default_rng(0).normal(0, 1e-15, batch.n_entries)
    check_mirrored(replace(batch, edge_weights=weights, edge_labels=batch.edge_labels if labelled else None))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"indices": np.array([1, 0, 2, 0, 1, 0], np.int32)}, r"graph 0: edge \(2, 0\) has no edge back"),
        ({"indices": np.array([2, 0, 2, 1, 1, 0], np.int32)}, r"graph 0: edge \(.*\) has no edge back"),
        ({"indices": np.array([1, 0, 2, 1, 0, 0], np.int32)}, r"graph 1: edge \(1, 0\) has no edge back"),
        ({"edge_weights": np.array([1, 1, 2, 3.0, 1, 1])}, r"graph 0: edge \(1, 2\) and the edge back differ"),
        ({"edge_weights": np.array([1, 1, 2, 2.0, 1, 1 + 1e-9])}, r"graph 1: edge \(0, 1\) and the edge back differ"),
        ({"edge_labels": labels([0, 0, 0, 1, 1, 1])}, r"graph 0: edge \(1, 2\) and the edge back differ"),
    ],
)
def test_an_edge_without_its_mirror_is_named(changed, message):
    check_mirrored(make(**changed, directed=True))
    with pytest.raises(GraphError, match=message):
        check_mirrored(make(**changed))


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1, 5000, 3 << 20], ids=["one", "some", "shared among threads"])
def test_a_number_that_is_not_finite_is_found_wherever_it_stands(kind, size):
    values = np.full(size, -np.finfo(kind).max, kind)
    assert ranges.first_not_finite(values) == ranges.NONE
    for place in {0, size // 2, size - 1}:
        for bad in (np.inf, -np.inf, np.nan):
            values[place] = bad
            assert ranges.first_not_finite(values) == place
        values[place] = 0.0
