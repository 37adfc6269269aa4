"""The command line, as a user meets it."""

import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from gvoys.apps.cli import app


def gvoys(*arguments, **environment):
    import os

    return subprocess.run(
        [sys.executable, "-m", "gvoys", *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "120", **environment},
        check=False,
    )


def test_versions_and_help():
    from gvoys import __version__

    assert CliRunner().invoke(app, ["--version"]).output.strip() == f"gvoys {__version__}"
    done = subprocess.run([sys.executable, "-m", "gvoys", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("gvoys ")
    result = CliRunner().invoke(app, ["--help"])
    assert result.exit_code == 0
    assert "Compare graphs by the walks they share" in result.output
    assert "demo" in result.output


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["demo", "--kernel", "--root", "nowhere"], "gvoys: there is neither MUTAG.zip nor MUTAG/ in nowhere; that"),
        (["demo", "--seed", "x"], "Invalid value for '--seed'"),
        (["embed", "none.smi", "-o", "out.npy"], "there is no file or folder"),
        (["kernel", "none.smi", "-o", "out.npy"], "there is no file or folder"),
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
    assert "2 graphs in 1 part," in done.stdout
    assert f"1 of 3 rows was skipped; {tmp_path / 'out.skipped.csv'} lists them" in done.stdout
    again = gvoys("embed", str(molecules), "-o", str(tmp_path / "out"), *small, "--refine", "1")
    assert again.returncode == 2
    assert "holds a run with other parameters" in again.stderr
    done = gvoys("kernel", str(molecules), "-o", str(tmp_path / "K.npy"), *small, "--normalize")
    assert done.returncode == 0, done.stderr
    assert np.load(tmp_path / "K.npy").shape == (2, 2)
    assert (tmp_path / "K.ids.txt").read_text() == "a\nc\n"


def test_an_output_that_cannot_be_is_one_sentence(molecules, tmp_path):
    (tmp_path / "file").write_text("")
    for out in (tmp_path / "file", tmp_path / "file" / "sub"):
        done = gvoys("embed", str(molecules), "-o", str(out), "--components", "16")
        assert done.returncode == 2
        assert "Traceback" not in done.stderr
    done = gvoys("embed", str(molecules), "-o", str(tmp_path / "out[bold]"), "--components", "16")
    assert done.returncode == 0
    assert "out[bold]" in done.stdout
