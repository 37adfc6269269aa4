"""Evaluation: the paired test, the table of predictions, and the page."""

import json

import numpy as np
import pytest
from commands import rows_of
from scipy import stats

from gvoys.apps.evaluation import Evaluation, Fold, Prediction, Result, evaluate, make_folds
from gvoys.apps.evaluation.evaluation_page import summarise, write_page, write_predictions
from gvoys.drawing.page import as_json


class Noisy:
    """Predicts numbers with an error of its own."""

    def __init__(self, y, error, seed):
        self.y, self.error, self.rng = y, error, np.random.default_rng(seed)

    def fit(self, train):
        return lambda test: Prediction(
            self.y[test] + self.error * self.rng.normal(size=len(test)), None, np.full(len(test), self.error)
        )


def compared(first, second, seed=0, n=200):
    y = np.zeros(n)
    methods = {"gvoys": Noisy(y, first, seed), "other": Noisy(y, second, seed + 10_000)}
    return evaluate(methods, y, None, make_folds(y, False, 10, (0,)))


def test_differences():
    ahead = compared(1.0, 1.5).difference("other")
    assert ahead.mean == pytest.approx(0.5, abs=0.15)
    assert not ahead.is_noise
    behind = compared(1.5, 1.0).difference("other")
    assert behind.mean < 0
    assert not behind.is_noise
    y = np.zeros(20)
    folds = make_folds(y, False, 4, (0,))
    same = evaluate({"gvoys": Noisy(y, 0.0, 0), "other": Noisy(y, 0.0, 1)}, y, None, folds)
    assert same.difference("other").p == 1.0
    assert same.difference("other").is_noise


def test_equal_methods_differ_by_chance_no_more_often_than_they_may():
    """Folds are independent here, so that the corrected test is cautious: below 5 % of 300."""
    noise = [compared(1.0, 1.0, seed, 100).difference("other").p < 0.05 for seed in range(300)]
    assert sum(noise) <= 15
    # and the statistic is the corrected one: Nadeau and Bengio's variance
    found = compared(1.0, 1.2)
    ahead = (found.scores("other") - found.scores())[0]
    error = np.sqrt(ahead.var(ddof=1) * (1 / 10 + 1 / 9))
    difference = found.difference("other")
    assert difference.error == pytest.approx(error)
    assert difference.p == pytest.approx(2 * (1 - stats.t(9).cdf(abs(ahead.mean() / error))))


@pytest.fixture
def classes():
    y = np.array(["a", "b", "a", "b"])
    folds = [Fold(0, 1, np.array([0, 1]), np.array([2, 3])), Fold(0, 2, np.array([2, 3]), np.array([0, 1]))]
    scores = np.array([[0.9, 0.1], [0.2, 0.8]])
    known = Prediction(np.array(["a", "b"]), scores, similarity=np.array([0.5, 0.25]))
    first = [known, Prediction(np.array(["b", "b"]))]
    other = [Prediction(np.array(["a", "a"])), Prediction(np.array(["a", "a"]))]
    measures = [{"accuracy": 1.0, "ROC-AUC": 1.0}, {"accuracy": 0.5, "ROC-AUC": np.nan}]
    beside = [{"accuracy": 0.5, "ROC-AUC": np.nan}] * 2
    results = {"gvoys": Result(first, measures), "majority": Result(other, beside)}
    return Evaluation(y, np.array(["a", "b"]), folds, results)


def test_every_prediction_has_its_row(classes, tmp_path):
    write_predictions(tmp_path / "p.csv", classes, ["w", "x", "y", "z"])
    rows = rows_of(tmp_path / "p.csv")
    assert [row["id"] for row in rows] == ["y", "z", "w", "x"]
    assert [row["fold"] for row in rows] == ["1", "1", "2", "2"]
    assert [row["error"] for row in rows] == ["0", "0", "1", "0"]
    assert [row["truth"] for row in rows] == ["a", "b", "a", "b"]
    assert [row["majority"] for row in rows] == ["a", "a", "a", "a"]
    assert [row["probability a"] for row in rows] == ["0.9", "0.2", "", ""]
    assert [row["similarity"] for row in rows] == ["0.5", "0.25", "", ""]


def test_numbers_have_deviations_and_intervals(tmp_path):
    found = compared(1.0, 2.0, n=40)
    write_predictions(tmp_path / "p.csv", found, [f"g{k}" for k in range(40)])
    rows = rows_of(tmp_path / "p.csv")
    assert sorted(row["id"] for row in rows) == sorted(f"g{k}" for k in range(40))
    for row in rows:
        assert float(row["error"]) == float(row["prediction"]) - float(row["truth"])
        assert float(row["upper"]) - float(row["prediction"]) == pytest.approx(1.96 * float(row["deviation"]), rel=1e-4)


def test_the_summary_is_json(classes):
    found = json.loads(as_json(summarise(classes)))
    assert found["scores"] == [[1.0, 0.5]]
    assert found["methods"]["gvoys"]["measures"]["ROC-AUC"] == {"mean": 1.0, "deviation": 0.0}
    assert found["methods"]["majority"]["measures"]["ROC-AUC"] == {"mean": None, "deviation": None}
    assert found["methods"]["majority"]["difference"]["mean"] == 0.25
    assert found["methods"]["majority"]["difference"]["more_than_noise"] is False


def test_the_page_shows_what_is_furthest_and_escapes_what_it_is_given(classes, tmp_path):
    page = tmp_path / "report.html"
    write_page(page, "<b>", classes, ["4 graphs & more."], {}, ["<script>", "x", "y", "z"], None)
    text = page.read_text()
    assert "<script>" not in text
    assert "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'none';" in text
    assert "<h1>&lt;b&gt;</h1>" in text
    assert "4 graphs &amp; more." in text
    assert "&lt;script&gt;: a, predicted b" in text
    assert text.count("<figure>") == 1  # of four predictions one is wrong
    assert "0.250 ± 0.000" not in text
    assert "<td>majority</td><td>0.500 ± 0.000</td><td>–</td><td>0.25 ± " in text
