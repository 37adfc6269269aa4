"""docs/newcomer.md, command by command, on smaller tables of the same kind."""

import doctest
import re

import pytest
from typer.testing import CliRunner

pytest.importorskip("rdkit")
pytest.importorskip("pyarrow")
pytest.importorskip("matplotlib")
pytest.importorskip("pandas")

from studies.newcomer import PAGE, transcript, write_tables

from gvoys.apps.cli import app

_NUMBER = re.compile(r"-?\d[\d,]*(\.\d+)?(e-?\d+)?")


def shape(line):
    """A line without its numbers and the widths of tables, up to where the page leaves out the rest."""
    line = re.sub(r"[─━┏┳┓┡╇┩└┴┘│┃]+", " ", line.split("…")[0])
    line = re.sub("ahead of|behind", "beside", re.sub("may be noise|more than noise", "noise", line))
    return " ".join(_NUMBER.sub("#", line).split())


def run(words, folder):
    if words[0] == "head":
        return (folder / words[2]).read_text().splitlines()[: -int(words[1])]
    assert words[0] == "gvoys"
    done = CliRunner(env={"COLUMNS": "140"}).invoke(app, words[1:])
    assert done.exit_code == 0, done.output
    return done.output.splitlines()


def test_the_transcript(tmp_path, monkeypatch):
    write_tables(tmp_path, 120)
    monkeypatch.chdir(tmp_path)
    for words, shown in transcript(PAGE):
        said = [shape(line) for line in run(words, tmp_path)]
        for line in filter(None, map(shape, shown)):
            assert any(line in each for each in said), (words, line, said)
            said = said[next(k for k, each in enumerate(said) if line in each) :]
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner()
    test = parser.get_doctest(PAGE.read_text(encoding="utf-8"), {}, "newcomer", str(PAGE), 0)
    assert len(test.examples) == 4
    assert runner.run(test).failed == 0
    assert (tmp_path / "predictions.png").stat().st_size > 1000
    assert (tmp_path / "results" / "measured" / "report.html").stat().st_size > 10_000
