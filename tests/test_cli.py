"""The command line, as a user meets it."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from gvoys.cli import app


def gvoys(*arguments, **environment):
    import os

    return subprocess.run(
        [sys.executable, "-m", "gvoys.cli", *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "120", **environment},
        check=False,
    )


def test_help_names_the_commands():
    result = CliRunner().invoke(app, ["--help"])
    assert result.exit_code == 0
    assert "Compare graphs by the walks they share" in result.output
    assert "demo" in result.output


def test_version():
    from gvoys import __version__

    assert CliRunner().invoke(app, ["--version"]).output.strip() == f"gvoys {__version__}"


def test_the_demo_puts_grakel_beside_ours():
    pytest.importorskip("grakel")
    result = gvoys("demo")
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


def test_the_demo_without_grakel_says_so(monkeypatch, tmp_path):
    """MUTAG from a folder; GraKeL hidden."""
    pytest.importorskip("grakel")
    import shutil

    from gvoys.cli import demo
    from gvoys.datasets.fetch import find_dataset

    found = find_dataset("MUTAG", None)
    (shutil.copytree if found.is_dir() else shutil.copy)(found, tmp_path / found.name)
    monkeypatch.setattr(demo, "find_spec", lambda name: None)
    result = CliRunner().invoke(app, ["demo", "--root", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert 'GraKeL is not installed, so there is nothing to compare with; pip install "gvoys[peers]"' in " ".join(
        result.output.split()
    )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["demo", "--root", "nowhere"],
            "gvoys: there is neither MUTAG.zip nor MUTAG/ in nowhere; that folder does not exist",
        ),
        (["demo", "--seed", "x"], "Invalid value for '--seed'"),
        (["dmeo"], "No such command 'dmeo'"),
    ],
)
def test_bad_input_is_one_sentence_and_status_2(arguments, sentence):
    result = gvoys(*arguments)
    assert result.returncode == 2
    assert sentence in result.stderr
    assert "Traceback" not in result.stderr
