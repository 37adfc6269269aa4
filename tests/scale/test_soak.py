"""Nothing grows from round to round: open files, temporary files, compiled kernels, memory of Python."""

import json
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import processes
import pytest

from gvoys._jit import _Parallel

pytest.importorskip("pyarrow")
soak = pytest.importorskip("studies.soak")

if not Path("/proc/self/fd").exists():
    pytest.skip("this system does not say what a process holds", allow_module_level=True)


def n_variants():
    """Compiled kernels of this process; files of them come from other tests too, which may run at the same time."""
    modules = [module for name, module in sys.modules.items() if name.startswith("gvoys._compiled.cpu")]
    kernels = {id(each): each for module in modules for each in vars(module).values() if hasattr(each, "signatures")}
    parallel = [each.parallel for module in modules for each in vars(module).values() if isinstance(each, _Parallel)]
    return sum(len(each.signatures) for each in [*kernels.values(), *parallel])


def what_grows(folder, answer):
    """Warm up, look, work on, and look again."""
    (folder / "soak").mkdir()
    seen = []
    tracemalloc.start()
    for seed in range(13):
        soak.one_round(folder / "soak", seed)
        held = soak.look(folder)
        seen.append([held.handles, held.temporary, n_variants(), tracemalloc.get_traced_memory()[0]])
    answer.write_text(json.dumps(seen[6:]))  # what is kept of the last few files is full then


def test_nothing_grows(tmp_path):
    """In a process of its own: what other tests have left running would be counted too."""
    (tmp_path / "own").mkdir()
    run = processes.start(what_grows, tmp_path / "own", tmp_path / "answer", log=tmp_path / "log")
    assert processes.finish(run) == 0, (tmp_path / "log").read_text()
    *others, traced = zip(*json.loads((tmp_path / "answer").read_text()), strict=True)
    assert [set(each) for each in others] == [{each[0]} for each in others]
    assert others[2][0] > 3
    # a step now and then is Python's own: its table of names doubles. A batch of a round takes over 100,000
    assert np.median(np.diff(traced)) < 10_000


def test_what_grows_is_named(tmp_path, monkeypatch, capsys):
    from rich.console import Console

    held = []
    monkeypatch.setattr(soak, "one_round", lambda folder, seed: held.append((tmp_path / "left").open("w")))
    assert soak.main(["--seconds", "0.2"], Console()) == 1
    for file in held:
        file.close()
    assert "grows: handles" in capsys.readouterr().out
