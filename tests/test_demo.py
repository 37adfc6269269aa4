"""gvoys demo: the main job on bundled molecules, with and without what draws them; and the kernel beside GraKeL."""

import os
import subprocess
import sys
from importlib import import_module

import pytest
from typer.testing import CliRunner

from gvoys.apps.cli import app

HIDE = "import sys; sys.modules.update(dict.fromkeys({0!r})); sys.argv = {1!r}; from gvoys.apps.cli import main; main()"


def gvoys(*arguments, folder=None, without=()):
    """The command line, in an environment that lacks some packages."""
    command = HIDE.format(without, ["gvoys", *map(str, arguments)])
    return subprocess.run(
        [sys.executable, "-c", command],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "COLUMNS": "120"},
        check=False,
    )


def figures(output, name):
    """The row of a method: RMSE, MAE, R2, coverage."""
    row = next(line for line in output.splitlines() if f"│ {name}" in line)
    return [float(cell.strip(" %")) for cell in row.split("│")[2:6]]


def test_the_demo_beats_weisfeiler_lehman_and_writes_a_page(tmp_path):
    pytest.importorskip("plotly")
    pytest.importorskip("rdkit")
    done = gvoys("demo", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    output = " ".join(done.stdout.split())
    assert "FreeSolv: hydration free energies of 642 molecules" in output
    assert "513 to learn from, 129 held out" in output
    ours, theirs = (figures(done.stdout, name) for name in ("gvoys", "Weisfeiler–Lehman"))
    assert ours[0] < 0.9 * theirs[0]
    assert 88 < ours[3] <= 100
    assert "is predicted at" in output
    assert "Open gvoys-demo.html in a browser" in output
    page = (tmp_path / "gvoys-demo.html").read_text()
    for words in ("FreeSolv, held out", "nearest training graph", "chlorobenzene"):
        assert words in page


def test_the_demo_where_something_is_missing(tmp_path):
    pytest.importorskip("rdkit")
    done = gvoys("demo", "-o", "why.html", "--seed", "1", folder=tmp_path, without=("plotly",))
    assert done.returncode == 0, done.stderr
    assert "The page with a map needs Plotly; install what is missing with pip install" in " ".join(done.stdout.split())
    assert "why these predictions" in (tmp_path / "why.html").read_text()
    done = gvoys("demo", "-o", "nowhere/page.html", folder=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "gvoys: there is no folder nowhere for page.html\n"


def test_with_the_package_alone_molecules_are_graphs(tmp_path):
    done = gvoys(
        "demo", folder=tmp_path, without=("rdkit", "igraph", "plotly", "matplotlib", "networkx", "pandas", "pyarrow")
    )
    assert done.returncode == 0, done.stderr
    output = " ".join(done.stdout.split())
    assert "Drawings of molecules need RDKit. The page with a map needs Plotly; install what is missing" in output
    assert "is predicted at" in output
    page = (tmp_path / "gvoys-demo.html").read_text()
    assert 'class="attribution molecule"' not in page
    assert ">CH3</text>" in page


# -- the demo of 0.1
def test_the_kernel_puts_grakel_beside_ours():
    pytest.importorskip("grakel")
    result = gvoys("demo", "--kernel")
    assert result.returncode == 0, result.stderr
    for words in (
        "188 molecules, 3371 atoms, 3721 bonds",
        "gvoys, exact moments",
        "GraKeL, RandomWalk fast",
        "times faster",
    ):
        assert words in result.stdout
    ours, theirs = (line for line in result.stdout.splitlines() if " % " in line)
    accuracy = float(ours.split("±")[0].split()[-1])
    assert 78 < accuracy < 90
    assert float(theirs.split()[-3]) < 1e-9  # the largest relative difference


def test_the_kernel_without_grakel_says_so(monkeypatch, tmp_path):
    """MUTAG from a folder; GraKeL hidden."""
    pytest.importorskip("grakel")
    import shutil

    from gvoys.io.fetch import find_dataset

    demo = import_module("gvoys.apps.cli.demo_command")
    found = find_dataset("MUTAG", None)
    (shutil.copytree if found.is_dir() else shutil.copy)(found, tmp_path / found.name)
    monkeypatch.setattr(demo, "find_spec", lambda name: None)
    result = CliRunner().invoke(app, ["demo", "--kernel", "--root", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert (
        'GraKeL is not installed, so there is nothing to compare with; install it with pip install "gvoys[peers]".'
        in " ".join(result.output.split())
    )
