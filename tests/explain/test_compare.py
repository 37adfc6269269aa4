"""What a kernel value is made of."""

from collections import Counter
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from raising import raises

import gvoys as gv
from gvoys.io.chemistry.atom_labels import label_text


def coloured(graph, colours, edge_kinds=None):
    nx.set_node_attributes(graph, dict(zip(graph, colours, strict=True)), "label")
    if edge_kinds is not None:
        nx.set_edge_attributes(graph, dict(zip(graph.edges, edge_kinds, strict=True)), "label")
    return graph


ONE = coloured(nx.Graph([(0, 1), (1, 2), (2, 0), (2, 3)]), "aabc", "xyxy")
OTHER = coloured(nx.Graph([(0, 1), (1, 2), (2, 3), (3, 4)]), "abaca", "xyyx")


DENSE = nx.complete_graph(60)


def one_by_one(graph, length, backtrack, kinds):
    """How often each label sequence is spelled, beside n^2."""
    walks = [(u,) for u in graph]
    for _ in range(length):
        walks = [(*walk, v) for walk in walks for v in graph[walk[-1]] if backtrack or len(walk) < 2 or walk[-2] != v]
    spelled = Counter()
    for walk in walks:
        steps = tuple(graph.edges[edge]["label"] for edge in pairwise(walk)) if kinds else ()
        spelled[tuple(graph.nodes[u]["label"] for u in walk), steps] += 1 / len(graph) ** 2
    return spelled


@pytest.mark.parametrize("backtrack", [True, False])
@pytest.mark.parametrize("labels", ["node", "both"])
def test_parts_are_those_of_walks_counted_one_by_one(labels, backtrack):
    series = gv.Geometric(0.1)
    found = gv.compare(ONE, OTHER, series, walk=gv.Walk(4, labels=labels, backtrack=backtrack), top=1000)
    expected = {}
    for length in range(5):
        ours, theirs = (one_by_one(graph, length, backtrack, labels == "both") for graph in (ONE, OTHER))
        expected |= {(length, key): 0.1**length * ours[key] * theirs[key] for key in ours.keys() & theirs.keys()}
    assert found.n_shared == len(expected) == len(found.sequences)
    np.testing.assert_allclose(
        sorted(each.contribution for each in found.sequences), sorted(expected.values()), rtol=1e-12
    )
    by_length = [sum(value for (i, _), value in expected.items() if i == length) for length in range(5)]
    np.testing.assert_allclose(found.lengths, by_length, rtol=1e-12)


def test_walks_spell_their_sequence():
    found = gv.compare(ONE, OTHER, gv.Geometric(0.1), walk=gv.Walk(3, labels="both"))
    for each in found.sequences:
        for graph, walk in zip((ONE, OTHER), each.walks, strict=True):
            assert len(walk) == each.length + 1
            parts = [graph.nodes[walk[0]]["label"]]
            for step in pairwise(walk):
                parts += [f"–({graph.edges[step]['label']})–", graph.nodes[step[1]]["label"]]
            assert "".join(parts) == each.spelled
    contributions = [each.contribution for each in found.sequences]
    assert contributions == sorted(contributions, reverse=True)


def test_what_is_spelled_and_said():
    pytest.importorskip("rdkit")
    found = gv.compare("CC(=O)Oc1ccccc1", "CC(=O)N", walk=gv.Walk(2), top=100)
    spelled = {each.spelled for each in found.sequences}
    assert {"CH3", "O", "CH3–C", "C=O", "CH3–C=O"} <= spelled
    assert "cH:cH" in {each.spelled for each in gv.compare("c1ccccc1", "c1ccncc1", walk=gv.Walk(2)).sequences}
    text = repr(gv.compare(ONE, OTHER, gv.Geometric(0.1), walk=gv.Walk(1)))
    assert text.splitlines()[0].startswith("kernel 0.")
    assert "length 1:" in text
    assert "  a: " in text
    found = gv.compare(coloured(nx.path_graph(2), "aa"), coloured(nx.path_graph(2), "bb"), walk=gv.Walk(2))
    assert (found.value, found.similarity, found.sequences, found.n_shared) == (0.0, 0.0, [], 0)


@pytest.mark.parametrize(
    ("label", "spelled"),
    [
        (("C", True, 1), "cH"),
        (("N", False, 0), "N"),
        (("C",), "C"),
        (("O", False, 0, "-1", "D1"), "O(-1,D1)"),
        ((1, 2), "(1, 2)"),
        ("helix", "helix"),
        (7, "7"),
    ],
)
def test_labels_of_any_kind_have_a_name(label, spelled):
    assert label_text(label) == spelled


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: gv.compare(gv.datasets.molecules(2), ONE), "GraphError", "g must be one graph.*batch of 2"),
        (lambda: gv.compare(ONE, nx.path_graph(3)), "GraphError", "graph 1 has no edge labels"),
        (lambda: gv.compare(ONE, OTHER, walk=gv.Walk(refine=1)), "UnsupportedError", "compare cannot spell refine"),
        (lambda: gv.compare(ONE, OTHER, top=-1), "ParameterError", "top"),
        (lambda: gv.compare(DENSE, DENSE, walk=gv.Walk(9, None, backtrack=False)), "UnsupportedError", "smaller max_"),
    ],
)
def test_refusals(call, kind, message, monkeypatch):
    monkeypatch.setattr("gvoys.estimators.compare._MOST", 10_000)
    raises(getattr(gv.errors, kind), message, call)
