"""Progress bars of the learners: every step, on stderr, only where they are asked for."""

import numpy as np
import pytest
import spelling

import gvoys as gv
from gvoys.errors import ParameterError

BATCH = gv.datasets.molecules(40, mean_nodes=8, random_state=3)
LARGE = BATCH.graph_sizes > np.median(BATCH.graph_sizes)


def classifier(**how):
    return spelling.classifier(**{"refine": 1, "kernel": "linear"} | how)


MODELS = {
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


@pytest.mark.parametrize(("make", "steps"), MODELS.values(), ids=MODELS)
def test_bars_name_the_steps_and_change_no_bit(make, steps, capsys):
    expected = make().fit(BATCH, LARGE).predict_table(BATCH)
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("", "")
    found = make(verbose=True).fit(BATCH, LARGE).predict_table(BATCH)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert [line.split()[0] for line in shown.err.splitlines() if line.strip()] == list(steps)
    assert shown.err.count("100%") == len(steps)
    for name, column in found.items():
        np.testing.assert_array_equal(column, expected[name])


@pytest.mark.parametrize("make", [gv.RandomWalkClassifier, gv.RandomWalkRegressor])
def test_verbose_is_a_flag(make):
    for value in ("loud", None, 1.5):
        with pytest.raises(ParameterError, match="verbose must be True or False, not"):
            make(verbose=value).fit(BATCH, LARGE)
