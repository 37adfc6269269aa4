"""Compiled kernels on disk: found again by a new process, made anew when any source changes."""

import shutil
import subprocess
import sys
from pathlib import Path

import gvoys

CODE = (
    "import gvoys as gv, numba; from gvoys.walks import moments;"
    "gv.profiles(gv.datasets.molecules(2), 'moments', 3);"
    "print(sum(moments._moments_of_small.stats.cache_hits.values()))"
)


def cache_hits(folder):
    import os

    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    run = subprocess.run([sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, check=True)
    return int(run.stdout)


def test_a_change_of_another_file_is_noticed(tmp_path):
    """moments.py takes row_sum from matvec.py: Numba alone would keep the old one."""
    shutil.copytree(Path(gvoys.__file__).parent, tmp_path / "gvoys", ignore=shutil.ignore_patterns("__pycache__"))
    assert cache_hits(tmp_path) == 0
    assert cache_hits(tmp_path) == 1
    other = tmp_path / "gvoys" / "walks" / "matvec.py"
    other.write_text(other.read_text() + "\n# changed\n")
    assert cache_hits(tmp_path) == 0
