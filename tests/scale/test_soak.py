"""Nothing grows from round to round: open files, temporary files, memory of Python."""

import tracemalloc
from pathlib import Path

import pytest

pytest.importorskip("pyarrow")
soak = pytest.importorskip("benchmarks.soak")

if not Path("/proc/self/fd").exists():
    pytest.skip("this system does not say what a process holds", allow_module_level=True)


def test_nothing_grows(tmp_path):
    folder = tmp_path / "soak"
    folder.mkdir()
    for seed in range(3):
        soak.one_round(folder, seed)
    tracemalloc.start()
    try:
        soak.one_round(folder, 3)
        first, traced = soak.look(tmp_path), tracemalloc.get_traced_memory()[0]
        for seed in range(4, 10):
            soak.one_round(folder, seed)
        last, then = soak.look(tmp_path), tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert (last.handles, last.temporary, last.compiled) == (first.handles, first.temporary, first.compiled)
    assert then - traced < 100_000  # a batch of a round alone takes more


def test_what_grows_is_named(tmp_path, monkeypatch, capsys):
    from rich.console import Console

    held = []
    monkeypatch.setattr(soak, "one_round", lambda folder, seed: held.append((tmp_path / "left").open("w")))
    assert soak.main(["--seconds", "0.2"], Console()) == 1
    for file in held:
        file.close()
    assert "grows: handles" in capsys.readouterr().out
