"""Molecules on pages are those of the SMILES: geometry, charges, wedges, isotopes and counterions, drawn by RDKit."""

import base64
import json
import re
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest
from standins import explained, sequence
from typer.testing import CliRunner

pytest.importorskip("rdkit")
pytest.importorskip("plotly")

import gvoys as gv
from gvoys.apps.cli import app
from gvoys.datasets.loaders import read_freesolv
from gvoys.drawing.attribution_drawing import fragment
from gvoys.drawing.structures import draw_structure, read_molecule
from gvoys.errors import GraphError, ParameterError

SVG = "{http://www.w3.org/2000/svg}"
MOLECULES = {
    "Z": r"C/C=C\C(=O)O",
    "E": "C/C=C/C(=O)O",
    "nitro": "Cc1ccc(cc1)[N+](=O)[O-]",
    "menthol": "CC(C)[C@@H]1CC[C@@H](C)C[C@H]1O",
    "betaine": "C[N+](C)(C)CC(=O)[O-]",
    "achiral": "C[C@H](C)O",
    "salt": "CCN.Cl",
    "isotope": "[13CH3]CO",
    "hostile": "CO |$<img src=x>;&$|",
}
CHEMISTRIES = [
    {},
    {"fragments": "largest", "stereo": True},
    {"hydrogens": "atoms", "charges": True},
    {"hydrogens": "atoms", "fragments": "largest", "atoms": "element"},
    {"atoms": "fine", "isotopes": True, "stereo": True},
]
pages = pytest.mark.parametrize("page", ["explain", "explore"])


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """Places of the atoms and the drawing of each molecule, by page and name."""
    folder = tmp_path_factory.mktemp("pages")
    smiles = list(MOLECULES.values())
    (folder / "table.csv").write_text("id,smiles\n" + "".join(f'{k},"{v}"\n' for k, v in MOLECULES.items()))
    model = gv.RandomWalkClassifier(gv.Walk(1, refine=1), C=1.0).fit(gv.from_smiles(smiles), np.arange(len(smiles)) % 2)
    model.training_ = {"smiles": "smiles", "chemistry": {}}
    model.save(folder / "model.gvoys")
    for command in (["explain", "model.gvoys", "table.csv"], ["explore", "table.csv", "--model", "model.gvoys"]):
        paths = [str(folder / word) if word.endswith((".csv", ".gvoys")) else word for word in command]
        done = CliRunner().invoke(app, [*paths, "--id", "id", "-o", str(folder / f"{command[0]}.html")])
        assert done.exit_code == 0, repr(done.exception)
    return {"explain": cards(folder / "explain.html"), "explore": records(folder / "explore.html")}


def cards(path):
    svgs = re.findall(r'<div class="drawing">(<svg.*?</svg>)</div>', path.read_text(encoding="utf-8"))
    found = {}
    for name, svg in zip(MOLECULES, svgs, strict=True):
        discs = [g.find(f"{SVG}circle") for g in ElementTree.fromstring(svg) if g.get("class") == "node"]
        found[name] = np.array([[float(disc.get(k)) for k in ("cx", "cy")] for disc in discs]), svg
    return found


def structures(path):
    return drawings(path)["structures"]


def drawings(path):
    text = re.search(r'id="data">(.*?)</script>', path.read_text(encoding="utf-8"), re.DOTALL)[1]
    return json.loads(text)["drawings"]


def records(path):
    data = drawings(path)
    xy, offsets = (
        np.frombuffer(base64.b64decode(each["base64"]), each["type"]) for each in (data["xy"], data["nodeOffsets"])
    )
    parts = [xy.reshape(-1, 2)[a:b].astype(float) for a, b in pairwise(offsets.tolist())]
    inks = [f"<g>{made[2]}</g>" for made in data["structures"]]
    return dict(zip(MOLECULES, zip(parts, inks, strict=True), strict=True))


def letters(svg):
    root = ElementTree.fromstring(svg)
    return "".join(each.text for each in root.iter() if each.tag.endswith("text"))


def side(xy, place, begin, end):
    (x, y), (u, v) = xy[end] - xy[begin], xy[place] - xy[begin]
    return np.sign(x * v - y * u)


@pages
@pytest.mark.parametrize(
    ("name", "texts"), [("nitro", "N+O−O"), ("betaine", "N+O−O"), ("isotope", "13COH"), ("Z", "OHO")]
)
def test_charges_and_isotopes_are_written(drawn, page, name, texts):
    assert sorted(letters(drawn[page][name][1])) == sorted(texts)


@pages
def test_wedges_and_geometry(drawn, page):
    for name, filled, hashed in (("menthol", 1, 1), ("E", 0, 0), ("achiral", 0, 0)):
        ink = drawn[page][name][1].replace('"', "'")
        assert len(re.findall("<path fill='currentColor'", ink)) == filled
        assert len(re.findall("<path stroke-width='2'", ink)) == hashed
    for name, same in (("Z", True), ("E", False)):
        xy, _ = drawn[page][name]
        assert (side(xy, 0, 1, 2) == side(xy, 3, 1, 2)) == same, name
    xy, svg = drawn[page]["salt"]
    bond = np.linalg.norm(xy[1] - xy[0])
    assert np.linalg.norm(xy[:3] - xy[3], axis=1).min() > 1.4 * bond
    assert "HCl" in letters(svg)
    svg = drawn[page]["nitro"][1]
    assert "dasharray" not in svg
    lines = re.search("<path d='(.*?)'", svg.replace('"', "'"))[1]
    assert lines.count("l") == 10 + 3 + 1  # bonds, the other lines of three in the ring and of one to oxygen
    svg = drawn[page]["hostile"][1]
    assert "<img" not in svg
    assert "<img" in letters(svg)


# -- which atom is which node
@pytest.mark.parametrize("chemistry", CHEMISTRIES)
def test_atoms_are_nodes_whatever_the_chemistry(chemistry):

    others = ["Cl.CCN", "[2H]C([2H])[H]", "[H]/C(C)=C/[H]", "*CC", "[NH3]->[Pt](Cl)Cl", "[OH]~[Na]", "CC |$a;Pol_p$|"]
    graphs = gv.io.open_graphs([*MOLECULES.values(), *others], chemistry=chemistry).read()
    for text, graph in zip(graphs.smiles, graphs.batch, strict=True):
        molecule = read_molecule(text, graph)
        assert [label[0] for label in graph.node_labels.decode()] == [
            atom.GetSymbol() if atom.GetAtomicNum() else "*" for atom in molecule.GetAtoms()
        ], text
        assert draw_structure(molecule).xy.shape == (graph.n_nodes, 2)


@pytest.mark.parametrize(
    ("text", "of"), [*((text, "CCO") for text in ("OCC", "CCN", "CC", "C1CO1", "CC(O", "")), ("C1.C23.C12.C3", "CCCC")]
)
def test_another_smiles_is_not_the_graphs(text, of):

    assert read_molecule(text, gv.from_smiles([of])) is None


def test_freesolv_comes_with_its_smiles():
    graphs = read_freesolv()
    assert all(read_molecule(*each) is not None for each in zip(graphs.smiles, graphs.batch, strict=True))


# -- where the SMILES comes from
@pytest.fixture(scope="module")
def model():
    batch = gv.from_smiles(list(MOLECULES.values()))
    return gv.RandomWalkClassifier(gv.Walk(1, refine=1), C=1.0).fit(batch, np.arange(len(batch)) % 2)


def test_explanations_know_the_smiles_that_they_are_given(model):
    batch = gv.from_smiles(["CCO", "CCN"])
    assert [each.smiles for each in model.explain(["CCO", "CCN"])] == ["CCO", "CCN"]
    assert [each.smiles for each in model.explain(np.array(["CCO", "CCN"]))] == ["CCO", "CCN"]
    assert [each.smiles for each in model.explain(batch, smiles=["CCO", "CCN"])] == ["CCO", "CCN"]
    assert [each.smiles for each in model.explain(batch)] == [None, None]
    with pytest.raises(ParameterError, match="smiles must have one value for each of 2 graphs, not 1"):
        model.explain(batch, smiles=["CCO"])
    with pytest.raises(GraphError, match="graph 1 was not read from the SMILES 'NCC': atoms or bonds differ"):
        model.explain(batch, smiles=["CCO", "NCC"])


def test_without_its_smiles_a_molecule_is_a_graph(model, tmp_path):
    known, unknown = model.explain(["C/C=C/O"])[0], model.explain(gv.from_smiles(["C/C=C/O"]))[0]
    assert 'class="attribution molecule"' in known._repr_svg_()
    assert 'class="attribution"' in unknown._repr_svg_()
    assert re.findall(r"<text.*?>(.*?)</text>", unknown._repr_svg_()) == ["CH3", "CH", "CH", "OH"]
    batch, path = gv.from_smiles(["CCO", "C/C=C/O", "CO"]), tmp_path / "page.html"
    assert structures(gv.explore(batch, path, walk=gv.Walk(1)).path) == [None] * 3
    assert None not in structures(gv.explore(batch, path, smiles=["CCO", "C/C=C/O", "CO"], walk=gv.Walk(1)).path)
    with pytest.raises(ParameterError, match="smiles must have one value for each of 3 graphs, not 1"):
        gv.explore(batch, path, smiles=["CCO"])
    with pytest.raises(GraphError, match="graph 2 was not read from the SMILES 'OC'"):
        gv.explore(batch, path, smiles=["CCO", "C/C=C/O", "OC"])


# -- fragments
@pytest.mark.parametrize(
    ("nodes", "iteration", "expected"),
    [
        ((2,), 0, ([2], [])),
        ((2,), 1, ([1, 2, 3, 4], [1, 2, 3])),
        ((0, 1), 0, ([0, 1], [0])),
        ((0, 1, 0), 1, ([0, 1, 2], [0, 1])),
        ((0,), 3, ([0, 1, 2, 3, 4], [0, 1, 2, 3])),
    ],
)
def test_a_fragment_is_a_walk_with_what_is_around_it(nodes, iteration, expected):

    why = explained(gv.from_smiles(["CCC(=O)O"]), smiles="CCC(=O)O")
    assert fragment(why, sequence("C", 1.0, nodes, iteration=iteration)) == expected


def test_notebooks_show_fragments_of_the_drawing(model):
    why = model.explain(["CCC(=O)O"])[0]
    html = why._repr_html_()
    (key,) = set(re.findall('<use href="#(.*?)"', html))
    assert html.count(f'id="{key}"') == 1
    assert html.count("<figcaption>") == min(6, len(why.sequences))
    assert why.sequences[0].spelled in html


def test_neighbours_are_spelled():
    batch = gv.from_smiles(["CC(=O)O", "CCN", "CCCO", "CC#N", "c1ccccc1", "CCl"] * 2)
    model = gv.RandomWalkRegressor(gv.Walk(1), max_iterations=2).fit(batch, batch.graph_sizes)
    why = model.explain(batch[[1, 0]], n_sequences=40)[1]
    single = {each.spelled for each in why.sequences if each.iteration == 1 and len(each.nodes) == 1}
    assert "C(=O)(–CH3)(–OH)" in single
    notes = {each.note for each in why.sequences if len(each.nodes) == 1 and each.layer != "fine"}
    assert {"", "within 2 steps"} <= notes
    assert "with neighbours" not in notes  # which are spelled
