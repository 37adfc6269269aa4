"""Standard input and compressed files: the kind is guessed, and the temporary copy goes with its source."""

import gc
import gzip
import io
import json
import os
import pickle
import subprocess
import sys
import tempfile
from pathlib import Path

import networkx as nx
import pytest

pytest.importorskip("rdkit")

from raising import raises

import gvoys as gv
from gvoys.errors import DatasetError
from gvoys.io import copies, open_graphs
from gvoys.io.open import HEAD, _is_smiles, guess_suffix
from gvoys.io.sources import FileSource

GRAPHS = [nx.cycle_graph(5), nx.path_graph(7), nx.complete_graph(4)]
GRAPH6 = b"".join(nx.to_graph6_bytes(graph, header=False) for graph in GRAPHS)
JSON = "".join(json.dumps(nx.node_link_data(graph, edges="links")) + "\n" for graph in GRAPHS).encode()


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Where temporary files go in these tests, and nothing else."""
    found = tmp_path / "temporary"
    found.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(found))
    return found


@pytest.fixture
def stdin(monkeypatch):
    def give(content):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    return give


KINDS = [
    pytest.param(b"CCO ethanol\nC1CC\n\nCN\n", ".smi", ["ethanol", "4"], id="smi"),
    pytest.param(b"CCO\tethanol\nCN\n", ".smi", ["ethanol", "2"], id="smi with tabs"),
    pytest.param(b"C1CC what\nCN\n", ".smi", ["2"], id="smi that begins with a bad one"),
    pytest.param(b"\xef\xbb\xbfsmiles,y\r\nCCO,1\r\nCN,2\r\n", ".csv", ["1", "2"], id="csv"),
    pytest.param(b'"y","SMILES"\n1,CCO\n', ".csv", ["1"], id="csv with quotes"),
    pytest.param(b"smiles\nCCO\n", ".csv", ["1"], id="one column"),
    pytest.param(b"y\tSmiles\n1\tCCO\n", ".tsv", ["1"], id="tsv"),
    pytest.param(GRAPH6, ".g6", ["1", "2", "3"], id="graph6"),
    pytest.param(b">>graph6<<" + GRAPH6, ".g6", ["1", "2", "3"], id="graph6 with a header"),
    pytest.param(b">>graph6<<C1CC\nBw\n", ".g6", ["2"], id="graph6 with a header and a bad one"),
    pytest.param(b"Bw\nCCO ethanol\nCN\n", ".smi", ["ethanol", "3"], id="smi whose first is graph6"),
    pytest.param(b"\xef\xbb\xbfsmiles\nCCO\n", ".csv", ["1"], id="one column after a byte order mark"),
    pytest.param(nx.to_sparse6_bytes(GRAPHS[1]), ".g6", ["1"], id="sparse6"),
    pytest.param(b"CF\nC~\n", ".g6", ["1", "2"], id="graph6 whose first is a molecule too"),
    pytest.param(b"CF\nCC\n", ".smi", ["1", "2"], id="molecules that are graph6 too"),
    pytest.param(JSON, ".jsonl", ["1", "2", "3"], id="jsonl"),
]


@pytest.mark.parametrize(("content", "suffix", "ids"), KINDS)
@pytest.mark.parametrize("compressed", [False, True])
def test_standard_input_of_every_kind(stdin, content, suffix, ids, compressed):
    stdin(gzip.compress(content) if compressed else content)
    source = open_graphs("-")
    assert isinstance(source, FileSource)
    assert (source.name, str(source)) == ("stdin", f"stdin{suffix}")
    assert source.read().ids == ids
    assert source.read().ids == ids  # as often as you like
    assert [name for piece in source.batches(1) for name in piece.ids] == ids


def test_columns_and_options_of_standard_input(stdin, tmp_path):
    stdin(b"mol,name,y\nC[NH3+],a,1\nCC,b,2\n")
    graphs = open_graphs("-", smiles="mol", id="name", target="y", chemistry={"charges": True}).read()
    assert graphs.ids == ["a", "b"]
    assert graphs.y.tolist() == [1, 2]
    assert ("N", False, 3, "+1") in graphs.batch.node_labels.values
    pytest.importorskip("pyarrow")
    pd = pytest.importorskip("pandas")
    pd.DataFrame({"smiles": ["CCO", "CN"], "y": [1, 2]}).to_parquet(tmp_path / "a.parquet")
    stdin((tmp_path / "a.parquet").read_bytes())
    assert open_graphs("-", target="y").read().y.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "standard input is empty; a file is read from there with - < FILE"),
        (b"\n\n", "stdin.smi holds no graphs"),
        (b"\nsmiles\nCCO\n", "stdin.csv begins with an empty line; a table begins with the names of its columns"),
        (b"smile,y\nCC,1\n", "stdin.csv has no column 'smiles' (did you mean 'smile'?); it has 'smile', 'y'; choose"),
        (b"mol name\tsmile\nx\tCC\n", "stdin.tsv has no column 'smiles' (did you mean 'smile'?)"),
        (gzip.compress(b"CCO\n" * 1000)[:30], "stdin cannot be unpacked: it is damaged, or was not written by gzip"),
    ],
    ids=["empty", "blank", "blank first", "csv", "tsv", "truncated"],
)
def test_standard_input_that_cannot_be_read(stdin, folder, content, sentence):
    stdin(content)
    with pytest.raises(DatasetError) as caught:
        open_graphs("-").read()
    assert str(caught.value).startswith(sentence)
    del caught
    gc.collect()
    assert not list(folder.iterdir())


def test_what_standard_input_is(stdin, monkeypatch):
    identities = []
    for content in (b"CCO\n", b"CCO\n", b"CCN\n"):
        stdin(content)
        identities.append(open_graphs("-").identity())
    assert identities[0] == identities[1]
    assert identities[0] != identities[2]
    assert identities[0]["name"] == "stdin.smi"
    monkeypatch.setattr(sys, "stdin", None)
    raises(DatasetError, "standard input is empty", open_graphs, "-")
    monkeypatch.setattr(sys, "stdin", io.StringIO("CCO\n"))
    assert open_graphs("-").read().ids == ["1"]


# -- the copy
def test_the_copy_goes_with_its_source(stdin, folder):
    stdin(b"CCO\n" * 10)
    source = open_graphs("-")
    assert [path.name for path in folder.rglob("*.smi")] == ["stdin.smi"]
    assert not source.has_changed()
    worker = pickle.loads(pickle.dumps(source))
    assert worker.read().ids == source.read().ids
    assert worker.temporary[0] == source.path
    del worker
    gc.collect()
    assert len(source.read().ids) == 10  # what a worker has removes nothing
    del source
    gc.collect()
    assert not list(folder.iterdir())


def test_the_end_of_a_copy(tmp_path, stdin, monkeypatch, folder):
    copy = copies.TemporaryCopy("a")
    copy.path.write_text("a")
    copies._remove(copy.path.parent, os.getpid() + 1)
    assert copy.path.exists()
    copies._remove(copy.path.parent, os.getpid())
    assert not copy.path.exists()

    class Full:
        def read(self, _):
            raise OSError(28, "No space left on device")

    with pytest.raises(DatasetError) as caught:
        copies._write_copy("stdin", copies._blocks(Full()), None)
    told = f"stdin cannot be copied to {folder} (No space left on device); name a folder with more space in TMPDIR"
    assert str(caught.value) == told


def test_the_copy_goes_with_the_process(tmp_path):
    code = "import gvoys as gv; source = gv.io.open_graphs('-'); print(source.path); raise SystemExit(3)"
    environment = os.environ | {"TMPDIR": str(tmp_path), "PYTHONPATH": str(Path(gv.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", code], input=b"CCO\n", capture_output=True, env=environment, check=False
    )
    assert done.returncode == 3, done.stderr
    assert str(tmp_path) in done.stdout.decode()
    assert not list(tmp_path.glob("gvoys-*"))


# -- compressed files
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.smi.gz", b"CCO a\nCN b\n"),
        ("a.csv.GZ", b"smiles,y\nCCO,1\nCN,2\n"),
        ("a.tsv.gz", b"smiles\ty\nCCO\t1\nCN\t2\n"),
        ("a.jsonl.gz", JSON),
        ("a.g6.gz", GRAPH6),
    ],
)
def test_compressed_files_are_the_files_in_them(tmp_path, folder, name, content):
    (tmp_path / name).write_bytes(gzip.compress(content))
    plain = tmp_path / name[:-3]
    plain.write_bytes(content)
    source, other = open_graphs(tmp_path / name), open_graphs(plain)
    assert source.read().ids == other.read().ids
    assert source.identity() == other.identity()
    assert (source.name, str(source)) == ("a", plain.name)
    del source
    gc.collect()
    assert not list(folder.iterdir())


def test_compressed_files_that_cannot_be_read(tmp_path, monkeypatch, folder):
    whole = gzip.compress(b"CCO\n" * 5000)
    for name, content in (("cut", whole[:40]), ("none", b"CCO\n"), ("bad", whole[:10] + b"\xff" * 50)):
        (tmp_path / f"{name}.smi.gz").write_bytes(content)
        said = f"^{name}.smi cannot be unpacked: it is damaged, or was not written by"
        raises(DatasetError, said, open_graphs, tmp_path / f"{name}.smi.gz")
    for name in ("a.gz", "a.zip.gz", "a.parquet.gz", "a.smi.gz.gz"):
        (tmp_path / name).write_bytes(whole)
        with pytest.raises(DatasetError, match=r"is not one of .smi, .*; text may be compressed, as in .smi.gz"):
            open_graphs(tmp_path / name)
    (tmp_path / "a.smi.gz").write_bytes(gzip.compress(b"C\n" * 500_000))
    assert open_graphs(tmp_path / "a.smi.gz").size == 1_000_000
    monkeypatch.setattr(copies, "MOST_UNPACKED", 1000)
    with pytest.raises(DatasetError, match=r"a.smi unpacks to over [\d,]+ bytes; unpack it first, and pass the file"):
        open_graphs(tmp_path / "a.smi.gz")
    gc.collect()
    assert not list(folder.iterdir())


# -- guesses
def test_guesses(monkeypatch):
    line = b"C" * 100 + b"\n"
    head = (line * (HEAD // len(line) + 1))[:HEAD]
    assert guess_suffix(head, "smiles") == ".smi"
    graphs = (nx.to_graph6_bytes(nx.gnp_random_graph(400, 0.5, seed=1), header=False) * 20)[:HEAD]
    assert guess_suffix(graphs, "smiles") == ".g6"
    monkeypatch.setitem(sys.modules, "rdkit", None)
    assert guess_suffix(GRAPH6, "smiles") == ".g6"
    assert guess_suffix(b"CCO ethanol\n", "smiles") == ".smi"
    assert not _is_smiles("CCO")
