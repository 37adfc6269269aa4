"""Results of tasks, one JSON line each, in a file that later runs read and add to."""

import json
from pathlib import Path
from typing import Any

import gvoys as gv
from studies.learning_tasks import Task

Row = dict[str, Any]
# While 0.2.0 was made it still had the number 0.1.1. Of three rows that 0.2.0 computed anew, two differ by less than
# 1e-4 of the error and one not at all, so that hours of computing need not be repeated for a number.
SAME = {"0.2.0": "0.1.1"}


class Results:
    """What is known, by task: a result holds for one version of gvoys and one choice of parameters."""

    def __init__(self, path: Path) -> None:
        self.path = path
        rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
        self._rows: dict[str, Row] = {_key(row): row for row in rows}  # later lines replace earlier ones

    def __contains__(self, task: Task) -> bool:
        return _key(_identity(task)) in self._rows

    def add(self, task: Task, found: Row) -> None:
        """Keep what was found, in the file too."""
        row = _identity(task) | found
        with self.path.open("a") as file:
            file.write(json.dumps(row) + "\n")
        self._rows[_key(row)] = row

    def rows(self, tasks: list[Task]) -> list[Row]:
        """What is known of some tasks, in their order."""
        return [self._rows[_key(_identity(task))] for task in tasks if task in self]


def _identity(task: Task) -> Row:
    method = task.method
    return {
        "version": SAME.get(gv.__version__, gv.__version__),
        "section": task.section,
        "set": task.set,
        "split": str(task.split),
        "method": method.name,
        "parameters": method.parameters,
    }


def _key(row: Row) -> str:
    return json.dumps(
        [row[name] for name in ("version", "section", "set", "split", "method", "parameters")], sort_keys=True
    )
