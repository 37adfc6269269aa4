"""Compiled kernels on disk: found again by a new process, made anew when a source changes, done without if need be."""

import errno
import importlib.util
import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from numba.core.caching import IndexDataCacheFile

import gvoys
from gvoys import _jit

CODE = (
    "import numpy as np; from gvoys._compiled.cpu import voyager_steps as signs;"
    "signs._bits(np.uint64(1), 2, 0, 3, 0, np.uint64(5));"
    "print(sum(signs._bits.stats.cache_hits.values()))"
)
MODULE = """
import numpy as np
from numba import prange
from gvoys._jit import kernel

@kernel()
def twice(x):
    return 2 * x

@kernel(parallel=True)
def squares(out):
    for i in prange(len(out)):
        out[i] = i * i
"""


def copy_package(folder):
    ignored = shutil.ignore_patterns("__pycache__")
    return shutil.copytree(Path(gvoys.__file__).parent, folder / "gvoys", ignore=ignored)


def run(code, folder, **changes):
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1", **changes}
    environment = {name: value for name, value in environment.items() if value is not None}
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=300)


def cache_hits(folder):
    done = run(CODE, folder)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def test_a_change_of_another_file_is_noticed(tmp_path):
    """voyager_steps.py takes random_bits from randomness.py: Numba alone would keep the old one."""
    copy_package(tmp_path)
    assert cache_hits(tmp_path) == 0
    assert cache_hits(tmp_path) == 1
    other = tmp_path / "gvoys" / "_compiled" / "cpu" / "randomness.py"
    other.write_text(other.read_text() + "\n# changed\n")
    assert cache_hits(tmp_path) == 0


def test_no_folder_for_a_cache(tmp_path):
    """Files stand where folders must be: that stops even the administrator, whom permissions do not."""
    package = copy_package(tmp_path)
    for folder in [package, *(path for path in package.rglob("*") if path.is_dir())]:
        (folder / "__pycache__").write_text("")
    code = "import gvoys as gv; print(gv.profiles(gv.datasets.molecules(2), gv.Walk(3), 'moments').shape)"
    nowhere = {"HOME": os.devnull, "LOCALAPPDATA": os.devnull, "XDG_CACHE_HOME": None, "NUMBA_CACHE_DIR": None}
    done = run(code, tmp_path, **nowhere)
    assert done.stdout == "(2, 4, 1)\n", done.stderr
    assert done.stderr.count("set NUMBA_CACHE_DIR to a folder that can be written") == 1


@pytest.fixture
def load(tmp_path, monkeypatch):
    """A way to import a module of two kernels, each time as a new process would."""
    monkeypatch.setattr(_jit, "_warned", False)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # Python takes a change within a second for none
    file = tmp_path / "two.py"
    file.write_text(MODULE)

    def load():
        spec = importlib.util.spec_from_file_location("two", file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load


def hits(dispatcher):
    return sum(dispatcher.stats.cache_hits.values())


def cache_files(tmp_path, kind):
    files = list((tmp_path / "__pycache__").glob(f"*.{kind}"))
    assert files
    return files


@pytest.mark.parametrize("kind", ["nbi", "nbc"])
@pytest.mark.parametrize("content", [b"", b"\0" * 100, b"no pickle"], ids=["empty", "zeros", "text"])
def test_a_damaged_cache_is_written_anew(load, tmp_path, kind, content):
    assert load().twice(3) == 6
    for file in cache_files(tmp_path, kind):
        file.write_bytes(content)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        damaged = load()
        assert damaged.twice(3) == 6
        assert hits(damaged.twice) == 0
        mended = load()
        assert mended.twice(3) == 6
        assert hits(mended.twice) == 1


def full(*args):
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("save", ["_save_index", "_save_data"])
def test_a_full_disk_costs_one_warning(load, monkeypatch, save):
    monkeypatch.setattr(IndexDataCacheFile, save, full)
    twice = load().twice
    with pytest.warns(UserWarning, match=r"NUMBA_CACHE_DIR.*No space left on device") as found:
        assert [twice(3), twice(3.5)] == [6, 7.0]
    assert len(found) == 1


def test_a_full_disk_does_not_bring_older_kernels_back(load, tmp_path, monkeypatch):
    """The index is written before the data: the new index would lead to the old data."""
    assert load().twice(3) == 6
    (tmp_path / "two.py").write_text(MODULE.replace("2 * x", "3 * x"))
    monkeypatch.setattr(IndexDataCacheFile, "_save_data", full)
    with pytest.warns(UserWarning, match="NUMBA_CACHE_DIR"):
        assert load().twice(3) == 9
    monkeypatch.undo()
    assert load().twice(3) == 9


def test_serial_and_parallel_kernels_are_kept_apart(load, tmp_path):
    """Numba's cache does not know the options of a kernel."""
    for expected in (0, 1):
        module = load()
        for way in (module.squares.parallel, module.squares.serial):
            out = np.empty(4)
            way(out)
            np.testing.assert_array_equal(out, [0, 1, 4, 9])
            assert hits(way) == expected
    uses_threads = {
        "serial" in file.name: b"numba_parallel_for" in file.read_bytes() for file in cache_files(tmp_path, "nbc")
    }
    assert uses_threads == {False: True, True: False}
