"""Whether this checkout computes what an older revision does: python -m studies golden [--write FILE | --read FILE]

A change of structure must leave profiles, Gram matrices and files the same to the bit, or to rounding where sums may
run in another order, and the regressor with the same predictions. The revision of baseline.txt runs in a git worktree
beside this checkout, or its results are read from a file that --write made on the same machine.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from studies.against import HERE, CannotRun, environment_of, worktree

ABOUT = ("file", "version")
NUMBERS = 1e-9  # relative: what BLAS may change of means and deviations
SINGLE = 1e-5  # relative: what the order of sums changes in single precision


def results_of(source: Path) -> dict[str, Any]:
    """What the runner finds under the gvoys of one source folder."""
    command = [sys.executable, "-P", "-W", "ignore", str(HERE / "golden_runner.py")]
    done = subprocess.run(command, env=environment_of(source), cwd=source, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CannotRun(f"{source}: {done.stderr.strip().splitlines()[-1]}")
    found: dict[str, Any] = json.loads(done.stdout)
    if not Path(found["file"]).is_relative_to(source.resolve()):
        raise CannotRun(f"Python took gvoys from {found['file']}, not from {source}")
    return found


def differences(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """A line for every result that is not the same."""
    names = [name for name in old if name not in ABOUT]
    return [f"{name}: {why}" for name in names if (why := _difference(old[name], new.get(name)))]


def _difference(old: Any, new: Any) -> str:
    if new is None:
        return "is not there any more"
    if not isinstance(old, dict) or not isinstance(new, dict):
        return "" if old == new else f"{old} before, {new} now"
    for what, values in old.items():
        before, now = np.array(values, float), np.array(new[what], float)
        atol = (SINGLE if what.startswith("single") else NUMBERS) * float(np.abs(before).max(initial=0.0))
        if before.shape != now.shape or not np.allclose(before, now, rtol=0.0, atol=atol, equal_nan=True):
            return f"{what} differ" + (f" by {np.abs(before - now).max():.2g}" if before.shape == now.shape else "")
    return ""


def main(arguments: list[str], console: Console) -> int:
    """1 where a result differs."""
    parser = argparse.ArgumentParser("python -m studies golden", description=__doc__)
    parser.add_argument("--write", type=Path, metavar="FILE", help="keep this checkout's results there and stop")
    parser.add_argument("--read", type=Path, metavar="FILE", help="compare with results kept there")
    options = parser.parse_args(arguments)
    with console.status("this checkout …"):
        new = results_of(HERE.parent / "src")
    if options.write:
        options.write.write_text(json.dumps(new, indent=1) + "\n")
        console.print(f"{len(new) - len(ABOUT)} results: {options.write}")
        return 0
    old = json.loads(options.read.read_text()) if options.read else _baseline(console)
    found = differences(old, new)
    for line in found:
        console.print(line, markup=False, soft_wrap=True)
    console.print(f"{len(found)} of {len(old) - len(ABOUT)} results differ from those of {old['version']}")
    return 1 if found else 0


def _baseline(console: Console) -> dict[str, Any]:
    _, revision = (HERE / "baseline.txt").read_text().split()
    with worktree(revision) as old, console.status(f"{revision[:7]} …"):
        return results_of(old / "src")
