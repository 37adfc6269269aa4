"""This checkout beside an older revision, in one run: python -m studies against [--at-most 1.05] [--json FILE]

Times of two days on two machines say little. Here the old revision lies in a git worktree, both run in turns on this
machine, and the old one runs against itself as well: what that ratio is off 1 is noise.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from gvoys.drawing.page import describe_machine
from gvoys.io.fetch import data_folder
from studies.against_runner import ROWS
from studies.timing import show

HERE = Path(__file__).parent
SIDES = ("old", "new", "control")  # control: the old revision once more, in a process of its own
MIN_ROUNDS, MAX_ROUNDS = 5, 15
ROUND, BUDGET = 0.2, 12.0  # seconds: of one side in a round at least, and of a row beyond MIN_ROUNDS


class CannotRun(Exception):
    """A side that cannot run a row, and why."""


@dataclass(frozen=True)
class Comparison:
    """Seconds of one row by side, round by round; or why there are none."""

    row: str
    seconds: dict[str, list[float]] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    def ratios(self, side: str) -> np.ndarray:
        """Of a side over the old one, round by round."""
        return np.array(self.seconds[side]) / np.array(self.seconds["old"])

    @property
    def noise(self) -> float:
        """The largest of: how far the control's median is off 1, and half the quartile distance of either ratio."""
        low, high = np.quantile([self.ratios("new"), self.ratios("control")], (0.25, 0.75), axis=1)
        return float(max(abs(np.median(self.ratios("control")) - 1), ((high - low) / 2).max()))

    def exceeds(self, at_most: float) -> bool:
        """Whether new code is slower than allowed by more than the noise, or cannot run what old code can."""
        if self.failed:
            return "new" in self.failed and "old" not in self.failed
        return float(np.median(self.ratios("new"))) - self.noise > at_most

    def cells(self) -> list[str]:
        if self.failed:
            return [self.row, "; ".join(f"{side} cannot run it: {why}" for side, why in self.failed.items()), *"   "]
        times = [show(float(np.median(self.seconds[side]))) for side in ("old", "new")]
        return [self.row, *times, *(_spread(self.ratios(side)) for side in ("new", "control"))]


def _spread(ratios: np.ndarray) -> str:
    return f"{np.median(ratios):.2f} ({ratios.min():.2f} to {ratios.max():.2f})"


def compare(row: str, start: Mapping[str, Callable[[], "Side"]]) -> Comparison:
    """Warm every side up, then time them in turns; each round begins with another side."""
    with ExitStack() as stack:
        sides, failed = {}, {}
        for name in SIDES:
            if name == "control" and failed:
                break
            try:
                sides[name] = stack.enter_context(start[name]())
            except CannotRun as error:
                failed[name] = str(error)
        if failed:
            return Comparison(row, failed=failed)
        once = sides["old"].warm_seconds
        repeats = int(np.clip(ROUND / once, 1, 50))
        rounds = int(np.clip(BUDGET / (len(SIDES) * repeats * once), MIN_ROUNDS, MAX_ROUNDS))
        seconds: dict[str, list[float]] = {name: [] for name in SIDES}
        for turn in range(rounds):
            for name in np.roll(SIDES, turn).tolist():
                try:
                    seconds[name].append(sides[name].time(repeats))
                except CannotRun as error:
                    return Comparison(row, failed={name: str(error)})
    return Comparison(row, seconds)


def environment_of(source: Path) -> dict[str, str]:
    """Environment in which Python takes gvoys from `source`, and any version of it finds the TU datasets."""
    return os.environ | {"PYTHONPATH": str(source), "GVOYS_DATA": str(data_folder("tu"))}


class Side:
    """One row under the gvoys of one source folder, warmed up, in a process of its own."""

    def __init__(self, row: str, source: Path) -> None:
        environment = environment_of(source)
        command = [sys.executable, "-P", str(HERE / "against_runner.py"), row]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(command, env=environment, cwd=source, text=True, **pipes)
        try:
            answer = self._answer()
            self.warm_seconds = answer["seconds"]
            if not Path(answer["file"]).is_relative_to(source.resolve()):
                raise CannotRun(f"Python took gvoys from {answer['file']}, not from {source}")
        except BaseException:  # Ctrl-C too
            self.__exit__()
            raise

    def _answer(self) -> dict:
        line = self.process.stdout.readline()
        answer = json.loads(line) if line else {"error": f"its process ended with status {self.process.wait()}"}
        if "error" in answer:
            raise CannotRun(answer["error"])
        return answer

    def time(self, repeats: int) -> float:
        print(repeats, file=self.process.stdin, flush=True)
        return self._answer()["seconds"]

    def __enter__(self) -> "Side":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()


@contextmanager
def worktree(revision: str) -> Iterator[Path]:
    """A revision of this repository in a folder of its own, which goes away again."""
    git = ["git", "-C", str(HERE.parent), "worktree"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder).resolve() / "old"
        done = subprocess.run([*git, "add", "--detach", str(path), revision], capture_output=True, text=True)
        if done.returncode:
            raise CannotRun(f"git has no worktree of {revision}: {done.stderr.strip().splitlines()[-1]}")
        try:
            yield path
        finally:
            subprocess.run([*git, "remove", "--force", str(path)], capture_output=True, check=True)


def main(arguments: list[str], console: Console) -> int:
    """Compare row by row; 1 where a row exceeds what was asked for."""
    parser = argparse.ArgumentParser("python -m studies against", description=__doc__)
    parser.add_argument("--at-most", type=float, metavar="RATIO", help="exit with 1 where new / old is above")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep all times there, with the machine")
    parser.add_argument("--row", action="append", choices=list(ROWS), help="only this row; may be repeated")
    options = parser.parse_args(arguments)
    version, revision = (HERE / "baseline.txt").read_text().split()
    found = []
    with worktree(revision) as old:
        sources = {"old": old / "src", "new": HERE.parent / "src", "control": old / "src"}
        for row in options.row or ROWS:
            with console.status(f"{row} …"):
                starts = {name: lambda row=row, name=name: Side(row, sources[name]) for name in SIDES}
                found.append(compare(row, starts))
    title = f"this checkout against {version} ({revision[:7]}): medians, and ratios from the least to the largest"
    table = Table("row", "old", "new", "new / old", "control, old / old", title=title)
    slower = [each for each in found if options.at_most is not None and each.exceeds(options.at_most)]
    for each in found:
        table.add_row(*each.cells(), style="red" if each in slower else None)
    console.print(table)
    for each in slower:
        console.print(f"{each.row}: not at most {options.at_most:g} times the old time, beyond the noise")
    if options.json:
        kept = {"baseline": [version, revision], "machine": describe_machine(), "rows": [asdict(one) for one in found]}
        options.json.write_text(json.dumps(kept, indent=1) + "\n")
    return 1 if slower else 0
