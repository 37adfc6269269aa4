"""Results beside those of an older revision: bits, predictions, probabilities, and what is gone."""

import pytest
from benchmarks.golden import differences

OLD = {
    "file": "old",
    "version": "0.1.1",
    "sketch": "a1b2",
    "kernel": "raises UnsupportedError",
    "classifier": {"classes": [0, 1], "probabilities": [[0.9, 0.1], [0.2, 0.8]]},
    "regressor": {"means": [1.0, -2.0], "deviations": [0.1, 0.2]},
}


def test_the_same_results_differ_in_nothing():
    assert differences(OLD, OLD | {"file": "new", "version": "0.2.0", "more": "c3"}) == []
    near = {"classes": [0, 1], "probabilities": [[0.89, 0.11], [0.21, 0.79]]}
    assert differences(OLD, OLD | {"classifier": near}) == []
    assert differences(OLD, OLD | {"regressor": {"means": [1.0 + 1e-10, -2.0], "deviations": [0.1, 0.2]}}) == []


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"sketch": "a1b3"}, "sketch: a1b2 before, a1b3 now"),
        ({"sketch": None}, "sketch: is not there any more"),
        ({"kernel": "d4"}, "kernel: raises UnsupportedError before, d4 now"),
        ({"classifier": OLD["classifier"] | {"classes": [1, 1]}}, "classifier: classes differ by 1"),
        (
            {"classifier": OLD["classifier"] | {"probabilities": [[0.85, 0.15], [0.2, 0.8]]}},
            "classifier: probabilities differ by 0.05",
        ),
        ({"regressor": {"means": [1.0], "deviations": [0.1]}}, "regressor: means differ"),
        ({"regressor": {"means": [1.0, -2.0], "deviations": [0.1, 0.2001]}}, "regressor: deviations differ by 0.0001"),
    ],
)
def test_what_differs_is_named(change, line):
    assert differences(OLD, OLD | change) == [line]
