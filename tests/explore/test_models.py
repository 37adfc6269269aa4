"""What a model says of the graphs, and what a library has beside them: on the page it is what Python computes."""

import numpy as np
import pytest
from browser import find_browser, opened
from commands import done, run
from raising import raises
from test_page import data_of

import gvoys as gv
from gvoys.errors import DatasetError, ModelError, StoreError

N, FITTED = 60, 30


@pytest.fixture(scope="module")
def batch():
    return gv.datasets.molecules(N, mean_nodes=10)


@pytest.fixture(scope="module")
def y(batch):
    """Of each molecule's size, with errors that the model cannot know."""
    return batch.graph_sizes + np.random.default_rng(0).normal(size=N)


@pytest.fixture(scope="module")
def regressor(batch, y):
    return gv.RandomWalkRegressor(gv.Walk(2), kernel="matern32", layers=("given",)).fit(batch[:FITTED], y[:FITTED])


@pytest.fixture(scope="module")
def classifier(batch):
    kinds = np.where(batch.graph_sizes > 10, "large", "small")
    return gv.RandomWalkClassifier(gv.Walk(2, refine=0), kernel="linear", C=1.0).fit(batch[:FITTED], kinds[:FITTED])


def by_name(data):
    return {each["name"]: each for each in data["properties"]}


def test_predictions_errors_and_intervals_of_numbers(batch, y, regressor, tmp_path):
    data = data_of(gv.explore(batch, y, tmp_path / "page.html", model=regressor).path)
    mean, deviation = regressor.predict(batch, return_std=True)
    found = by_name(data)
    np.testing.assert_allclose(found["prediction"]["values"], mean)
    np.testing.assert_allclose(found["standard deviation"]["values"], deviation)
    np.testing.assert_allclose(found["error"]["values"], mean - y)
    assert found["error"]["both"]  # colours in both directions from 0
    inside = np.abs(mean - y) <= 1.959964 * deviation
    classes = found["in the interval"]["classes"]
    said = [classes[code] for code in found["in the interval"]["values"]]
    assert said == np.where(inside, "inside", "outside").tolist()
    assert data["model"]["measure"] == "absolute error"
    np.testing.assert_allclose(data["model"]["errors"], np.abs(mean - y))
    assert [each["name"] for each in data["properties"]][:2] == ["y", "prediction"]
    assert "50 % of these graphs are among the training graphs" in data["model"]["note"]
    facts = {each["name"]: each["values"] for each in data["facts"]}
    assert facts["nearest training graph"][3].startswith("graph 3, similarity 1.000")
    low, high = (float(part.replace("−", "-")) for part in facts["95 % interval"][5].split(" to "))
    np.testing.assert_allclose([low, high], mean[5] + np.array([-1.96, 1.96]) * deviation[5], rtol=1e-2)


def test_targets_that_are_missing(batch, regressor, tmp_path, y):
    data = data_of(gv.explore(batch, tmp_path / "page.html", model=regressor).path)
    assert data["model"]["errors"] is None
    assert "error" not in by_name(data)
    some = y.copy()
    some[[2, 5]] = np.nan
    data = data_of(gv.explore(batch, some, tmp_path / "page.html", model=regressor).path)
    assert [place for place, error in enumerate(data["model"]["errors"]) if error is None] == [2, 5]
    data = data_of(gv.explore(batch, y, tmp_path / "page.html", model=regressor, n_graphs=10).path)
    np.testing.assert_allclose(by_name(data)["prediction"]["values"], regressor.predict(batch)[data["numbers"]])


def test_outcomes_of_classes(batch, classifier, tmp_path, y):
    kinds = np.where(batch.graph_sizes > 12, "large", "small")
    data = data_of(gv.explore(batch, kinds, tmp_path / "page.html", model=classifier).path)
    table = classifier.predict_table(batch)
    outcome = by_name(data)["outcome"]
    wanted = [
        f"{kind}, {'right' if kind == said else 'wrong'}" for kind, said in zip(kinds, table["prediction"], strict=True)
    ]
    assert [outcome["classes"][code] for code in outcome["values"]] == wanted
    assert any("wrong" in each for each in wanted)
    true = np.where(kinds == "large", table["probability large"], table["probability small"])
    np.testing.assert_allclose(data["model"]["errors"], 1 - true)
    assert set(data["model"]["of"]) == {"small"}  # of two classes, the one that decisions above 0 are for
    large = np.asarray(y) > np.median(y)
    model = gv.RandomWalkClassifier(gv.Walk(3), C=1.0).fit(batch, large)
    page = gv.explore(batch, large, tmp_path / "page.html", model=model)
    assert page.n_graphs == len(batch)


def test_models_that_cannot_be_shown(batch, y, tmp_path):
    with pytest.raises(ModelError, match="must be a fitted RandomWalkClassifier or RandomWalkRegressor, not Index"):
        gv.explore(batch, y, tmp_path / "page.html", model=gv.Index())
    two = np.column_stack([y, y])[:9]
    both = gv.RandomWalkRegressor(gv.Walk(1), kernel="matern32", layers=("given",)).fit(batch[:9], two)
    raises(ModelError, "models of one target", gv.explore, batch, y, tmp_path / "page.html", model=both)
    linear = gv.RandomWalkRegressor(gv.Walk(1), kernel="linear", max_exact=5)  # which cannot explain
    linear.fit(batch[:9], y[:9])
    data = data_of(gv.explore(batch, y, tmp_path / "page.html", model=linear).path)
    assert "cannot explain its predictions" in data["model"]["note"]
    assert data["model"]["shares"] is None


def test_nearest_graphs_of_a_library(batch, tmp_path):
    index = gv.Index().add(batch[:40], ids=[f"M{i}" for i in range(40)])
    data = data_of(gv.explore(batch, tmp_path / "page.html", index=index).path)
    hits = index.nearest(batch, 5)
    assert data["library"]["ids"] == hits.ids.tolist()
    np.testing.assert_allclose(data["library"]["similarities"], hits.similarities, atol=1e-6)
    index.save(tmp_path / "library.index")
    kept = data_of(gv.explore(batch, tmp_path / "page.html", index=tmp_path / "library.index").path)
    assert kept["library"]["ids"] == data["library"]["ids"]
    assert kept["library"]["name"] == "library.index"


def test_the_page_shows_what_the_model_says(batch, y, regressor, tmp_path):
    find_browser()
    index = gv.Index().add(batch[:40], ids=[f"M{i}" for i in range(40)])
    gv.explore(batch, y, tmp_path / "page.html", model=regressor, index=index)
    errors = np.abs(regressor.predict(batch) - y)
    with opened(tmp_path / "page.html") as tab:
        assert "50 % of these graphs" in tab.locator("#note").inner_text()
        tab.get_by_role("button", name="Worst errors").click()
        shown = [int(each.get_attribute("data-graph")) for each in tab.locator("#list button").all()]
        assert shown == np.argsort(-errors, kind="stable")[:12].tolist()
        tab.locator("#list button").first.click()
        worst = shown[0]
        assert tab.evaluate("state.pinned") == worst
        why = regressor.explain(batch[worst])[0]
        largest = np.abs(why.nodes).max()
        found = [float(each.get_attribute("data-share")) for each in tab.locator("#drawing [data-share]").all()]
        np.testing.assert_allclose(found, why.nodes / largest, atol=0.5 / 127 + 1e-9)
        assert f"{float(f'{largest:.3g}'):g}" in tab.locator("#meaning").inner_text()
        colours = tab.evaluate(
            "[...document.querySelectorAll('#drawing [data-share]')].map(e => getComputedStyle(e).fill)"
        )
        assert len(set(colours)) > 1
        tab.locator("#explain").uncheck()
        assert tab.locator("#drawing [data-share]").count() == 0
        assert "95 % interval" in tab.locator("#facts").inner_text()
        library = tab.locator("#library li span").all_inner_texts()
        assert library[::2] == index.nearest(batch[worst], 5).ids[0].tolist()
        tab.locator("#colour").select_option(label="error")
        low, high = tab.evaluate("(({ low, high }) => [low, high])(scaleOf(colouring()))")
        assert low == -high < 0


def test_the_command(tmp_path):
    rows = ["id,smiles,size,other"] + [f"m{k},{'C' * (k % 9 + 1)}O{'N' * (k % 3)},{k % 9 + 0.5},{k}" for k in range(24)]
    table = tmp_path / "table.csv"
    table.write_text("\n".join(rows) + "\nbad,C(,1,1\n")

    done("train", table, "--target", "size", "--id", "id", "-o", tmp_path / "model.gvoys")
    done("search", table, table, "--index", tmp_path / "lib.index", "-o", tmp_path / "hits.csv", "-k", 2)
    page = tmp_path / "page.html"
    said = done(
        "explore", table, "-o", page, "--model", tmp_path / "model.gvoys", "--index", tmp_path / "lib.index"
    ).output
    assert "1 of 25 rows was skipped" in said
    data = data_of(page)
    assert data["properties"][0]["name"] == "size"  # the column that the model was trained on
    assert data["model"]["errors"] is not None
    assert data["captions"][0] == "m0"
    assert data["library"]["name"] == "lib.index"
    done("explore", table, "-o", page, "--target", "OTHER", "--overwrite")
    assert data_of(page)["properties"][0]["name"] == "other"
    for words, kind, why in (
        (("--target", "gone"), DatasetError, "has no column 'gone'"),
        (("--model", table), ModelError, "table.csv"),
        (("--index", tmp_path / "none"), StoreError, "is no index"),
    ):
        result = run("explore", table, "-o", page, "--overwrite", *words)
        assert isinstance(result.exception, kind)
        assert why in str(result.exception)
    assert data_of(page)["properties"][0]["name"] == "other"  # what was there stays
