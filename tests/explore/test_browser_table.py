"""A table with names on the explorer's page: finding, colours, first screen, selecting, dark mode."""

import csv
import io

import networkx as nx
import numpy as np
import pytest
from browser import find_browser, opened

import gvoys as gv

pytestmark = pytest.mark.usefixtures("one_browser")
NAMES = {
    "c1ccccc1Cl": "chlorobenzene",
    "c1ccccc1": "benzene",
    "c1ccccc1Br": "bromobenzene",
    "c1ccccc1N": "aniline",
    "CCO": "ethanol",
    "CO": "methanol",
    "CC#N": "acetonitrile",
    "CC=CC": "but-2-ene",
    "C1CCCCC1": "cyclohexane",
    "CC(C)O": "propan-2-ol, once isopropanol",
}
N = 60


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Ten molecules six times over, one of them with a value far from all others, and one without."""
    find_browser()
    folder = tmp_path_factory.mktemp("table")
    rows = []
    for k in range(N):
        smiles, name = list(NAMES.items())[k % 10]
        caption = name if k < 10 else f"{name} batch {k // 10}"
        rows.append([caption, smiles, "ab"[k % 2], {7: 1000, 8: ""}.get(k, k / 10)])
    with (folder / "table.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["compound", "smiles", "site", "boiling"], *rows])
    gv.explore(folder / "table.csv", walk=gv.Walk(3), path=folder / "page.html")
    return folder / "page.html"


@pytest.fixture(params=["light", "dark"])
def scheme(request):
    return request.param


@pytest.fixture
def tab(page):
    with opened(page) as tab:
        yield tab


def channels(colour):
    return [float(part) for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]


def test_names_are_found_and_the_same_comes_before_what_contains_it(tab):
    search = tab.locator("#search")
    search.fill("benzene")
    assert tab.locator("#matches button span").first.inner_text() == "benzene"
    assert tab.locator("#matches p").inner_text() == "and 10 more"
    search.press("Enter")
    assert tab.locator("#chosen").inner_text() == "benzene"
    search.fill("CCO")  # SMILES, where case matters; the page says where it was found
    first = tab.locator("#matches button").first.inner_text()
    assert first.split("\n") == ["ethanol", "SMILES: CCO"]
    search.fill("c1ccccc1")
    assert tab.locator("#matches button span").first.inner_text() == "benzene"
    search.fill("isoprop")
    search.press("ArrowDown")
    tab.keyboard.press("Enter")
    assert tab.locator("#chosen").inner_text() == "propan-2-ol, once isopropanol"
    search.fill("8")
    assert tab.locator("#matches button span").first.inner_text() == "cyclohexane"  # graph 8, before 18 and 28
    search.fill("nothing like it")
    assert tab.locator("#matches").inner_text() == "no graph has this"
    tab.keyboard.press("Escape")
    assert tab.locator("#matches").is_hidden()
    assert tab.evaluate("state.pinned") == 9


def test_addresses(page):
    with opened(f"{page}#Aniline") as tab:
        assert tab.locator("#chosen").inner_text() == "aniline"
        captions = tab.locator("#facts dt").all_inner_texts()
        assert captions == ["number", "SMILES", "site", "boiling", "nodes", "edges", "mean degree"]
        assert "" not in tab.locator("#facts dd").all_inner_texts()
    with opened(f"{page}#acetonitrile") as tab:
        nearest = tab.locator("#list .name").all_inner_texts()
    assert all("acetonitrile" in name for name in nearest[:5])
    assert "but-2-ene" not in nearest


def test_crowded_nodes_leave_their_edges_to_be_seen(tmp_path):
    crowded = [nx.barabasi_albert_graph(40, 3, seed=seed) for seed in range(3)]
    gv.explore(crowded, tmp_path / "page.html")
    with opened(tmp_path / "page.html") as tab:
        drawn = tab.evaluate("""[...document.querySelectorAll("#drawing circle.node")].map(
            (c) => ["cx", "cy", "r"].map((name) => Number(c.getAttribute(name))))""")
    x, y, r = np.array(drawn).T
    apart = np.hypot(x[:, None] - x, y[:, None] - y) + np.diag(np.full(len(x), np.inf))
    assert len(drawn) == 40
    assert np.mean(apart.min(axis=1) < 2 * r) < 0.4  # nodes that touch another one
    assert np.median(apart) > 10 * r[0]


def test_rings_and_small_weights(tab):
    kinds = tab.evaluate("document.getElementById('map').data.map((trace) => trace.type)")
    assert len(set(kinds)) == 1  # WebGL is drawn above all else, whatever the order of the traces
    tab.evaluate("setWeights(state.shares.map((share, i) => (i ? share : 1e-7 * data.means[0])))")
    assert "gv.Coefficients([1e-7, " in tab.locator("#series").inner_text()


def test_scales_end_where_most_values_do(tab):
    tab.locator("#colour").select_option(label="boiling")
    scale = tab.evaluate("(({ low, high }) => [low, high])(scaleOf(colouring()))")
    assert scale[0] == 0
    assert 5 <= scale[1] < 6
    legend = tab.locator("#legend").inner_text()
    assert "▲ 1 above" in legend
    assert "1 not known" in legend
    traces = tab.evaluate("document.getElementById('map').data.map(t => [t.marker.symbol ?? '', t.customdata ?? []])")
    marked = {symbol: graphs for symbol, graphs in traces if symbol.startswith("triangle")}
    assert marked["triangle-up"] == [7]
    assert marked["triangle-down"] == []
    assert [8] in [graphs for symbol, graphs in traces if not symbol]  # grey
    tab.locator("#colour").select_option(label="nodes")
    assert tab.evaluate("(({ low, high }) => [low, high])(scaleOf(colouring()))") == [2, 7]
    assert "above" not in tab.locator("#legend").inner_text()


def test_the_first_screen_shows_what_is_typical(tab):
    assert tab.locator("#tab-typical").get_attribute("aria-pressed") == "true"
    assert tab.locator("#list .group").all_inner_texts() == ["a", "b"]
    cards = [int(each.get_attribute("data-graph")) for each in tab.locator("#list button").all()]
    assert tab.evaluate("state.pinned") == cards[0]
    assert tab.evaluate("location.hash") == ""
    K = np.array([tab.evaluate("g => Array.from(walks.compare(g).values)", g) for g in range(N)])
    for group, found in enumerate(cards):
        own = np.arange(group, N, 2)
        mean = K[np.ix_(own, own)].mean(axis=1)
        assert mean[own.tolist().index(found)] == pytest.approx(mean.max(), abs=1e-6)
    for letter in "ab":  # the points are named on the map
        assert letter in tab.evaluate("document.getElementById('map').layout.annotations.map(each => each.text)")


def test_a_region_is_selected_and_exported(tab, tmp_path):
    tab.locator("#select").click()
    assert tab.evaluate("document.getElementById('map').layout.dragmode") == "lasso"
    box = tab.locator("#map .nsewdrag").bounding_box()
    corners = [(0.02, 0.02), (0.98, 0.02), (0.98, 0.98), (0.02, 0.98), (0.02, 0.02)]
    for k, (x, y) in enumerate(corners):
        tab.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"], steps=4)
        if k == 0:
            tab.mouse.down()
    tab.mouse.up()
    tab.wait_for_function("state.selected.size > 0")
    chosen = tab.evaluate("[...state.selected].sort((a, b) => a - b)")
    assert len(chosen) > N / 2  # those at the very rim may be outside
    assert f"Selected ({len(chosen)})" in tab.locator("#tabs").inner_text()
    assert "site: " in tab.locator("#list-about").inner_text()
    assert tab.evaluate("document.getElementById('map').layout.dragmode") == "pan"
    tab.evaluate("select([1, 9, 30])")
    with tab.expect_download() as download:
        tab.locator("#export").click()
    download.value.save_as(tmp_path / "chosen.csv")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "chosen.csv").read_text())))
    assert [row["number"] for row in rows] == ["1", "9", "30"]
    assert rows[1]["name"] == "propan-2-ol, once isopropanol"
    assert rows[0]["SMILES"] == "c1ccccc1"
    assert rows[2]["boiling"] == "3"
    assert download.value.suggested_filename == "table-selected.csv"
    shown = tab.evaluate("document.getElementById('map').data.map(t => (t.selectedpoints ?? []).length)")
    assert sum(shown) == 3
    tab.keyboard.press("Escape")
    assert tab.evaluate("state.selected.size") == 0
    assert tab.locator("#tab-selected").count() == 0


def test_ink_can_be_read_on_its_paper(page, scheme):
    with opened(page, color_scheme=scheme) as tab:
        style = "it => { const s = getComputedStyle(document.querySelector(it)); return [s.color, s.backgroundColor]; }"
        ink, back = (np.mean(channels(each)) for each in tab.evaluate(style, "body"))
        assert (ink < 60 < 200 < back) if scheme == "light" else (back < 60 < 200 < ink)
        bond = tab.evaluate("getComputedStyle(document.querySelector('#drawing .ink path')).stroke")
        assert abs(np.mean(channels(bond)) - back) > 120
        paper = tab.evaluate("document.getElementById('map').layout.plot_bgcolor")
        assert paper == ("#fff" if scheme == "light" else "#1b1f27")
        tab.emulate_media(color_scheme="dark" if scheme == "light" else "light")
        tab.wait_for_function("paper => document.getElementById('map').layout.plot_bgcolor !== paper", arg=paper)


def test_labels_lie_inside_their_circles(tmp_path):
    find_browser()
    graphs = [nx.path_graph(4), nx.cycle_graph(5), nx.star_graph(3)]
    for graph in graphs:
        nx.set_node_attributes(graph, {v: ["A", "host", "a long label", "12"][v % 4] for v in graph}, "label")
    gv.explore(graphs, [1, 2, 3], tmp_path / "page.html", walk=gv.Walk(2))
    with opened(tmp_path / "page.html") as tab:
        inside = tab.evaluate(
            """() => [...document.querySelectorAll('#drawing text')].map(text => {
            const t = text.getBoundingClientRect(), circle = text.previousElementSibling.getBoundingClientRect();
            return [Math.hypot(t.width / 2, 0.35 * t.height), circle.width / 2, text.textContent]; })"""
        )
        titles = tab.locator("#drawing title").all_text_contents()
    assert len(inside) >= 4
    for far, radius, _ in inside:
        assert far <= radius
    assert "a long label" in titles  # what does not fit is there where one points
    assert "a l…" in [text for _, _, text in inside]


@pytest.mark.parametrize("width", [390, 768, 1440])
def test_nothing_is_wider_than_the_window(page, width, scheme):
    with opened(f"{page}#9", width, 844, color_scheme=scheme) as tab:
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        for name in ("header", ".controls", "#map", "aside", "#weighing"):
            box = tab.locator(name).bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width + 0.5
        legend, plot = tab.locator("#legend").bounding_box(), tab.locator("#map").bounding_box()
        assert legend["y"] + legend["height"] <= plot["y"] + 0.5  # nothing lies upon it
