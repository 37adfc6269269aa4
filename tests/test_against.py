"""Old against new code: turns, noise, sides that cannot run a row, and a worktree that goes away."""

import shutil
import subprocess
from pathlib import Path

import pytest
from studies.against import SIDES, CannotRun, Comparison, Side, compare, worktree

ROOT = Path(__file__).parents[1]


class Fake:
    """A side whose times are given; it writes down when it ran."""

    warm_seconds = 0.5

    def __init__(self, name, seconds, log):
        self.name, self.seconds, self.log = name, seconds, log

    def time(self, repeats):
        self.log.append(self.name)
        if self.seconds is None:
            raise CannotRun("no walks today")
        return self.seconds

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.log.append(f"{self.name} ends")


def starts(log, **seconds):
    return {name: lambda name=name: Fake(name, seconds.get(name, 1.0), log) for name in SIDES}


def refused():
    raise CannotRun("TypeError: no such parameter")


def test_sides_take_turns_and_each_begins_a_round():
    log = []
    found = compare("row", starts(log, new=1.5))
    rounds = [tuple(log[i : i + 3]) for i in range(0, len(log) - 3, 3)]
    assert len(rounds) >= 5
    assert all(sorted(turn) == sorted(SIDES) for turn in rounds)
    assert {turn[0] for turn in rounds} == set(SIDES)
    assert set(log[-3:]) == {f"{name} ends" for name in SIDES}
    assert found.ratios("new").tolist() == [1.5] * len(rounds)
    assert found.cells() == ["row", "1.0 s", "1.5 s", "1.50 (1.50 to 1.50)", "1.00 (1.00 to 1.00)"]


def test_slower_counts_beyond_the_noise_only():
    old = [1.0] * 5
    quiet = Comparison("row", {"old": old, "new": [1.2] * 5, "control": [1.0, 1.01, 0.99, 1.0, 1.0]})
    noisy = Comparison("row", {"old": old, "new": [1.2] * 5, "control": [1.0, 1.4, 0.7, 1.3, 0.8]})
    shifted = Comparison("row", {"old": old, "new": [1.2] * 5, "control": [1.2] * 5})
    assert quiet.exceeds(1.05)
    assert not quiet.exceeds(1.25)
    assert not noisy.exceeds(1.05)
    assert not shifted.exceeds(1.05)
    ragged = Comparison("row", {"old": old, "new": [0.6, 1.0, 1.2, 1.4, 1.4], "control": old})
    assert not ragged.exceeds(1.05)


def test_a_side_that_cannot_run_says_so():
    for name, counts in (("old", False), ("new", True)):
        found = compare("row", starts([]) | {name: refused})
        assert found.cells()[1] == f"{name} cannot run it: TypeError: no such parameter"
        assert found.exceeds(1.05) is counts
    log = []
    midway = compare("row", starts(log) | {"new": lambda: Fake("new", None, log)})
    assert midway.failed == {"new": "no walks today"}
    assert set(log[-3:]) == {f"{name} ends" for name in SIDES}


@pytest.mark.skipif(shutil.which("git") is None or not (ROOT / ".git").exists(), reason="no git repository here")
def test_a_row_of_a_worktree():
    with worktree("HEAD") as old, Side("exact_kernel, a pair of 300 nodes", old / "src") as side:
        assert 0 < side.time(1) < 60
    assert not old.exists()
    assert str(old) not in subprocess.run(["git", "worktree", "list"], cwd=ROOT, capture_output=True, text=True).stdout
    with pytest.raises(CannotRun, match="git has no worktree of no-such-revision"), worktree("no-such-revision"):
        pass
