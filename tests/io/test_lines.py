"""Lines of text files: where they end, whatever the system that wrote them, and which ids a row may have."""

import json
from itertools import chain

import networkx as nx
import pandas as pd
import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("rdkit")

from raising import raises

import gvoys as gv
import gvoys.io.sources.lines as lines_module
from gvoys.apps.scale import embed_file, write_gram
from gvoys.apps.scale.job import Parameters
from gvoys.io import open_graphs

BOM = b"\xef\xbb\xbf"
ENDS = {"LF": b"\n", "CRLF": b"\r\n", "CR": b"\r"}
NODE_LINK = json.dumps(nx.node_link_data(nx.path_graph(3), edges="links")).encode()
LINES = {
    ".smi": [b"CCO a", b"", b"C1CC b", b"CCN c", b"CC d e"],
    ".csv": [b"smiles,y", b"CCO,1", b"", b"C1CC,2", b"CCN,3", b'"CC",4'],
    ".tsv": [b"smiles\ty", b"CCO\t1", b"", b"C1CC\t2", b"CCN\t3", b"CC\t4"],
    ".g6": [b"Bw", b"", b"\x01", b"Cr", b"A_"],
    ".jsonl": [NODE_LINK, b"", b"{}", NODE_LINK, NODE_LINK],
}


def write(path, lines, end, bom=b"", last=True):
    path.write_bytes(bom + end.join(lines) + (end if last else b""))
    return path


def facts(path, **how):
    """Rows, ids, sizes and skipped rows: read at once, and in pieces of one, two and three rows."""
    source = open_graphs(path, **how)
    found = []
    for pieces in ([source.read()], *(list(source.batches(n_rows)) for n_rows in (1, 2, 3))):
        lists = [(p.rows, p.ids, p.batch.graph_sizes.tolist(), [(s.row, s.reason) for s in p.skipped]) for p in pieces]
        found.append(tuple(list(chain.from_iterable(each)) for each in zip(*lists, strict=True)))
    assert all(each == found[0] for each in found)
    return found[0]


@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize("bom", [b"", BOM])
@pytest.mark.parametrize("end", [name for name in ENDS if name != "LF"])
@pytest.mark.parametrize("suffix", LINES)
def test_lines_end_alike_whatever_wrote_them(tmp_path, monkeypatch, suffix, end, bom, last):
    expected = facts(write(tmp_path / f"a{suffix}", LINES[suffix], b"\n"))
    assert len(expected[0]) == 3
    for read in (1 << 20, 7, 1):  # blocks that end within a line end
        monkeypatch.setattr(lines_module, "_READ_BYTES", read)
        assert facts(write(tmp_path / f"b{suffix}", LINES[suffix], ENDS[end], bom, last)) == expected


def test_where_lines_end(tmp_path):
    (tmp_path / "a.smi").write_bytes(b"C a\rCC b\r\nCCC c\n\rCCCC d\n\n\r\r\nN e")
    rows, ids, sizes, skipped = facts(tmp_path / "a.smi")
    assert (rows, ids, sizes, skipped) == ([1, 2, 3, 5, 9], ["a", "b", "c", "d", "e"], [1, 2, 3, 4, 1], [])
    odd = ["\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"]
    (tmp_path / "a.smi").write_text("CC first\n" + "".join(f"CC a{c}b\n" for c in odd) + "CC last\n", newline="")
    graphs = open_graphs(tmp_path / "a.smi").read()
    assert graphs.ids == ["first", "last"]
    assert {each.reason for each in graphs.skipped} == {"the id holds a line break; it must be text on one line"}
    assert [each.row for each in graphs.skipped] == list(range(2, 10))


IDS = ["a\nb", "a\rb", "a\r\nb", "a\x85b", "a\u2028b", "a\x0bb", "a\ud800"]


@pytest.mark.parametrize("form", ["DataFrame", "parquet", "jsonl", "csv"])
@pytest.mark.parametrize("name", IDS, ids=ascii)
def test_an_id_is_text_on_one_line_in_every_source(tmp_path, form, name):
    table = pd.DataFrame({"smiles": ["CC", "CCO", "CN"], "name": ["x", name, " z\n"]}, dtype=object)
    if form == "DataFrame":
        source = table
    elif form == "jsonl":
        source = tmp_path / "a.jsonl"
        graphs = [json.loads(NODE_LINK) | {"graph": {"name": each}} for each in table["name"]]
        source.write_text("".join(json.dumps(graph) + "\n" for graph in graphs))
    elif name == "a\ud800" or (form == "csv" and name not in ("a\x85b", "a\u2028b", "a\x0bb")):
        pytest.skip("the format cannot hold it")
    elif form == "csv":
        source = tmp_path / "a.csv"
        source.write_text(f"smiles,name\nCC,x\nCCO,{name}\nCN, z\n", newline="")
    else:
        source = tmp_path / "a.parquet"
        table.to_parquet(source)
    graphs = open_graphs(source, id="name").read()
    assert graphs.ids == ["x", "z"]
    assert [each.row for each in graphs.skipped] == [3 if form == "csv" else 2]
    assert "line break" in graphs.skipped[0].reason or "UTF-8" in graphs.skipped[0].reason


def test_ids_that_no_file_can_hold(tmp_path):
    (tmp_path / "a.smi").write_text("CC a\rCCO b\x85c\nCN d\x0ce\nCO f\n", newline="")
    parameters = Parameters(walk=gv.Walk(2), n_components=8)
    summary = write_gram(tmp_path / "a.smi", tmp_path / "K.npy", parameters)
    assert (summary.n_graphs, summary.n_skipped) == (2, 2)
    assert (tmp_path / "K.ids.txt").read_text().splitlines() == ["a", "f"]
    assert (tmp_path / "K.skipped.csv").read_text().count("line break") == 2
    graphs = [json.loads(NODE_LINK) | {"graph": {"name": each}} for each in ("x", "\ud800")]
    graphs[0]["nodes"][0]["label"] = "\ud800"
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(graph) + "\n" for graph in (*graphs, json.loads(NODE_LINK))))
    raises(ValueError, r"row 1: .*have no 'label'", open_graphs(tmp_path / "a.jsonl", id="name").read)
    (tmp_path / "b.jsonl").write_text(json.dumps(json.loads(NODE_LINK) | {"graph": {"name": "x"}}) + "\n")
    with (tmp_path / "b.jsonl").open("a") as file:
        file.write(json.dumps(graphs[1]) + "\n")
    summary = embed_file(tmp_path / "b.jsonl", tmp_path / "out", Parameters(walk=gv.Walk(2), n_components=8), id="name")
    assert (summary.n_graphs, summary.n_skipped) == (1, 1)


def test_quoted_line_breaks_and_long_headers(tmp_path):
    (tmp_path / "a.csv").write_bytes(b'smiles,note\nCC,"one\ntwo"\nCCO,three\nCN,"open\n')
    graphs = open_graphs(tmp_path / "a.csv").read()
    assert graphs.rows == [4]
    reason = "a quoted field spans several lines, and a row is one line; remove the line breaks, or write it as Parquet"
    assert (graphs.skipped[0].row, graphs.skipped[0].reason) == (2, reason)
    assert [each.row for each in graphs.skipped] == [2, 3, 5]
    (tmp_path / "a.csv").write_bytes(b'smiles,"no\nte"\nCC,1\n')
    raises(ValueError, r"a.csv, header: a quoted field spans several lines", open_graphs, tmp_path / "a.csv")
    (tmp_path / "a.csv").write_bytes(b"smiles," + b"x" * (1 << 21))
    raises(ValueError, r"a.csv, header: the first line has over 1 MiB", open_graphs, tmp_path / "a.csv")
