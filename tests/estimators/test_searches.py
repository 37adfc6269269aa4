"""Searches, pipelines and tables of scikit-learn and pandas, with graphs of every form as X."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.utils import _safe_indexing

import gvoys as gv

BATCH = gv.datasets.molecules(36, mean_nodes=8, random_state=2)
Y = np.where(BATCH.graph_sizes > np.median(BATCH.graph_sizes), "large", "small")
SMILES = ["CCO", "CCN", "CCCO", "CCCN", "CCCCO", "CCCCN", "CC(C)O", "CC(C)N", "OCCO", "NCCN", "OCC", "NCC"]


def molecules():
    chem = pytest.importorskip("rdkit.Chem")
    held = [chem.MolFromSmiles(text) for text in SMILES]
    return pd.Series(held, index=[f"mol{i}" for i in range(len(held))])


FORMS = {
    "batch": lambda: (BATCH, Y),
    "networkx": lambda: (BATCH.to_networkx(), Y),
    "tuple": lambda: (tuple(BATCH.to_networkx()), Y),
    "molecules": lambda: (molecules(), pd.Series(["O" in text for text in SMILES], index=range(50, 62))),
}
forms = pytest.mark.parametrize("form", FORMS)
MODEL = gv.RandomWalkClassifier(gv.Walk(refine=1, start="ones", stop="ones"), "linear", C=1.0)


def classifier():
    return clone(MODEL)


@forms
def test_searches_over_the_classifier(form):
    X, y = FORMS[form]()
    grid = {"C": [0.1, 10.0], "walk__max_length": [1, 3], "kernel": ["linear", "matern12"]}
    search = GridSearchCV(classifier(), grid, cv=2, error_score="raise").fit(X, y)
    assert len(search.cv_results_["params"]) == 8
    assert search.best_estimator_.chosen_.kernel == search.best_params_["kernel"]
    assert len(search.best_estimator_.series_.mu) == search.best_params_["walk__max_length"] + 1
    assert search.predict(X).shape == (len(y),)
    assert cross_val_score(classifier(), X, y, cv=2, error_score="raise").shape == (2,)
    assert cross_val_predict(classifier(), X, y, cv=2, method="predict_proba").shape == (len(y), 2)


@forms
@pytest.mark.parametrize(
    ("first", "last"),
    [
        (gv.RandomWalkKernel(gv.Geometric(0.1), gv.Walk(2)), SVC(kernel="precomputed")),
        (gv.RandomWalkFeatures(gv.Geometric(0.1), gv.Walk(2), n_components=128), LogisticRegression()),
        (gv.RandomWalkFeatures(gv.Geometric(0.1), gv.Walk(2), method="sequences"), LogisticRegression()),
    ],
    ids=["kernel", "features", "sequences"],
)
def test_searches_over_the_decay(form, first, last):
    X, y = FORMS[form]()
    pipeline = make_pipeline(clone(first), last)
    name = f"{type(first).__name__.lower()}__series__decay"
    search = GridSearchCV(pipeline, {name: [0.01, 0.3]}, cv=2, error_score="raise").fit(X, y)
    assert search.best_estimator_[0].series_.decay == search.best_params_[name]
    for row, decay in enumerate((0.01, 0.3)):
        own = make_pipeline(clone(first).set_params(series__decay=decay), last)
        assert search.cv_results_["mean_test_score"][row] == cross_val_score(own, X, y, cv=2).mean()


def test_searches_in_two_processes():
    search = GridSearchCV(classifier(), {"C": [0.1, 10.0]}, cv=2, error_score="raise")
    alone = search.fit(BATCH, Y).cv_results_["mean_test_score"]
    together = clone(search).set_params(n_jobs=2).fit(BATCH, Y)
    np.testing.assert_array_equal(together.cv_results_["mean_test_score"], alone)


def test_graphs_are_selected_at_once(monkeypatch):
    """Not one by one in Python, which takes thirty times as long; the same graphs, whatever says which."""

    def one_by_one(*_):
        raise AssertionError

    monkeypatch.setattr(gv.GraphBatch, "__iter__", one_by_one)
    rows = np.array([5, 3, 30])
    mask = np.zeros(36, bool)
    mask[rows] = True
    expected = [BATCH[i].graph_sizes[0] for i in rows]
    for which in (rows, rows.tolist(), tuple(rows.tolist())):
        found = _safe_indexing(BATCH, which)
        assert isinstance(found, gv.GraphBatch)
        assert found.graph_sizes.tolist() == expected
    for which in (mask, mask.tolist()):
        assert _safe_indexing(BATCH, which).graph_sizes.tolist() == BATCH.graph_sizes[np.sort(rows)].tolist()
    assert _safe_indexing(BATCH, slice(2, 9)).graph_sizes.tolist() == BATCH.graph_sizes[2:9].tolist()
    assert len(_safe_indexing(BATCH, 4)) == 1
    train, test, _, _ = train_test_split(BATCH, Y, random_state=0)
    assert (len(train), len(test)) == (27, 9)
    assert BATCH.shape == (36,)


KINDS = {
    "list": list,
    "array": np.array,
    "series": lambda y: pd.Series(y, index=range(100, 100 - len(y), -1)),
    "categorical": pd.Categorical,
    "column of categories": lambda y: pd.Series(y, dtype="category"),
}


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("values", [("small", "large"), (False, True), (0, 1)], ids=["words", "flags", "numbers"])
def test_classes_of_any_kind(kind, values):
    y = [values[int(name == "large")] for name in Y]
    model = classifier().fit(BATCH, kind(y))
    assert model.classes_.tolist() == sorted(values)
    assert (model.predict(BATCH) == np.array(y)).mean() > 0.7
    expected = classifier().fit(BATCH, np.array(y)).decision_function(BATCH)
    np.testing.assert_array_equal(model.decision_function(BATCH), expected)


def test_columns_of_strings_and_of_numbers():
    words = pd.Series(Y, dtype="string")
    assert classifier().fit(BATCH, words).score(BATCH, words) > 0.7
    expected = gv.RandomWalkRegressor(gv.Walk(2), max_iterations=0).fit(BATCH, BATCH.graph_sizes).predict(BATCH)
    for y in (pd.Series(BATCH.graph_sizes, index=range(100, 64, -1)), pd.Series(BATCH.graph_sizes, dtype="Int64")):
        found = gv.RandomWalkRegressor(gv.Walk(2), max_iterations=0).fit(BATCH, y).predict(BATCH)
        np.testing.assert_array_equal(found, expected)
