"""Commands as a user gives them, run in this process."""

import csv

import pytest
from typer.testing import CliRunner

from gvoys.apps.cli import app
from gvoys.apps.cli.messages import in_one_sentence


def run(*words, **more):
    return CliRunner(env={"COLUMNS": "200"}).invoke(app, [str(word) for word in words], **more)


def done(*words, **more):
    """The result of a command that succeeds."""
    result = run(*words, **more)
    assert result.exit_code == 0, (result.output, repr(result.exception))
    return result


def sentence(*words):
    """The one sentence that a command ends with, and its exit status 2."""
    result = run(*words)
    assert result.exception is not None, result.output
    with pytest.raises(SystemExit) as ended, in_one_sentence():
        raise result.exception
    assert ended.value.code == 2
    return str(result.exception)


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))
