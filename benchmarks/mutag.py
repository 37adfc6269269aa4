"""The unlabelled Gram matrix of MUTAG, beside GraKeL."""

import numpy as np
from rich.console import Console
from rich.table import Table

import gvoys as gv
from benchmarks.timing import measure, show
from gvoys.cli.demo import exact_gram, grakel_gram
from gvoys.errors import DatasetError

DECAY = 1 / 16  # 1 / d_max^2


def run(console: Console) -> None:
    try:
        batch, _ = gv.datasets.load_tu("MUTAG")
    except DatasetError as error:
        console.print(f"MUTAG is skipped: {error}")
        return
    ours = measure(lambda: exact_gram(batch, gv.Geometric(DECAY)), repeats=50)
    control = measure(lambda: exact_gram(batch, gv.Geometric(DECAY)), repeats=50)
    theirs = measure(lambda: grakel_gram(batch, DECAY), repeats=2, warm=False)
    error = np.abs(ours.result / theirs.result - 1).max()
    table = Table("", "features + Gram", "GraKeL takes", title="MUTAG, geometric kernel without labels, decay 1/d_max²")
    table.add_row(
        "gvoys, exact moments", str(ours), f"{theirs.seconds / ours.seconds:,.0f} times as long (1000 wanted)"
    )
    table.add_row("the same again (control)", str(control), f"{theirs.seconds / control.seconds:,.0f} times as long")
    table.add_row("GraKeL, RandomWalk fast", show(theirs.seconds), "")
    console.print(table)
    console.print(f"largest relative difference between the two: {error:.1e}\n")
