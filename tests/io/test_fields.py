"""Labels, weights and attributes of graph files, by the names of their fields: JSON Lines, JSON and GraphML alike."""

import json

import networkx as nx
import pytest
from input_files import write_graphml
from raising import raises
from same import same_graphs

import gvoys as gv
from gvoys.errors import DatasetError
from gvoys.io import open_graphs


def graph(k):
    """A path with data of every kind."""
    made = nx.path_graph(3 + k % 2)
    for node in made:
        made.nodes[node].update(label="CO"[node % 2], element=node % 3, charge=0.5 * node, flag=True)
    for u, v in made.edges:
        made.edges[u, v].update(label=f"e{u}", kind=u, weight=2.0, strength=1.0 + u, length=0.25 * (u + v))
    made.graph["y"] = float(k)
    return made


GRAPHS = [graph(k) for k in range(4)]
FIELDS = {"node_label": "element", "edge_label": "kind", "weight": "strength"}
FIELDS |= {"node_attributes": ["charge", "element"], "edge_attributes": "length"}


def node_link(made):
    return nx.node_link_data(made, edges="links")


def write_lines(path, graphs):
    path.write_text("".join(json.dumps(node_link(made)) + "\n" for made in graphs))


FORMS = {
    "a.jsonl": write_lines,
    "a.json": lambda path, graphs: path.write_text(json.dumps([*map(node_link, graphs)], indent=1)),
    "a.graphml": write_graphml,
}


@pytest.fixture(params=FORMS)
def path(request, tmp_path):
    FORMS[request.param](tmp_path / request.param, GRAPHS)
    return tmp_path / request.param


def test_what_is_read_by_default(path):
    """Numbers that are not whole are attributes; whole ones may be labels."""
    source = open_graphs(path, target="y")
    assert str(source) == path.name
    found = source.read()
    expected = gv.as_batch(GRAPHS, node_attributes="charge", edge_attributes=["strength", "length"])
    same_graphs(found.batch, expected)
    assert found.y.tolist() == [0.0, 1.0, 2.0, 3.0]
    same_graphs(gv.GraphBatch.concatenate([piece.batch for piece in open_graphs(path).batches(1)]), expected)


def test_fields_by_their_names(path):
    same_graphs(open_graphs(path, **FIELDS).read().batch, gv.as_batch(GRAPHS, **FIELDS))
    same_graphs(open_graphs(GRAPHS, **FIELDS).read().batch, gv.as_batch(GRAPHS, **FIELDS))
    assert open_graphs(GRAPHS).read().batch.node_attributes is None  # as in as_batch
    bare = open_graphs(path, node_label=None, edge_label=None, weight=None, node_attributes=[], edge_attributes=())
    batch = bare.read().batch
    assert all(getattr(batch, name) is None for name in ("node_labels", "edge_labels", "edge_weights"))
    assert batch.node_attributes is None and batch.edge_attributes is None  # noqa: PT018


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"node_label": "elment"}, "no graph has the node_label 'elment'"),
        ({"edge_label": "x"}, "no graph has the edge_label 'x'"),
        ({"weight": "x"}, "no graph has the weight 'x'"),
        ({"node_attributes": "x"}, "no node has the attribute 'x'"),
        ({"edge_attributes": ["length", "x"]}, "no edge has the attribute 'x'"),
        ({"node_attributes": "label"}, "node attribute 'label'"),
        ({"node_label": 3}, "node_label must be the name of a field or None, not 3"),
        ({"edge_attributes": 3}, "edge_attributes must be the name or names of edge attributes, not 3"),
    ],
)
def test_a_name_that_no_graph_has(path, how, message):
    raises(ValueError, message, open_graphs, path, **how)


def test_fields_that_are_missing(tmp_path):
    (tmp_path / "a.g6").write_text("Bw\n")
    for source in (tmp_path / "a.g6", gv.as_batch([nx.path_graph(3)])):
        with pytest.raises(DatasetError, match=r"has no fields with names; leave out weight, node_attributes$"):
            open_graphs(source, weight="w", node_attributes="x")
        assert len(open_graphs(source, weight="weight", node_attributes=None).read().batch) == 1
    lines = [node_link(made) for made in GRAPHS]
    del lines[2]["nodes"][0]["charge"]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (skipped,) = open_graphs(tmp_path / "a.jsonl").read().skipped
    assert (skipped.row, skipped.reason) == (3, "1 of 3 nodes have no 'charge'; give it to all of them or to none")


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ([0.5, 1], True),
        ([[0.0, 1.0], [1, 2]], True),
        ([[0, 1], [1, 0]], True),
        ([1, 2], False),
        (["0.5", 1.0], False),
        ([0.5, None], False),
        ([0.5, float("nan")], False),
        ([True, False], False),
        ([[0.5], [0.5, 1.0]], False),
        ([[], []], False),
        ([["a", 1], ["b", 2]], False),
    ],
)
def test_what_is_an_attribute(tmp_path, values, found):
    nodes = [{"id": k, "label": "C", "x": value} for k, value in enumerate(values)]
    (tmp_path / "a.jsonl").write_text(json.dumps({"nodes": nodes, "links": []}) + "\n")
    batch = open_graphs(tmp_path / "a.jsonl").read().batch
    assert (batch.node_attributes is not None) == found


# -- GraphML and JSON
def test_directed_graphs_defaults_and_types(tmp_path):
    (tmp_path / "a.graphml").write_text(
        """<?xml version="1.0"?><!-- of another program -->
        <graphml><key id="d0" for="node" attr.name="label" attr.type="string"><default>C</default></key>
        <key id="d1" for="node" attr.name="size" attr.type="double"/><key id="d2" for="graph" attr.name="y"/>
        <key id="d3" for="edge" attr.name="weight" attr.type="float"><default>0.5</default></key>
        <graph edgedefault="directed"><data key="d2">active</data><node id="a"><data key="d1">1</data></node>
        <node id="b"><data key="d0">O</data><data key="d1">2.5</data></node><edge source="a" target="b"/></graph>
        </graphml>"""
    )
    found = open_graphs(tmp_path / "a.graphml", target="y").read()
    assert (found.batch.directed, found.batch.node_labels.decode(), found.y.tolist()) == (True, ["C", "O"], ["active"])
    assert (found.batch.edge_weights.tolist(), found.batch.node_attributes.tolist()) == ([0.5], [[1.0], [2.5]])


BOMB = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><graphml><graph id="&b;"/></graphml>'


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.graphml", BOMB, "declares a document type, which may hold anything; remove it"),
        ("a.graphml", BOMB.encode("utf-16"), "declares a document type"),
        ("a.graphml", "<graphml><graph>", "is not XML"),
        ("a.graphml", "<svg/>", "holds no <graph>"),
        ("a.graphml", '<?xml version="1.0" encoding="x"?><graphml/>', "is not XML"),
        ("a.graphml", "<graphml><graph><hyperedge/></graph></graphml>", "<hyperedge> is not read"),
        ("a.graphml", '<graphml><graph><node id="0"><graph/></node></graph></graphml>', "<graph> within a node"),
        ("a.graphml", '<graphml><graph><edge directed="true"/></graph></graphml>', "directed and undirected edges"),
        (
            "a.graphml",
            '<graphml><key id="k" attr.name="z" attr.type="int"/><graph><node id="0"><data key="k">x</data></node>'
            "</graph></graphml>",
            "'x' is not of type int, which 'z' has",
        ),
        ("a.json", "{", "is not JSON"),
        ("a.json", "[" * 100_000, "is not JSON"),
        ("a.json", '{"nodes": []}\n{"nodes": []}', "is not JSON .* one graph per line go to a file NAME.jsonl"),
        ("a.json", "[]", "holds no graphs"),
        ("a.json", "3", "row 1: the line is not a graph"),
    ],
)
def test_files_that_are_no_graphs(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    raises(DatasetError, rf"^{name}.*{message}", lambda: open_graphs(tmp_path / name).read())


def test_packed_and_piped(tmp_path, monkeypatch):
    import gzip
    import io
    import sys

    for form, write in FORMS.items():
        write(tmp_path / form, GRAPHS)
        content = (tmp_path / form).read_bytes()
        (tmp_path / f"{form}.gz").write_bytes(gzip.compress(content))
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        for source in (tmp_path / f"{form}.gz", "-"):
            opened = open_graphs(source)  # whose copies live as long
            assert len(opened.read().batch) == 4
