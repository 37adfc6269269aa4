"""Results beside those of an older revision, and seconds of work that compiles at first."""

from types import SimpleNamespace

import pytest
from studies.golden import differences
from studies.timing import best_of

OLD = {
    "file": "old",
    "version": "0.1.1",
    "sketch": "a1b2",
    "kernel": "raises UnsupportedError",
    "sums": {"array 0": [1.0, 100.0], "single 0": [1.0, 100.0]},
    "regressor": {"means": [1.0, -2.0], "deviations": [0.1, 0.2]},
}


def test_the_same_results_differ_in_nothing():
    assert differences(OLD, OLD | {"file": "new", "version": "0.2.0", "more": "c3"}) == []
    near = {"array 0": [1.0, 100.0 + 1e-8], "single 0": [1.0, 100.0 + 1e-4]}
    assert differences(OLD, OLD | {"sums": near}) == []
    assert differences(OLD, OLD | {"regressor": {"means": [1.0 + 1e-10, -2.0], "deviations": [0.1, 0.2]}}) == []


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"sketch": "a1b3"}, "sketch: a1b2 before, a1b3 now"),
        ({"sketch": None}, "sketch: is not there any more"),
        ({"kernel": "d4"}, "kernel: raises UnsupportedError before, d4 now"),
        ({"sums": OLD["sums"] | {"array 0": [1.0, 100.0 + 1e-6]}}, "sums: array 0 differ by 1e-06"),
        ({"sums": OLD["sums"] | {"single 0": [1.0, 100.01]}}, "sums: single 0 differ by 0.01"),
        ({"regressor": {"means": [1.0], "deviations": [0.1]}}, "regressor: means differ"),
        ({"regressor": {"means": [1.0, -2.0], "deviations": [0.1, 0.2001]}}, "regressor: deviations differ by 0.0001"),
    ],
)
def test_what_differs_is_named(change, line):
    assert differences(OLD, OLD | change) == [line]


@pytest.mark.parametrize(
    ("naps", "runs"),
    [
        ([3.0, 0.5, 0.25, 0.75], 4),  # the first compiles, the others count
        ([3.0, 2.0, 0.5, 0.5], 2),  # long twice: that is how long it takes
        ([1.0, 1.0, 1.0, 1.0], 4),  # not above the limit
        ([20.0, 0.5, 0.5, 0.5], 1),  # very long
    ],
)
def test_long_work_is_not_repeated(naps, runs, monkeypatch):
    now, done = 0.0, []

    def work():
        nonlocal now
        now += naps[len(done)]
        done.append(1)
        return len(done)

    monkeypatch.setattr("studies.timing.time", SimpleNamespace(perf_counter=lambda: now))
    assert best_of(work, 3, 1.0) == (min(naps[:runs]), runs)
    assert len(done) == runs
