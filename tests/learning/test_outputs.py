"""RandomWalkClassifier with several columns of classes."""

import numpy as np
import pytest
import spelling

import gvoys as gv
from gvoys.errors import ParameterError

BATCH = gv.datasets.molecules(120, mean_nodes=12)
SIZES = BATCH.graph_sizes
Y = np.column_stack([np.median(SIZES) < SIZES, np.digitize(SIZES, np.quantile(SIZES, [0.3, 0.7]))]).astype(int)
FIXED = {"max_length": 3, "refine": 1, "kernel": "matern12", "C": 10.0}
KNOWN, NEW = slice(90), slice(90, None)


@pytest.fixture(scope="module")
def model():
    return spelling.classifier(**FIXED).fit(BATCH[KNOWN], Y[KNOWN])


@pytest.mark.parametrize("how", [{}, {"max_exact": 50}], ids=["gram", "landmarks"])
def test_every_column_is_as_if_it_were_alone(how):
    both = spelling.classifier(**FIXED, **how).fit(BATCH[KNOWN], Y[KNOWN])
    for column in range(2):
        alone = spelling.classifier(**FIXED, **how).fit(BATCH[KNOWN], Y[KNOWN, column])
        np.testing.assert_array_equal(both.classes_[column], alone.classes_)
        np.testing.assert_array_equal(both.decision_function(BATCH[NEW])[column], alone.decision_function(BATCH[NEW]))
        np.testing.assert_array_equal(both.predict_proba(BATCH[NEW])[column], alone.predict_proba(BATCH[NEW]))
        np.testing.assert_array_equal(both.predict(BATCH[NEW])[:, column], alone.predict(BATCH[NEW]))


def test_one_choice_for_all_columns():
    """A column that is there twice chooses what it would choose alone, and noise beside it is in the score."""
    noise, size = np.random.default_rng(0).integers(2, size=len(BATCH)), Y[:, 0]
    alone, twice, noisy = (
        spelling.classifier(2).fit(BATCH, y).chosen_
        for y in (size, np.column_stack([size, size]), np.column_stack([size, noise]))
    )
    assert (alone.refine, alone.kernel, alone.C) == (twice.refine, twice.kernel, twice.C)
    assert twice.score == pytest.approx(alone.score)
    assert abs(noisy.score - (alone.score + 0.5) / 2) < 0.1


def test_tables_and_files(model, tmp_path):
    found, table = model.predict(BATCH[NEW]), model.predict_table(BATCH[NEW])
    assert model.score(BATCH[NEW], Y[NEW]) == (found == Y[NEW]).all(axis=1).mean() > 0.5
    assert spelling.classifier(**FIXED).fit(BATCH[KNOWN], Y[KNOWN, :1]).predict(BATCH[NEW]).shape == (30,)
    columns = ["prediction 0", "probability 0 0", "probability 0 1", "prediction 1"]
    assert [name for name in table if name.startswith("pr")] == columns + [f"probability 1 {k}" for k in range(3)]
    np.testing.assert_array_equal(table["prediction 1"], model.predict(BATCH[NEW])[:, 1])
    model.save(tmp_path / "m.gvoys")
    loaded = gv.load_model(tmp_path / "m.gvoys")
    np.testing.assert_array_equal(loaded.predict(BATCH[NEW]), model.predict(BATCH[NEW]))
    assert [len(each) for each in loaded.classes_] == [2, 3]


@pytest.mark.parametrize(
    ("y", "how", "said"),
    [
        (np.column_stack([Y[:, 0], np.zeros(120)]), {}, "column 1 of y: all 120 graphs are of one class"),
        (np.array([[1, "a"], [0, None]] * 60, object), {}, "column 1 of y: y has no class for graph 1"),
        (Y, {"class_weight": {0: 2.0}}, 'class_weight must be "balanced" or None where y has several columns'),
    ],
)
def test_what_cannot_be_fitted_says_which_column(y, how, said):
    with pytest.raises(ParameterError, match=said):
        spelling.classifier(**FIXED, **how).fit(BATCH, y)


GRAPHS = gv.datasets.molecules(40, mean_nodes=8, random_state=3)
LARGE = GRAPHS.graph_sizes > np.median(GRAPHS.graph_sizes)


def classifier(**how):
    return spelling.classifier(**{"refine": 1, "kernel": "linear"} | how)


STEPS = {
    "classifier": (classifier, ("profiles", "choosing", "comparing", "training")),
    "nothing to choose": (lambda **how: classifier(C=1.0, **how), ("profiles", "training", "calibrating")),
    "landmarks": (lambda **how: classifier(max_exact=10, **how), ("choosing", "comparing", "profiles", "training")),
    "regressor": (lambda **how: spelling.regressor(2, **how), ("profiles", "choosing", "optimising")),
    "linear": (lambda **how: spelling.regressor(2, kernel="linear", **how), ("profiles", "optimising")),
    "features": (
        lambda **how: spelling.regressor(2, max_exact=10, n_components=40, **how),
        ("profiles", "choosing", "optimising", "profiles", "optimising"),
    ),
}


@pytest.mark.parametrize(("make", "steps"), STEPS.values(), ids=STEPS)
def test_bars_name_the_steps_and_change_no_bit(make, steps, capsys):
    expected = make().fit(GRAPHS, LARGE).predict_table(GRAPHS)
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("", "")
    found = make(verbose=True).fit(GRAPHS, LARGE).predict_table(GRAPHS)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert [line.split()[0] for line in shown.err.splitlines() if line.strip()] == list(steps)
    assert shown.err.count("100%") == len(steps)
    for name, column in found.items():
        np.testing.assert_array_equal(column, expected[name])
