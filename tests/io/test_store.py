"""Stores: what goes in comes out, mapped; what is damaged, foreign or unfinished is refused by name."""

import errno
import json
import os
import tracemalloc
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from raising import raises
from same import same_graphs
from store_files import take_apart, write_again

import gvoys as gv
from gvoys.errors import GraphError, ParameterError, StoreError

BATCH = gv.datasets.molecules(60, random_state=3)


def directed(n=6):
    rng = np.random.default_rng(0)
    graphs = []
    for k in range(n):
        g = nx.gnp_random_graph(5 + k, 0.4, directed=True, seed=k)
        for u in g:
            g.nodes[u].update(label=("C", u % 2), a=[float(u), 1.0])
        for u, v in g.edges:
            g.edges[u, v].update(label=[None, "x", b"y", 1.5][(u + v) % 4], weight=float(rng.normal()))
        graphs.append(g)
    return gv.as_batch(graphs, node_attributes="a")


CASES = {
    "molecules": BATCH,
    "directed": directed(),
    "plain": gv.datasets.erdos_renyi(3, 20, 0.2),
    "edgeless": gv.GraphBatch.from_arrays([], [1, 0, 2]),
    "empty": BATCH[:0],
}


@pytest.mark.parametrize("name", CASES)
def test_what_goes_in_comes_out(tmp_path, name):
    gv.write_store(CASES[name], tmp_path / "store")
    found = gv.open_store(tmp_path / "store")
    same_graphs(found, CASES[name]) if len(CASES[name]) else None
    assert len(found) == len(CASES[name])


def single(label="a"):
    graph = nx.Graph()
    graph.add_node(0, label=label)
    return gv.as_batch([graph])


def labelled(*edges, **more):
    return gv.as_batch([nx.MultiGraph([(u, v, {"label": label}) for u, v, label in edges])], **more)


PIECES = {
    "molecules": [BATCH[i : i + 4] for i in range(0, len(BATCH), 4)],
    "directed": [CASES["directed"][:4], CASES["directed"][4:]],
    "late weights": [gv.datasets.erdos_renyi(2, 10, 0.3), gv.as_batch([nx.Graph([(0, 1, {"weight": 2.5})])])],
    "parallel edges": [labelled((0, 1, "y")), labelled((0, 1, "x"), (0, 1, "y"), (1, 1, "y"))],
    "labels of numpy": [single(np.int64(3)), single(np.float32(0.5))],
}


@pytest.mark.parametrize("name", PIECES)
def test_pieces_make_the_same_store(tmp_path, name):
    gv.write_store(iter(PIECES[name]), tmp_path / "pieces")
    gv.write_store(gv.GraphBatch.concatenate(PIECES[name]), tmp_path / "whole")
    same_graphs(gv.open_store(tmp_path / "pieces"), gv.GraphBatch.concatenate(PIECES[name]))
    same_graphs(gv.open_store(tmp_path / "whole"), gv.open_store(tmp_path / "pieces"))


def test_graphs_without_edges_do_not_bind_the_others(tmp_path):
    path = nx.path_graph(3)
    nx.set_node_attributes(path, "b", "label")
    pieces = [single(), gv.as_batch([path])]
    gv.write_store(iter(pieces), tmp_path / "store")
    same_graphs(gv.open_store(tmp_path / "store"), gv.GraphBatch.concatenate(pieces))


def test_profiles_and_estimators_take_a_store(tmp_path):
    gv.write_store(BATCH, tmp_path / "store")
    store = gv.open_store(tmp_path / "store")
    for method in ("moments", "sketch", "sequences"):
        one, other = (gv.profiles(each, gv.Walk(3), method=method, n_components=130) for each in (store, BATCH))
        np.testing.assert_array_equal(one, other)
    one, other = (gv.RandomWalkKernel().fit_transform(each) for each in (store, BATCH))
    np.testing.assert_array_equal(one, other)


def test_slices_are_views_and_opening_copies_nothing(tmp_path):
    n, degree = 400_000, 10
    with gv.StoreWriter(tmp_path / "ring") as writer:
        for begin in range(0, n, 50_000):
            u = np.arange(begin, begin + 50_000)
            around = (u[:, None] + np.delete(np.arange(-degree // 2, degree // 2 + 1), degree // 2)) % n
            writer.add_rows(np.full(len(u), degree), np.sort(around, axis=1).ravel(), node_labels=u % 3)
        writer.end_graph()
    tracemalloc.start()
    store = gv.open_store(tmp_path / "ring", verify=False)
    part = store[0:1]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert np.shares_memory(part.indices, store.indices)
    assert not store.indices.flags.writeable
    assert peak < 3 * store.indptr.nbytes  # offsets are rebased, entries are not copied
    assert store.n_entries == n * degree
    K = gv.profiles(store, gv.Walk(3, start="ones", stop="ones"), method="moments")[0, :, 0]
    np.testing.assert_allclose(K, n * degree ** np.arange(4.0))


@pytest.mark.parametrize(
    ("pieces", "message"),
    [
        ((BATCH, gv.datasets.erdos_renyi(2, 10, 0.3)), "some of the graphs have edge labels and others"),
        ((gv.datasets.erdos_renyi(2, 10, 0.3), BATCH), "some of the graphs have"),
        ((directed(), BATCH), "directed and undirected"),
    ],
)
def test_graphs_that_differ_are_refused_and_leave_nothing(tmp_path, pieces, message):
    raises(GraphError, message, gv.write_store, iter(pieces), tmp_path / "store")
    assert list(tmp_path.iterdir()) == []


def test_writers_that_failed_or_run_at_once(tmp_path):
    def broken(error):
        yield BATCH
        raise error

    for error in (RuntimeError("x"), KeyboardInterrupt()):
        with pytest.raises(type(error)):
            gv.write_store(broken(error), tmp_path / "store")
        assert list(tmp_path.iterdir()) == []

    def pieces():
        yield BATCH
        raises(ParameterError, "another run is at work", gv.write_store, BATCH, tmp_path / "store")

    gv.write_store(pieces(), tmp_path / "store")
    same_graphs(gv.open_store(tmp_path / "store"), BATCH)
    assert [file.name for file in tmp_path.iterdir()] == ["store"]


def test_what_a_killed_writer_left_is_removed(tmp_path):
    """Its own only: the names of other stores may begin alike."""
    for name in (".store.12345.part", ".store.v2.12345.part"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "indices.npy").write_bytes(b"x")
    (tmp_path / ".store.lock").write_text("")
    gv.write_store(BATCH, tmp_path / "store")
    assert sorted(file.name for file in tmp_path.iterdir()) == [".store.v2.12345.part", "store"]


@pytest.mark.parametrize("nth", range(6))
def test_a_full_disk_leaves_nothing(tmp_path, monkeypatch, nth):
    """Whichever file is the one that finds it full, when it is opened or when it is closed."""
    opened = []

    class Full:
        def __init__(self, file):
            self.file = file

        def __getattr__(self, name):
            return getattr(self.file, name)

        def close(self):
            self.file.close()
            raise OSError(errno.ENOSPC, "No space left on device")

    real = Path.open

    def open_one(path, mode="r", *arguments, **named):
        file = real(path, mode, *arguments, **named)
        opened.append(path.suffix == ".npy" and mode == "wb")
        if path.suffix != ".npy" or mode != "wb" or sum(opened) <= nth // 2:
            return file
        if nth % 2:
            return Full(file)
        file.close()
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "open", open_one)
    raises(OSError, "No space left", gv.write_store, BATCH, tmp_path / "store")
    monkeypatch.undo()
    assert list(tmp_path.iterdir()) == []
    gv.write_store(BATCH, tmp_path / "store")
    same_graphs(gv.open_store(tmp_path / "store"), BATCH)


def test_refusals(tmp_path):
    store = tmp_path / "store"
    gv.write_store(BATCH, store)
    raises(StoreError, "exists already", gv.write_store, BATCH, store)
    raises(StoreError, "there is no store", gv.open_store, tmp_path / "nowhere")
    (tmp_path / "foreign").mkdir()
    raises(StoreError, r"foreign is not a store, .* no manifest", gv.open_store, tmp_path / "foreign")
    (tmp_path / "foreign" / "manifest.json").write_text('{"a": 1}')
    raises(StoreError, "not the manifest of a store", gv.open_store, tmp_path / "foreign")
    with gv.StoreWriter(tmp_path / "rows") as writer:
        raises(GraphError, "add up to 3 and there are 2", writer.add_rows, np.array([1, 2]), np.array([0, 1]))
        writer.add(BATCH)


@pytest.mark.parametrize("file", sorted(["indices.npy", "node_labels_values.json", "node_labels_hashes.npy"]))
def test_a_damaged_file_is_refused_by_name(tmp_path, file):
    store = tmp_path / "store"
    gv.write_store(BATCH, store)
    content = (store / file).read_bytes()
    (store / file).write_bytes(content[:-1])
    raises(StoreError, rf"{file} has .* bytes and should have", gv.open_store, store, verify=False)
    (store / file).write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    raises(StoreError, rf"{file} is damaged", gv.open_store, store)
    os.remove(store / file)
    raises(StoreError, rf"lacks its file .*{file}", gv.open_store, store)


@pytest.mark.parametrize(
    ("degrees", "indices", "more", "message"),
    [
        ([1, 1], [1, 2_000_000_000], {}, "leads to node 2000000000, and the graph has 2"),
        ([1, 1], [1, -1], {}, "between 0"),
        ([1, 1], [1, 2**32 + 1], {}, "between 0"),
        ([1, 1], [1.0, 0.0], {}, "flat array of integers"),
        ([-1, 3], [0, 1], {}, "between 0"),
        ([1, 1], [1, 0], {"node_labels": [1]}, "node_labels has 1 values and should have 2"),
        ([1, 1], [1, 0], {"edge_weights": [1.0, 2.0, 3.0]}, "edge_weights has 3 values"),
        ([1, 1], [1, 0], {"edge_weights": [1.0, np.nan]}, "finite"),
        ([0, 1, 2], [1, 2, 0], {}, "node 2 has entries out of order"),
    ],
)
def test_rows_that_are_no_graph_are_refused(tmp_path, degrees, indices, more, message):
    def write():
        with gv.StoreWriter(tmp_path / "store") as writer:
            writer.add_rows(np.array(degrees), np.array(indices), **more)
            writer.end_graph()

    raises(GraphError, message, write)
    assert list(tmp_path.iterdir()) == []


def test_changed_headers_and_manifests(tmp_path):
    store = tmp_path / "store"
    gv.write_store(BATCH, store)
    manifest = json.loads((store / "manifest.json").read_text())
    (store / "manifest.json").write_text(json.dumps({**manifest, "directed": True}))
    raises(StoreError, "damaged", gv.open_store, store)
    (store / "manifest.json").write_text(json.dumps({**manifest, "version": 99}))
    raises(StoreError, "version 99; this gvoys reads version 1", gv.open_store, store)
    (store / "manifest.json").write_text(json.dumps(manifest)[:-9])
    raises(StoreError, "not the manifest", gv.open_store, store)
    gv.write_store(BATCH, tmp_path / "other")
    file = tmp_path / "other" / "indptr.npy"
    content = bytearray(file.read_bytes())
    content[20] ^= 1
    file.write_bytes(content)
    raises(StoreError, "header does not fit", gv.open_store, tmp_path / "other")


# -- content that does not fit, under checksums that do; all but two of these ended the process once
@pytest.mark.parametrize("verify", [True, False])
@pytest.mark.parametrize("wrong", [2**30, -5])
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("indices", "graph 27: node .* leads to node {}"),
        ("indptr", "graph 27: node .*: indptr falls from .* to "),
        ("node_offsets", "graph (29|30): node_offsets falls from .* to "),
        ("node_labels", "node_labels: code {} at place .* is not among 0 to "),
    ],
)
def test_numbers_out_of_range_are_refused(tmp_path, name, message, wrong, verify):
    gv.write_store(BATCH, tmp_path / "store")
    arrays, values, manifest = take_apart(tmp_path / "store")
    arrays[name][len(arrays[name]) // 2] = wrong
    write_again(tmp_path / "store", arrays, values, manifest)
    with pytest.raises(StoreError, match=rf"store are damaged: {message.format(wrong)}.*; write the store again$"):
        gv.open_store(tmp_path / "store", verify=verify)


def test_verify_finds_edges_without_their_mirror(tmp_path):
    gv.write_store(gv.GraphBatch.from_arrays([[0, 1], [1, 2]], [3], directed=True), tmp_path / "store")
    write_again(tmp_path / "store", *take_apart(tmp_path / "store"), lambda body: body.update(directed=False))
    with pytest.raises(StoreError, match=r"graph 0: edge \(0, 1\) has no edge back.*; write the store again"):
        gv.open_store(tmp_path / "store")
    assert len(gv.open_store(tmp_path / "store", verify=False)) == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda body: body.pop("directed"), "it must say whether graphs are directed"),
        (lambda body: body.update(directed="no"), "it must say whether graphs are directed"),
        (lambda body: body.update(arrays=[]), "it must say"),
        (lambda body: body["arrays"].pop("indices"), "it has no array 'indices'"),
        (lambda body: body["arrays"].pop("node_labels_hashes"), "it has no array 'node_labels_hashes'"),
        (lambda body: body["arrays"].update(indptr=3), "size and checksum of 'indptr'"),
        (lambda body: body["arrays"]["indptr"].update(bytes="many"), "size and checksum of 'indptr'"),
        (lambda body: body["arrays"]["indptr"].update(dtype="|O"), "there can be no array 'indptr' of type '|O'"),
        (lambda body: body["arrays"]["indices"].update(dtype="<f4"), "there can be no array 'indices' of type"),
        (lambda body: body["arrays"]["indices"].update(shape=None), "and shape None"),
        (lambda body: body["arrays"]["indices"].update(shape=[2**62, 4]), "there can be no array 'indices'"),
        (lambda body: body["arrays"].update({"../x": body["arrays"]["indices"]}), "there can be no array '../x'"),
        (lambda body: body["values"].pop("node_labels"), "has no values"),
        (lambda body: body["values"].update(node_labels=None), "size and checksum of 'node_labels'"),
        (lambda body: body["values"].update(other={"bytes": 1, "crc32": 1}), "it has no array 'other'"),
    ],
)
@pytest.mark.parametrize("verify", [True, False])
def test_a_manifest_that_says_too_little_is_refused(tmp_path, change, message, verify):
    gv.write_store(BATCH, tmp_path / "store")
    write_again(tmp_path / "store", *take_apart(tmp_path / "store"), change)
    raises(StoreError, message.replace("|", r"\|"), gv.open_store, tmp_path / "store", verify=verify)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"a": 1}, "not a list of labels"),
        (b"[1", "not a list of labels"),
        (b"[" * 10**5, "not a list of labels"),
        ([[1]], "not a list of labels"),
        ([{"tuple": 3}], "not a list of labels"),
        ([{"bytes": "zz"}], "not a list of labels"),
        (["C"], "one value for each of its"),
    ],
)
def test_label_tables_that_are_none_are_refused(tmp_path, table, message):
    gv.write_store(BATCH, tmp_path / "store")
    arrays, values, manifest = take_apart(tmp_path / "store")
    write_again(tmp_path / "store", arrays, {**values, "node_labels": table}, manifest)
    raises(StoreError, message, gv.open_store, tmp_path / "store", verify=False)
