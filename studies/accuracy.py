"""Whether the default classifier is as accurate as that of an older revision, on the same folds.

python -m studies accuracy [--dataset NAME …] [--seeds 3] [--folds 10]: ten-fold cross-validation of each seed, or
its first folds. The revision of baseline.txt runs in a git worktree beside this checkout.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from studies.against import HERE, CannotRun, environment_of, worktree

DATASETS = ("MUTAG", "PTC_MR", "ENZYMES", "PROTEINS", "NCI1", "DD", "AIDS")


def main(arguments: list[str], console: Console) -> int:
    """1 where a dataset's mean difference is below zero by more than its standard error."""
    parser = argparse.ArgumentParser("python -m studies accuracy", description=__doc__)
    parser.add_argument("--dataset", action="append", choices=DATASETS, help="only this one; may be repeated")
    parser.add_argument("--seeds", type=int, default=3, help="how often all graphs are split anew")
    parser.add_argument("--folds", type=int, default=10, help="how many of the ten folds are tried")
    options = parser.parse_args(arguments)
    version, revision = (HERE / "baseline.txt").read_text().split()
    table, worse = Table("graphs", "folds", version, "now", "difference, ± standard error"), False
    with worktree(revision) as old:
        for name in options.dataset or DATASETS:
            with console.status(f"{name} …"):
                sides = (old / "src", HERE.parent / "src")
                before, now = (_scores(source, name, options.seeds, options.folds) for source in sides)
            difference = now - before
            error = difference.std(ddof=1) / np.sqrt(len(difference))
            worse |= bool(difference.mean() < -error)
            shown = f"{100 * difference.mean():+.2f} ± {100 * error:.2f}"
            table.add_row(name, str(len(now)), f"{100 * before.mean():.2f}", f"{100 * now.mean():.2f}", shown)
    console.print(table)
    return int(worse)


def _scores(source: Path, *arguments: object) -> np.ndarray:
    command = [sys.executable, "-P", "-W", "ignore", str(HERE / "accuracy_runner.py"), *map(str, arguments)]
    done = subprocess.run(command, env=environment_of(source), cwd=source, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CannotRun(f"{source}: {done.stderr.strip().splitlines()[-1]}")
    found = json.loads(done.stdout.splitlines()[-1])
    if not Path(found["file"]).is_relative_to(source.resolve()):
        raise CannotRun(f"Python took gvoys from {found['file']}, not from {source}")
    return np.array(found["scores"])
