"""Drawings of explanations as files: colours follow the shares, labels are text, and what is not drawn is said."""

import builtins
from xml.etree import ElementTree

import networkx as nx
import numpy as np
import pytest
from raising import raises
from standins import explained, leaning

import gvoys as gv
from gvoys.drawing.attribution_drawing import attribution_svg, save_attribution
from gvoys.drawing.page import PALETTES, class_name, number, share_colour, signed
from gvoys.drawing.picture import picture_of
from gvoys.drawing.structures import BOND, LARGEST
from gvoys.errors import MissingDependencyError, ParameterError

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = ["</script><img src=x onerror=alert(1)>", '"&<', "a\x00b\x1b[31m", "\ud800", "]]>", "é – ≡"]


def labelled(labels, directed=False):
    graph = (nx.DiGraph if directed else nx.Graph)(nx.path_graph(len(labels)).edges())
    nx.set_node_attributes(graph, dict(enumerate(labels)), "label")
    return gv.as_batch([graph], node_label="label")


def molecule(smiles, *shares, **more):
    """An explanation of a molecule."""
    pytest.importorskip("rdkit")
    return explained(gv.from_smiles([smiles]), *shares, smiles=smiles, **more)


def parsed(svg):
    return ElementTree.fromstring(svg)


def of_class(root, name):
    return [each for each in root.iter() if name in each.get("class", "").split()]


def fills(root):
    return [node.find(f"{SVG}circle").get("fill") for node in of_class(root, "node")]


def texts(root):
    return [each.text for each in root.iter(f"{SVG}text")]


# -- colours
def test_colours_and_scales():
    shares = np.linspace(-1.5, 1.5, 61)
    leans = np.array([leaning(share_colour(share, 1.0)) for share in shares])
    inside = np.abs(shares) <= 1
    assert (np.diff(leans[inside]) > 0).all()
    assert len(set(leans[shares >= 1])) == len(set(leans[shares <= -1])) == 1  # the full colour
    assert leans[0] < -50
    assert leans[-1] > 50
    neutral = PALETTES["light"][1]
    assert share_colour(0.0, 1.0) == share_colour(0.0, 0.0) == neutral
    assert abs(leaning(neutral)) < 5
    assert (share_colour(-1.0, 1.0), share_colour(1.0, 1.0)) == (PALETTES["light"][0], PALETTES["light"][2])
    explanation = explained(labelled("ab"), [0.1, -0.2])
    assert fills(parsed(attribution_svg(explanation)))[1] == PALETTES["light"][0]
    assert fills(parsed(attribution_svg(explanation, 0.4))) == [share_colour(0.25, 1.0), share_colour(-0.5, 1.0)]
    assert set(fills(parsed(attribution_svg(explained(labelled("ab"), [0.0, 0.0]))))) == {PALETTES["light"][1]}


def luminance(colour):
    channels = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize(("palette", "ink"), [("light", "#1f2430"), ("dark", "#eceff5")])
def test_letters_are_legible_on_every_colour(palette, ink):
    for colour in PALETTES[palette]:
        low, high = sorted([luminance(colour), luminance(ink)])
        assert (high + 0.05) / (low + 0.05) > 4.0, colour


def test_nodes_and_edges_have_the_colours_of_their_shares():
    shares = [-2.0, -0.5, 0.0, 0.5, 2.0]
    root = parsed(attribution_svg(explained(labelled("abcde"), shares, edge_shares=[-9.0, 0.0, 1.0, 2.0])))
    found = fills(root)
    assert [each.get("data-node") for each in of_class(root, "node")] == list("01234")
    assert [float(each.get("data-share")) for each in of_class(root, "node")] == shares
    assert (np.diff([leaning(each) for each in found]) > 0).all()
    assert found[0] == PALETTES["light"][0]
    assert found[4] == PALETTES["light"][2]
    bands = [each.find(f"{SVG}line").get("stroke") for each in of_class(root, "edge")]
    assert bands == [share_colour(share, 2.0) for share in (-9.0, 0.0, 1.0, 2.0)]
    assert [each.get("data-ends") for each in of_class(root, "edge")] == ["0 1", "1 2", "2 3", "3 4"]


# -- words
def test_titles_and_numbers():
    root = parsed(attribution_svg(molecule("CCN", [0.1, -0.25, 0.312], errors=0.02)))
    assert [each.find(f"{SVG}title").text for each in of_class(root, "node")] == [
        "C 0: +0.100 (± 0.02)",
        "C 1: −0.250 (± 0.02)",
        "N 2: +0.312 (± 0.02)",
    ]
    assert of_class(root, "edge")[1].find(f"{SVG}title").text == "C 1–N 2: +0.500"
    assert "±" not in attribution_svg(molecule("CCN"))
    values = (0.0, 0.3124, -2.0, 1234.5, -0.00012, 1e-9, 123456789.0)
    assert [number(value) for value in values] == [
        *("0", "0.312", "−2.00", "1,234", "−1.20e−04", "1.00e−09", "123,456,789")
    ]
    assert [signed(value) for value in (0.0, 2.0, -2.0)] == ["0", "+2.00", "−2.00"]
    assert [class_name(of) for of in ("active", 1, 1.0, 1.5, True)] == [
        *("active", "class 1", "class 1", "class 1.5", "class True")
    ]


@pytest.mark.parametrize("directed", [False, True])
def test_hostile_labels_are_text(directed, tmp_path):
    explanation = explained(labelled(HOSTILE, directed))
    svg = attribution_svg(explanation, name=HOSTILE[0])
    root = parsed(svg)  # which XML can hold
    tags = {"svg", "g", "title", "line", "circle", "polygon", "path", "text"}
    assert {each.tag.removeprefix(SVG) for each in root.iter()} <= tags
    titles = [each.find(f"{SVG}title").text for each in of_class(root, "node")]
    assert titles[0].startswith(f"{HOSTILE[0]} 0: ")
    assert titles[2].startswith("a\ufffdb\ufffd[31m 2: ")
    assert root.get("aria-label") == f"drawing of {HOSTILE[0]}"
    assert "<img" not in svg
    save_attribution(explanation, tmp_path / "hostile.png")
    assert ('<polygon class="head"' in svg) == directed


# -- molecules and other graphs
def test_molecules_are_drawn_by_rdkit_in_one_colour():
    root = parsed(attribution_svg(molecule("NCc1ccc(C#N)cc1C=O")))
    assert len(of_class(root, "node")) == 12
    assert len(of_class(root, "edge")) == 12
    assert sorted("".join(texts(root))) == sorted("NOH2N")
    assert "#FF0000" not in attribution_svg(molecule("CO"))  # red oxygen on an orange disc


def test_graphs_that_are_no_molecules():
    for graph in (nx.path_graph(3), nx.empty_graph(2), nx.Graph([(0, 0), (0, 1)])):
        root = parsed(attribution_svg(explained(gv.as_batch([graph]))))
        assert len(of_class(root, "node")) == graph.number_of_nodes()
        assert of_class(root, "node")[0].find(f"{SVG}title").text.startswith("node 0: ")
        assert not texts(root)
    assert texts(parsed(attribution_svg(explained(gv.as_batch([nx.empty_graph(0)]))))) == ["a graph without nodes"]
    root = parsed(attribution_svg(explained(labelled(["alpha-ketoglutarate", "beta"]))))
    assert texts(root) == ["alpha-ketoglu…", "beta"]
    assert of_class(root, "node")[0].find(f"{SVG}title").text.startswith("alpha-ketoglutarate 0: ")
    for graph in (nx.complete_graph(6), nx.path_graph(30), nx.star_graph(12)):
        picture = picture_of(explained(gv.as_batch([graph])))
        distances = np.linalg.norm(picture.xy[:, None] - picture.xy[None], axis=2)
        np.fill_diagonal(distances, np.inf)
        assert distances.min() > 2 * picture.radius > 0.4 * BOND  # and nodes are large enough for a letter


# -- files and refusals


def test_a_plot_has_the_colours_and_a_bar_for_each_length(monkeypatch, tmp_path):
    from gvoys.drawing import attribution_drawing as attribution_plot

    kept = []
    monkeypatch.setattr(attribution_plot, "save_figure", lambda figure, path: kept.append(figure))
    lengths = np.array([[0.5, -0.5, 0.0], [0.5, -1.0, 0.0]])
    explanation = molecule("CCO", [-1.0, 0.0, 1.0], lengths=lengths)
    save_attribution(explanation, tmp_path / "a.png")
    drawing, bars = kept[0].axes
    discs = [patch for patch in drawing.patches if type(patch).__name__ == "Circle"]
    shown = ["#" + "".join(f"{round(255 * c):02x}" for c in disc.get_facecolor()[:3]) for disc in discs]
    assert shown == list(PALETTES["light"])
    np.testing.assert_allclose([bar.get_width() for bar in bars.patches], [1.0, -1.5, 0.0])
    assert kept[0].get_suptitle() == "baseline −0.500, nodes 0: decision for active −0.500"


def test_files_and_what_is_not_drawn(tmp_path):
    large = explained(gv.as_batch([nx.path_graph(LARGEST + 1)]))
    assert texts(parsed(attribution_svg(large))) == ["1,001 nodes are too many to draw"]
    with pytest.raises(ParameterError, match="graphs of 1 to 1,000 nodes are drawn, and this one has 1,001"):
        save_attribution(large, tmp_path / "a.png")
    small = explained(labelled("ab"))
    raises(ParameterError, r"as NAME.svg or NAME.png, and not as a\.pdf", save_attribution, small, tmp_path / "a.pdf")
    raises(ParameterError, "there is no folder", save_attribution, small, tmp_path / "none" / "a.svg")
    assert not list(tmp_path.iterdir())
    explanation = molecule("CC(=O)N", of=1.0)
    save_attribution(explanation, tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_text(encoding="utf-8") == attribution_svg(explanation)
    save_attribution(explanation, str(tmp_path / "a.PNG"))
    assert (tmp_path / "a.PNG").read_bytes().startswith(b"\x89PNG")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.PNG", "a.svg"]


def without(monkeypatch, package):
    real = builtins.__import__

    def imported(name, *rest, **more):
        if name.split(".")[0] == package:
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", imported)


@pytest.mark.parametrize("graph", [nx.star_graph(5), nx.path_graph(9), nx.cycle_graph(7), nx.Graph([(0, 1), (2, 3)])])
def test_without_igraph_distances_are_those_along_paths(monkeypatch, graph):
    without(monkeypatch, "igraph")
    xy = picture_of(explained(gv.as_batch([graph]))).xy
    paths = np.array(nx.floyd_warshall_numpy(graph))
    apart = np.linalg.norm(xy[:, None] - xy[None], axis=2)
    assert apart[paths > 0].min() > 0.5 * BOND
    if nx.is_connected(graph):
        assert np.corrcoef(paths[paths > 0], apart[paths > 0])[0, 1] > 0.6


def test_without_rdkit_or_matplotlib(monkeypatch, tmp_path):
    explanation = molecule("CC(=O)N")
    without(monkeypatch, "rdkit")
    assert texts(parsed(attribution_svg(explanation))) == ["CH3", "C", "O", "NH2"]
    without(monkeypatch, "matplotlib")
    raises(MissingDependencyError, r"gvoys\[report\]", save_attribution, explained(labelled("ab")), tmp_path / "a.png")
