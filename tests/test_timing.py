"""Seconds of work that compiles at first."""

from types import SimpleNamespace

import pytest
from studies.timing import best_of


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
