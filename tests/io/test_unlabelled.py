"""Nodes with a 'type' and no 'label': one warning, and only where nobody said which name to read."""

import json
import warnings

import igraph
import networkx as nx
import pytest

import gvoys as gv
from gvoys.errors import InputWarning
from gvoys.io import open_graphs


def typed(**data):
    graph = nx.path_graph(3)
    for node in graph:
        graph.nodes[node].update(data)
    return graph


def as_igraph(**data):
    graph = igraph.Graph(n=3, edges=[(0, 1), (1, 2)])
    for name, value in data.items():
        graph.vs[name] = [value] * 3
    return graph


def as_node_link(**data):
    return nx.node_link_data(typed(**data), edges="links")


@pytest.mark.parametrize("make", [typed, as_igraph, as_node_link])
def test_other_data_of_nodes_may_have_been_meant_as_labels(make):
    with pytest.warns(InputWarning) as told:
        batch = gv.as_batch([make(type="C")] * 3)
    assert [str(each.message) for each in told] == [
        "nodes have 'type' and no 'label': pass node_label='type' to as_batch"
    ]
    assert told[0].filename == __file__
    assert batch.node_labels is None
    with pytest.warns(
        InputWarning, match="nodes have 'element', 'charge' and no 'label': pass node_label='element' to"
    ):
        gv.as_batch([make(element="C", charge=1)])


@pytest.mark.parametrize("make", [typed, as_igraph, as_node_link])
def test_what_is_no_label(make):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gv.as_batch([make()])
        gv.as_batch([make(type="C", label="C")])
        gv.as_batch([make(type="C")], node_label=None)
        gv.as_batch([make(type="C")], node_label="type")
        gv.as_batch([make(x=0.5, pos=[1.0, 2.0], name="a", other=None)])
        gv.as_batch([make(charge=1)], node_attributes="charge")


def test_where_a_warning_comes_from():
    with pytest.warns(InputWarning, match="nodes have 'type'"):
        gv.as_batch([nx.empty_graph(0), typed(type="C")])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gv.as_batch([nx.path_graph(2), typed(type="C")])
        gv.as_batch([])
    with pytest.warns(InputWarning, match="pass node_label='type' to as_batch"):
        gv.RandomWalkKernel(walk=gv.Walk(2)).fit_transform([typed(type="C"), typed(type="N")])


def test_sources_warn_when_they_are_opened(tmp_path):
    (tmp_path / "a.jsonl").write_text(json.dumps(as_node_link(type="C")) + "\n")
    with pytest.warns(
        InputWarning, match=r"^nodes have 'type' and no 'label': give node_label='type' or --node-label 'type'$"
    ):
        source = open_graphs(tmp_path / "a.jsonl")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(source.read().batch) == 1
        assert len(open_graphs([typed(type="C", label="C")]).read().batch) == 1
    with pytest.warns(InputWarning, match=r": give node_label='type' or --node-label 'type'$"):
        source = open_graphs([typed(type="C")])
    assert len(source.read().batch) == 1
    (tmp_path / "a.jsonl").write_text(
        '{"nodes": 5, "links": [], "graph": {"y": 1}}\n' + json.dumps(as_node_link()) + "\n"
    )
    source = open_graphs(tmp_path / "a.jsonl")
    assert source.column_names == ["y"]
    assert source.read().skipped[0].reason == "nodes must be a list of dictionaries"
    assert open_graphs([{"nodes": 5, "links": []}, nx.path_graph(2)]).read().rows == [2]
