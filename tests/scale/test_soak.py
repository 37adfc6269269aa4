"""Nothing grows from round to round: open files, temporary files, compiled kernels, memory of Python."""

import sys
import tracemalloc
from pathlib import Path

import pytest

from gvoys._jit import _Parallel

pytest.importorskip("pyarrow")
soak = pytest.importorskip("benchmarks.soak")

if not Path("/proc/self/fd").exists():
    pytest.skip("this system does not say what a process holds", allow_module_level=True)


def n_variants():
    """Compiled kernels of this process; files of them come from other tests too, which may run at the same time."""
    modules = [module for name, module in sys.modules.items() if name.startswith("gvoys._kernels.cpu")]
    kernels = {id(each): each for module in modules for each in vars(module).values() if hasattr(each, "signatures")}
    parallel = [each.parallel for module in modules for each in vars(module).values() if isinstance(each, _Parallel)]
    return sum(len(each.signatures) for each in [*kernels.values(), *parallel])


def test_nothing_grows(tmp_path):
    folder = tmp_path / "soak"
    folder.mkdir()
    for seed in range(3):
        soak.one_round(folder, seed)
    tracemalloc.start()
    try:
        soak.one_round(folder, 3)
        first, traced, variants = soak.look(tmp_path), tracemalloc.get_traced_memory()[0], n_variants()
        for seed in range(4, 10):
            soak.one_round(folder, seed)
        last, then = soak.look(tmp_path), tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert (last.handles, last.temporary) == (first.handles, first.temporary)
    assert n_variants() == variants > 10
    assert then - traced < 100_000  # a batch of a round alone takes more


def test_what_grows_is_named(tmp_path, monkeypatch, capsys):
    from rich.console import Console

    held = []
    monkeypatch.setattr(soak, "one_round", lambda folder, seed: held.append((tmp_path / "left").open("w")))
    assert soak.main(["--seconds", "0.2"], Console()) == 1
    for file in held:
        file.close()
    assert "grows: handles" in capsys.readouterr().out
