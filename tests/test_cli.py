"""The command line, as a user meets it."""

import subprocess
import sys
from importlib import import_module

import numpy as np
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


def test_python_m_gvoys():
    done = subprocess.run([sys.executable, "-m", "gvoys", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("gvoys ")


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

    from gvoys.io.fetch import find_dataset

    demo = import_module("gvoys.cli.demo")  # the command has the module's name
    found = find_dataset("MUTAG", None)
    (shutil.copytree if found.is_dir() else shutil.copy)(found, tmp_path / found.name)
    monkeypatch.setattr(demo, "find_spec", lambda name: None)
    result = CliRunner().invoke(app, ["demo", "--root", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert (
        'GraKeL is not installed, so there is nothing to compare with; install it with pip install "gvoys[peers]".'
        in " ".join(result.output.split())
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


# -- embed and kernel


@pytest.fixture
def molecules(tmp_path):
    pytest.importorskip("rdkit")
    pytest.importorskip("pyarrow")
    (tmp_path / "a.csv").write_text("name,smiles\na,CCO\nb,C1CC\nc,c1ccccc1\n")
    return tmp_path / "a.csv"


def test_embed_and_kernel(molecules, tmp_path):
    small = ["--components", "16", "--id-column", "name"]
    done = gvoys("embed", str(molecules), "-o", str(tmp_path / "out"), *small)
    assert done.returncode == 0, done.stderr
    assert "2 graphs in 1 parts" in done.stdout
    assert f"1 of 3 rows was skipped; {tmp_path / 'out.skipped.csv'} lists them" in done.stdout
    again = gvoys("embed", str(molecules), "-o", str(tmp_path / "out"), *small, "--refine", "1")
    assert again.returncode == 2
    assert "holds a run with other parameters" in again.stderr
    done = gvoys("kernel", str(molecules), "-o", str(tmp_path / "K.npy"), *small, "--normalize")
    assert done.returncode == 0, done.stderr
    assert np.load(tmp_path / "K.npy").shape == (2, 2)
    assert (tmp_path / "K.ids.txt").read_text() == "a\nc\n"


def test_embed_by_workers(molecules, tmp_path):
    pytest.importorskip("distributed")
    for folder, where in (("here", []), ("there", ["--workers", "2"])):
        done = gvoys("embed", str(molecules), "-o", str(tmp_path / folder), "--components", "16", *where)
        assert done.returncode == 0, done.stderr
    for file in (tmp_path / "here").iterdir():
        assert (tmp_path / "there" / file.name).read_bytes() == file.read_bytes()


@pytest.mark.parametrize("command", ["embed", "kernel"])
def test_bad_input_is_one_sentence(command, tmp_path):
    done = gvoys(command, str(tmp_path / "none.smi"), "-o", str(tmp_path / "out.npy"))
    assert done.returncode == 2
    assert "there is no file or folder" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_output_that_cannot_be_is_one_sentence(molecules, tmp_path):
    (tmp_path / "file").write_text("")
    for out in (tmp_path / "file", tmp_path / "file" / "sub"):
        done = gvoys("embed", str(molecules), "-o", str(out), "--components", "16")
        assert done.returncode == 2
        assert "Traceback" not in done.stderr
    done = gvoys("embed", str(molecules), "-o", str(tmp_path / "out[bold]"), "--components", "16")
    assert done.returncode == 0
    assert "out[bold]" in done.stdout
