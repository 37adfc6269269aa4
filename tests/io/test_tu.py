"""The TU format: what it may hold, and what is refused with file and line."""

import zipfile
from contextlib import suppress

import numpy as np
import pytest
from cpu_time import cpu_ratio
from raising import raises

import gvoys as gv
from gvoys.errors import DatasetError
from gvoys.io import tu

# two graphs: a triangle with a tail, and one node alone
TINY = {
    "A": "1, 2\n2, 1\n2, 3\n3, 2\n1, 3\n3, 1\n3, 4\n4, 3\n",
    "graph_indicator": "1\n1\n1\n1\n2\n",
    "graph_labels": "1\n-1\n",
    "node_labels": "6\n7\n6\n8\n6\n",
    "edge_labels": "1\n1\n2\n2\n1\n1\n3\n3\n",
    "node_attributes": "0.5, 1e3\n1, 2\n-1, 0\n0, 0\n2, 2\n",
}


def write_zip(folder, files, name="TINY", prefix="TINY/"):
    with zipfile.ZipFile(folder / f"{name}.zip", "w", zipfile.ZIP_DEFLATED) as out:
        for part, text in files.items():
            out.writestr(f"{prefix}{name}_{part}.txt", text)
    return folder


def write_folder(folder, files, name="TINY"):
    (folder / name).mkdir()
    for part, text in files.items():
        (folder / name / f"{name}_{part}.txt").write_text(text)
    return folder


def load(tmp_path, files, **how):
    return gv.datasets.load_tu("TINY", write_zip(tmp_path, files), **how)


@pytest.mark.parametrize("write", [write_zip, write_folder])
def test_reads_all_parts(tmp_path, write):
    batch, y = gv.datasets.load_tu("TINY", write(tmp_path, TINY))
    assert repr(batch) == "GraphBatch(2 graphs, 5 nodes, 4 edges, 3 node labels, 3 edge labels, 2 attributes)"
    assert y.tolist() == [1, -1]
    assert batch.graph_sizes.tolist() == [4, 1]
    assert batch.node_labels.decode() == [6, 7, 6, 8, 6]
    assert batch[0].edge_labels.decode() == [1, 1, 1, 2, 1, 2, 3, 3]
    assert batch.node_attributes[0].tolist() == [0.5, 1000.0]


def test_zips_and_graphs_without_nodes(tmp_path):
    assert gv.datasets.load_tu("TINY", write_zip(tmp_path, TINY, prefix=""))[0].n_edges == 4
    batch, _ = load(tmp_path, TINY | {"graph_labels": "1\n1\n1\n", "graph_indicator": "1\n1\n1\n1\n3\n"})
    assert batch.graph_sizes.tolist() == [4, 0, 1]
    load(tmp_path, TINY)
    assert [path.name for path in tmp_path.iterdir()] == ["TINY.zip"]


VARIANTS = {
    "edges once": {"A": "1, 2\n2, 3\n1, 3\n3, 4\n", "edge_labels": "1\n2\n1\n3\n"},
    "edges listed twice": {"A": TINY["A"] * 2, "edge_labels": TINY["edge_labels"] * 2},
    "no space": {part: text.replace(", ", ",") for part, text in TINY.items()},
    "windows line ends": {part: text.replace("\n", "\r\n") for part, text in TINY.items()},
    "old line ends": {part: text.replace("\n", "\r") for part, text in TINY.items()},
    "byte order marks": {part: "\ufeff" + text for part, text in TINY.items()},
    "marks and line ends": {part: "\ufeff" + text.replace("\n", "\r\n") for part, text in TINY.items()},
    "no last line end": {part: text.rstrip("\n") for part, text in TINY.items()},
    "blank lines at the end": {part: text + "\n\n" for part, text in TINY.items()},
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_variants_of_the_same_dataset(tmp_path, variant):
    (tmp_path / "usual").mkdir()
    usual, _ = load(tmp_path / "usual", TINY)
    batch, y = load(tmp_path, TINY | VARIANTS[variant])
    np.testing.assert_array_equal(batch.adjacency().toarray(), usual.adjacency().toarray())
    assert batch.edge_labels.decode() == usual.edge_labels.decode()
    assert y.tolist() == [1, -1]
    np.testing.assert_array_equal(batch.node_offsets, usual.node_offsets)


@pytest.mark.parametrize(
    ("classes", "expected"), [("0\n1\n", [0, 1]), ("1\n2\n", [1, 2]), ("-1\n1\n", [-1, 1]), ("3.0\n4.0\n", [3, 4])]
)
def test_class_labels_stay_as_they_are(tmp_path, classes, expected):
    _, y = load(tmp_path, TINY | {"graph_labels": classes})
    assert y.tolist() == expected
    assert y.dtype.kind == "i"


def test_targets(tmp_path):
    files = {part: text for part, text in TINY.items() if part != "graph_labels"}
    assert load(tmp_path, files)[1] is None
    _, y = load(tmp_path, files | {"graph_attributes": "0.25\n-1.5\n"})
    assert y.tolist() == [0.25, -1.5]
    _, y = load(tmp_path, files | {"graph_attributes": "0.25, 1\n-1.5, 2\n"})
    assert y.shape == (2, 2)
    batch, _ = load(tmp_path, TINY | {"node_labels": "0, 1\n0, 2\n0, 1\n1, 1\n0, 2\n"})
    assert batch.node_labels.decode()[:2] == [(0, 1), (0, 2)]
    batch, _ = load(tmp_path, {part: TINY[part] for part in ("A", "graph_indicator", "graph_labels")})
    assert (batch.node_labels, batch.edge_labels, batch.node_attributes) == (None, None, None)


def test_edge_attributes_and_missing_files(tmp_path):
    files = TINY | {"edge_attributes": "".join(f"{w}, 9\n" for w in (0.5, 0.5, 2, 2, 3, 3, 4, 4))}
    assert load(tmp_path, files)[0].edge_weights is None
    batch, _ = load(tmp_path, files, weight_column=0)
    assert sorted(set(batch.weights().tolist())) == [0.5, 2, 3, 4]
    with pytest.raises(DatasetError, match="weight_column=2, but there are 2 columns of edge attributes"):
        load(tmp_path, files, weight_column=2)
    files = {part: text for part, text in TINY.items() if part != "graph_indicator"}
    raises(DatasetError, r"there is no file TINY_graph_indicator.txt, which every dataset has", load, tmp_path, files)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"A": "1, 2\n2, x\n"}, "TINY_A.txt, line 2: '2, x' is not an integer in every column"),
        ({"A": "1, 2\n2, 1.5\n"}, "TINY_A.txt, line 2: '2, 1.5' is not an integer"),
        ({"A": "1, 2\n2\n3, 2\n"}, "TINY_A.txt, line 2: '2' has 1 columns, expected 2"),
        ({"A": "1, 2\n2, 1, 3\n3\n"}, "TINY_A.txt, line 2: '2, 1, 3' has 3 columns, expected 2"),
        ({"A": "1\n2\n"}, "TINY_A.txt, line 1: '1' has 1 columns, expected 2"),
        ({"A": "1, 2\n\n2, 1\n"}, "TINY_A.txt, line 2: '' has 1 columns, expected 2"),
        ({"A": "1, 2\n2, 9\n"}, "TINY_A.txt, line 2: edge 2, 9, but the nodes are numbered 1 to 5"),
        ({"A": "0, 2\n2, 0\n"}, "TINY_A.txt, line 1: edge 0, 2, but the nodes are numbered 1 to 5"),
        ({"A": "1, 2\n2, 5\n"}, "TINY_A.txt, line 2: edge 2, 5 joins graphs 1 and 2"),
        ({"graph_indicator": "1\n1\n2\n1\n2\n"}, "_indicator.txt, line 4: graph 1 after graph 2; the nodes of a graph"),
        ({"graph_indicator": "1\n1\n1\n1\n3\n"}, "_indicator.txt, line 5: graph 3, but only 2 graphs have a class"),
        ({"graph_indicator": "0\n1\n1\n1\n2\n"}, "_indicator.txt, line 1: graph 0, but graphs are numbered from 1"),
        ({"node_labels": "6\n7\n6\n"}, "TINY_node_labels.txt, line 4: the file has 3 lines and should have 5"),
        ({"node_labels": "6\n" * 7}, "TINY_node_labels.txt, line 6: the file has 7 lines and should have 5"),
        ({"node_attributes": "1, 2\n" * 4 + "1, two\n"}, "_attributes.txt, line 5: '1, two' is not a number in every"),
        ({"node_attributes": "1\n1\nnan\n1\n1\n"}, "graph 0: a node attribute is not finite"),
        ({"edge_labels": "1\n9\n2\n2\n1\n1\n3\n3\n"}, r"graph 0: edge \(0, 1\) is given with the labels 1 and 9"),
        ({"graph_labels": ""}, "TINY_graph_indicator.txt, line 1: graph 1, but only 0 graphs have a class"),
    ],
    ids=str,
)
def test_malformed_files_are_refused_with_file_and_line(tmp_path, change, message):
    raises(DatasetError, message, load, tmp_path, TINY | change)


# -- zips that are not what they say
@pytest.mark.parametrize("name", ["../evil.txt", "/etc/passwd", "TINY/../../evil.txt", "C:\\evil.txt", "..\\evil.txt"])
def test_entries_outside_the_archive_are_refused(tmp_path, name):
    write_zip(tmp_path, TINY)
    with zipfile.ZipFile(tmp_path / "TINY.zip", "a") as out:
        out.writestr(name, "boo")
    raises(DatasetError, "points outside the archive; do not use this file", gv.datasets.load_tu, "TINY", tmp_path)


@pytest.mark.parametrize("name", ["TINY/TINY_A.txt", "TINY_A.txt", "other/TINY_A.txt"])
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_file_that_the_zip_holds_twice_is_refused(tmp_path, name):
    write_zip(tmp_path, TINY)
    with zipfile.ZipFile(tmp_path / "TINY.zip", "a") as out:
        out.writestr(name, "1, 2\n2, 1\n")
        out.writestr("other/unrelated.txt", "")
        out.writestr("unrelated.txt", "")
    with pytest.raises(DatasetError, match=r"TINY.zip holds TINY_A.txt 2 times, .*; remove all but one"):
        gv.datasets.load_tu("TINY", tmp_path)


def test_sizes_out_of_proportion(tmp_path, monkeypatch):
    """40 MB of zip can hold 40 GB of text."""
    write_zip(tmp_path, TINY | {"node_attributes": "0\n" * 2**25})
    with pytest.raises(DatasetError, match=r"64 MiB of text .* 25 times its size .*; unpack it and pass the folder"):
        gv.datasets.load_tu("TINY", tmp_path)
    monkeypatch.setattr(tu, "LARGEST", 2**20)
    write_zip(tmp_path, TINY | {"node_attributes": "0\n" * 2**20})
    raises(DatasetError, "GiB of text; one dataset may have", gv.datasets.load_tu, "TINY", tmp_path)


def test_damaged_zips_are_refused(tmp_path):
    write_zip(tmp_path, TINY | {"A": TINY["A"] * 500, "edge_labels": TINY["edge_labels"] * 500})
    whole = (tmp_path / "TINY.zip").read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(60):
        damaged = bytearray(whole)
        for place in rng.integers(0, len(whole), 4):
            damaged[place] ^= 1 << int(rng.integers(8))
        (tmp_path / "TINY.zip").write_bytes(damaged)
        with suppress(DatasetError):
            gv.datasets.load_tu("TINY", tmp_path)
    (tmp_path / "TINY.zip").write_bytes(whole[: len(whole) // 2])
    raises(DatasetError, r"is not a readable zip file .*; fetch it again", gv.datasets.load_tu, "TINY", tmp_path)


# -- real datasets
@pytest.fixture
def no_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("GVOYS_DATA", str(tmp_path))


def test_datasets_of_the_installed_package(no_cache):
    pytest.importorskip("grakel")
    batch, y = gv.datasets.load_tu("MUTAG")
    assert repr(batch) == "GraphBatch(188 graphs, 3371 nodes, 3721 edges, 7 node labels, 4 edge labels)"
    assert np.unique(y, return_counts=True)[1].tolist() == [63, 125]
    pytest.importorskip("grakel")
    batch, _ = gv.datasets.load_tu("Cuneiform")
    assert len(batch) == 267
    assert all(isinstance(value, tuple) and len(value) == 2 for value in batch.node_labels.values)
    assert batch.node_attributes.shape[1] == 3


STATISTICS = {
    "MUTAG": (188, 17.93, 19.79, 7, 4, 0),
    "PTC_MR": (344, 14.29, 14.69, 18, 4, 0),
    "ENZYMES": (600, 32.63, 62.14, 3, 0, 106),
    "PROTEINS": (1113, 39.06, 72.82, 3, 0, 5),
    "DD": (1178, 284.32, 715.66, 82, 0, 0),
    "NCI1": (4110, 29.87, 32.30, 37, 0, 428),
    "AIDS": (2000, 15.69, 16.20, 38, 3, 210),
}


@pytest.mark.parametrize("name", STATISTICS)
def test_published_statistics(name, tu_root):
    batch, y = gv.datasets.load_tu(name, tu_root)
    n_graphs, nodes, edges, node_labels, edge_labels, isolated = STATISTICS[name]
    assert len(batch) == len(y) == n_graphs
    assert round(batch.n_nodes / n_graphs, 2) == nodes
    assert round(batch.n_edges / n_graphs, 2) == edges
    assert len(batch.node_labels.hashes) == node_labels
    assert (0 if batch.edge_labels is None else len(batch.edge_labels.hashes)) == edge_labels
    assert int((batch.degrees() == 0).sum()) == isolated


def numbers_in(path):
    """All integers of a zip, by Python: the yardstick for reading it."""
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if name.endswith(".txt") and "readme" not in name.lower()]
        return [[int(word) for word in archive.read(name).replace(b",", b" ").split()] for name in names]


@pytest.mark.alone
def test_nci1_loads_about_as_fast_as_its_numbers_are_read(tu_root):
    ratio = cpu_ratio(lambda: gv.datasets.load_tu("NCI1", tu_root), lambda: numbers_in(tu_root / "NCI1.zip"))
    assert ratio < 6  # 0.8 at the time of writing


@pytest.mark.alone
def test_a_dataset_of_that_size_loads_as_fast(tmp_path):
    """The same without the data: as many lines as NCI1 has."""
    batch = gv.datasets.molecules(4110)
    rows, columns = batch.rows(), batch.adjacency().indices
    files = {
        "A": "".join(f"{u + 1}, {v + 1}\n" for u, v in zip(rows.tolist(), columns.tolist(), strict=True)),
        "graph_indicator": "".join(f"{g + 1}\n" for g in batch.node_graphs().tolist()),
        "graph_labels": "0\n1\n" * (len(batch) // 2),
        "node_labels": "".join(f"{label}\n" for label in batch.node_labels.decode()),
    }
    write_zip(tmp_path, files)
    again, _ = gv.datasets.load_tu("TINY", tmp_path)
    ratio = cpu_ratio(lambda: gv.datasets.load_tu("TINY", tmp_path), lambda: numbers_in(tmp_path / "TINY.zip"))
    assert ratio < 6  # 0.8 at the time of writing
    np.testing.assert_array_equal(again.indices, batch.indices)
