"""The page of explanations in a real browser: what it shows is what the model says."""

import re
from contextlib import contextmanager

import networkx as nx
import numpy as np
import pytest
from browser import find_browser, opened, watch
from raising import raises
from standins import explained, leaning, sequence

import gvoys as gv
from gvoys.apps.explain import Prediction, write_page
from gvoys.drawing.page import PALETTES, share_colour
from gvoys.errors import ParameterError

pytestmark = pytest.mark.usefixtures("one_browser")
SMILES = ["CC(=O)Nc1ccc(O)cc1", "NCCS", "CCO", "c1ccccc1C#N"]
NAMES = ["mol 10", "mol 9", "Ethanol", "mol 1"]
SCALES = [1.0, 0.5, 4.0, 2.0]  # the largest share of each
HOSTILE = "</script><img src=x onerror=document.body.dataset.broken=1>\"'&"

MEASURED = """text => { const card = document.querySelector(".card");
    card.querySelector(".readout").textContent = text;
    return card.querySelector(".bars").getBoundingClientRect().top; }"""


def explanations():
    batch = gv.io.open_graphs(SMILES).read().batch
    found = []
    for g, scale in enumerate(SCALES):
        shares = np.random.default_rng(g).uniform(-scale, scale, batch.graph_sizes[g])
        shares[0] = scale
        listed = [sequence("C–C=O", 0.4, (1, 0), 3, iteration=1), sequence("CH3", -0.2, (0,), 1)]
        found.append(explained(batch[g], shares, sequences=listed))
    return found


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    pytest.importorskip("rdkit")
    find_browser()
    path = tmp_path_factory.mktemp("page") / "page.html"
    found = explanations()
    said = [Prediction("active" if each.decision > 0 else "inactive", 0.75) for each in found]
    write_page(path, "Four molecules", ["A fact."], found, NAMES, said, smiles=SMILES)
    return path


@pytest.fixture(scope="module")
def browser(page):
    """One for all tests, since it takes longer to start than all that they do."""
    with opened(page) as tab:
        yield tab.context.browser


@contextmanager
def another_tab(browser, path, width=1440, height=900, **how):
    """As `opened`, in a browser that is there."""
    context = browser.new_context(viewport={"width": width, "height": height}, offline=True, **how)
    tab, errors = context.new_page(), []
    watch(tab, errors)
    tab.goto(f"file://{path}")
    tab.wait_for_selector("body[data-ready=yes]")
    yield tab
    context.close()
    assert errors == []


@pytest.fixture
def tab(browser, page):
    with another_tab(browser, page) as tab:
        yield tab


def fills(tab, card):
    """Share and colour of each node of a card."""
    found = tab.evaluate(
        """k => [...document.querySelectorAll(`[data-order="${k}"] .node`)].map(
        node => [Number(node.dataset.share), node.querySelector(".disc").getAttribute("fill")])""",
        card,
    )
    return [share for share, _ in found], [colour for _, colour in found]


def lit(tab, card, kind="node"):
    attribute = "node" if kind == "node" else "edge"
    return [int(each.get_attribute(f"data-{attribute}")) for each in card.locator(f".{kind}.lit").all()]


def shown(tab):
    """Names of the cards that are there, in their order."""
    return [each.inner_text() for each in tab.locator(".card h2").all() if each.is_visible()]


def test_colours_follow_the_shares_of_the_model(tab):
    for k, explanation in enumerate(explanations()):
        shares, colours = fills(tab, k)
        np.testing.assert_allclose(shares, explanation.nodes, rtol=1e-5)
        leans = np.array([leaning(colour) for colour in colours])
        neutral = leaning(PALETTES["light"][1])
        clear = np.abs(explanation.nodes) > 0.02 * SCALES[k]
        assert (np.sign(leans - neutral)[clear] == np.sign(explanation.nodes)[clear]).all()
        assert (np.diff(leans[np.argsort(explanation.nodes)]) >= 0).all()
        assert colours == [share_colour(share, SCALES[k]) for share in shares]


def test_what_to_read_first_and_what_adds_up(tab):
    lead = tab.locator(".lead").inner_text()
    assert lead.startswith("Blue atoms push towards active, orange ones away from it.")
    assert "baseline + sum of atoms = decision" in lead
    for k, explanation in enumerate(explanations()):
        card = tab.locator(f'[data-order="{k}"]')
        terms = [float(each.inner_text().replace("−", "-")) for each in card.locator(".sum b").all()]
        np.testing.assert_allclose(terms, [-0.5, explanation.nodes.sum(), explanation.decision], atol=0.06)
        assert card.locator(".sum").inner_text().endswith("decision for active")
        assert "active, probability 0.75" in card.locator(".prediction").inner_text()
        assert card.locator(".smiles").inner_text() == SMILES[k]
        bars = [each.inner_text() for each in card.locator(".bars .value").all()]
        assert bars == ["+0.300", "−0.200", "−0.300"]
    assert tab.locator('[data-order="0"] .legend').inner_text().split("\n") == [
        *("−1.00 away from active", "0", "towards active +1.00")
    ]


def test_one_scale_for_all_graphs_or_one_for_each(tab):
    own = [fills(tab, k)[1] for k in range(4)]
    assert all(colours[0] == PALETTES["light"][2] for colours in own)  # the largest share of each
    tab.locator("#same").check()
    for k in range(4):
        shares, colours = fills(tab, k)
        assert colours == [share_colour(share, 4.0) for share in shares]
        assert tab.locator(f'[data-order="{k}"] .high').inner_text() == "+4.00"
    tab.locator("#same").uncheck()
    assert [fills(tab, k)[1] for k in range(4)] == own
    assert tab.locator('[data-order="1"] .low').inner_text() == "−0.500"


def test_hovering_tells_the_share_and_lights_the_node(tab):
    card = tab.locator('[data-order="2"]')
    idle = card.locator(".readout").inner_text()
    assert idle == "Point at an atom, a bond, a bar or a sequence."
    card.locator('.node[data-node="2"] .disc').hover()
    assert re.fullmatch(r"O 2: [+−][\d.]+", card.locator(".readout").inner_text())
    assert lit(tab, card) == [2]
    card.locator('.edge[data-edge="0"] .band').hover()
    assert card.locator(".readout").inner_text().startswith("C 0–C 1: ")
    card.locator(".sequences li").first.hover()
    assert card.locator(".readout").inner_text() == "C–C=O: +0.400 (with neighbours, one of 3 walks)"
    assert lit(tab, card) == [0, 1, 2]  # the walk and its neighbours
    assert lit(tab, card, "edge") == [0, 1]
    card.locator(".sequences li").last.hover()
    assert lit(tab, card) == [0]
    card.locator(".bars li").nth(1).hover()
    assert card.locator(".readout").inner_text() == "Walks of length 1: −0.200; iterations 0 to 1: −0.300, +0.100"
    places = [tab.evaluate(MEASURED, text) for text in ("", "much " * 60)]
    assert places[0] == places[1]  # else what one points at would move away
    tab.locator("h1").hover()
    assert card.locator(".readout").inner_text() == idle
    assert not lit(tab, card)


def test_the_keyboard_is_enough(tab):
    card = tab.locator('[data-order="0"]')
    tab.locator("#same").focus()
    tab.keyboard.press("Tab")
    assert card.locator(".readout").inner_text() == "C 0: +1.00"
    for key, node in (("ArrowRight", 1), ("ArrowDown", 2), ("ArrowLeft", 1), ("Home", 0), ("ArrowUp", 10), ("End", 10)):
        tab.keyboard.press(key)
        assert tab.evaluate("document.activeElement.dataset.node") == str(node)
        assert lit(tab, card) == [node]
    tab.keyboard.press("Tab")
    tab.keyboard.press("ArrowDown")
    assert card.locator(".readout").inner_text().startswith("CH3: −0.200")
    assert lit(tab, card) == [0]
    tab.keyboard.press("Tab")
    assert card.locator(".readout").inner_text().startswith("Walks of length 0: ")
    tab.keyboard.press("Tab")
    assert not lit(tab, card)
    assert lit(tab, tab.locator('[data-order="1"]')) == [0]
    card.locator('.node[data-node="4"] .disc').click()  # from here on it is the node that Tab comes to
    assert card.locator('.node[tabindex="0"]').get_attribute("data-node") == "4"
    card.locator(".bars li").first.hover()
    tab.locator("h1").hover()
    assert lit(tab, card) == [4]  # the pointer has left, and the focus is still there
    tab.keyboard.press("/")
    assert tab.evaluate("document.activeElement.id") == "find"
    assert tab.locator('.node[role="img"][aria-label]').count() == tab.locator(".node").count()


def test_sorting_and_finding(tab):
    assert shown(tab) == NAMES
    tab.locator("#sort").select_option(label="by name")
    assert shown(tab) == ["Ethanol", "mol 1", "mol 9", "mol 10"]
    tab.locator("#sort").select_option(label="by prediction")
    order = np.argsort([-each.decision for each in explanations()], kind="stable")
    assert shown(tab) == [NAMES[k] for k in order]
    tab.locator("#sort").select_option(label="as given")
    assert shown(tab) == NAMES
    tab.locator("#find").fill("MOL 1")
    assert shown(tab) == ["mol 1", "mol 10"]  # what is the same comes first
    assert tab.locator("#count").inner_text() == "2 of 4 graphs"
    tab.locator("#find").fill("C#N")
    assert shown(tab) == ["mol 1"]
    tab.locator("#find").fill("nothing like it")
    assert shown(tab) == []
    assert tab.locator("#count").inner_text() == "no graph has this"
    tab.locator("#find").dispatch_event("keydown", {"key": "Escape"})  # which not every browser heeds by itself
    assert shown(tab) == NAMES
    assert tab.locator("#count").inner_text() == "4 graphs"
    tab.locator("#find").fill("mol")
    tab.locator("#find").press("Enter")  # which sends no form
    tab.wait_for_timeout(200)
    assert len(shown(tab)) == 3


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_has_all_of_it_without_scrolling_sideways(browser, page, scheme):
    with another_tab(browser, page, 390, 800, has_touch=True, is_mobile=True, color_scheme=scheme) as tab:
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390
        card = tab.locator('[data-order="0"]')
        assert card.locator(".readout").inner_text().startswith("Tap an atom")
        card.locator('.node[data-node="3"]').tap()
        assert card.locator(".readout").inner_text().startswith("N 3: ")
        card.locator('.edge[data-edge="0"] .band').tap()
        assert card.locator(".readout").inner_text().startswith("C 0–C 1: ")
        _, neither, towards = PALETTES[scheme]
        shares, colours = fills(tab, 0)
        assert colours[0] == towards
        ink, paper = (
            tab.evaluate(f"getComputedStyle(document.querySelector('{where}')).{what}").strip("rgb()").split(",")
            for where, what in ((".attribution text", "fill"), (".card", "backgroundColor"))
        )
        contrast = sum(map(int, ink)) - sum(map(int, paper))
        assert contrast > 400 if scheme == "dark" else contrast < -400
        least = int(np.argmin(np.abs(shares)))
        wanted = [int(neither[k : k + 2], 16) for k in (1, 3, 5)]
        assert np.abs(np.subtract([int(colours[least][k : k + 2], 16) for k in (1, 3, 5)], wanted)).max() < 40


def test_hostile_words_are_text(browser, tmp_path):
    graph = nx.path_graph(3)
    nx.set_node_attributes(graph, {0: HOSTILE, 1: '"&<', 2: "c"}, "label")
    batch = gv.as_batch([graph], node_label="label")
    found = [explained(batch, of=HOSTILE, sequences=[sequence(HOSTILE, 0.5, (0, 1))]), explained(batch, of=HOSTILE)]
    path = tmp_path / "page.html"
    write_page(
        path, HOSTILE, [HOSTILE], found, [HOSTILE, "$title \ud800"], [Prediction(HOSTILE)] * 2, smiles=[HOSTILE] * 2
    )
    with another_tab(browser, path) as tab:
        assert tab.locator("img").count() == 0
        assert tab.evaluate("document.body.dataset.broken") is None
        assert tab.title() == HOSTILE
        card = tab.locator('[data-order="0"]')
        assert card.locator("h2").inner_text() == card.locator(".prediction").inner_text() == HOSTILE
        card.locator('.node[data-node="0"]').hover()
        assert card.locator(".readout").inner_text().startswith(f"{HOSTILE} 0: ")
        card.locator(".sequences li").hover()
        assert card.locator(".readout").inner_text().startswith(f"{HOSTILE}: +0.500")
        assert "Blue nodes push towards" in tab.locator(".lead").inner_text()
        assert tab.evaluate("document.querySelector('.card').dataset.name") == HOSTILE
        tab.locator("#find").fill(HOSTILE)
        assert shown(tab)[0] == HOSTILE


def test_other_pages(tmp_path):
    batch = gv.as_batch([nx.path_graph(2)] * 5)
    found, path = [explained(graph) for graph in batch], tmp_path / "page.html"
    write_page(path, "Five", [], found, list("abcde"), n_graphs=3)
    text = path.read_text(encoding="utf-8")
    assert text.count("<article") == 3
    assert "The page shows the first 3 of 5 graphs." in text
    assert not re.search(r"(src|href)=|https?://(?!www\.w3\.org/2000/svg)|@import|url\(", text)
    assert [file.name for file in tmp_path.iterdir()] == ["page.html"]
    batch = gv.as_batch([nx.path_graph(2)] * 3)
    path = tmp_path / "page.html"
    found = [explained(batch[g], [0.0, 0.5 * g], of=None, baseline=1234.5) for g in range(3)]
    said = [Prediction(1234.567, deviation=0.25), Prediction(-0.5), Prediction(2.0, deviation=30.0, unlike=True)]
    write_page(path, "Numbers", [], found, ["a", "b", ""], said)
    text = path.read_text(encoding="utf-8")
    assert "Blue nodes raise the prediction, orange ones lower it." in text
    assert "baseline + sum of nodes = prediction" in text
    assert re.findall('class="prediction">(.*?)<', text) == ["1,234.57 ± 0.25", "−0.500", "2 ± 30"]
    assert text.count("unlike all training graphs") == 1
    assert '<h2 id="name2">graph 2</h2>' in text
    several = [explained(batch[g], of=of) for g, of in enumerate("aab")]
    write_page(path, "Classes", [], several, list("xyz"))
    assert "push towards the class that is predicted" in path.read_text(encoding="utf-8")
    found, path = [explained(gv.as_batch([nx.path_graph(2)]))], tmp_path / "page.html"
    raises(ParameterError, "there are no explanations to show", write_page, path, "", [], [], [])
    for count in (0, 501):
        with pytest.raises(ParameterError, match=f"n_graphs must lie between 1 and 500, not {count}"):
            write_page(path, "", [], found, [""], n_graphs=count)
    with pytest.raises(ParameterError, match="captions must have one value for each of 1 graphs, not 2"):
        write_page(path, "", [], found, ["", ""])
    raises(ParameterError, "there is no folder", write_page, tmp_path / "none" / "page.html", "", [], found, [""])
    assert [file.name for file in tmp_path.iterdir()] == ["page.html"]
