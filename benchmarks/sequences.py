"""Exact counts of label sequences, and their Gram matrix: non-backtracking walks, Weisfeiler–Lehman iterations."""

import numpy as np
from rich.console import Console
from rich.table import Table

import gvoys as gv
from gvoys.drawing.machine import best_of
from gvoys.errors import DatasetError
from gvoys.threads import threads
from gvoys.walks import Sequences, Walk

LENGTH, ITERATIONS = 6, 3


def run(console: Console) -> None:
    table = Table("graphs", "threads", "counts", "profiles", "Gram matrix", title=_TITLE)
    for name in ("MUTAG", "NCI1"):
        try:
            batch, _ = gv.datasets.load_tu(name)
        except DatasetError as error:
            console.print(f"{name} is skipped: {error}", markup=False)
            continue
        for n_threads in (1, -1):
            table.add_row(name, "1" if n_threads == 1 else "all", *_measured(batch, n_threads))
    console.print(table)


_TITLE = f"Exact label sequences: lengths 0 … {LENGTH}, iterations 0 … {ITERATIONS}, non-backtracking"


def _measured(batch: gv.GraphBatch, n_threads: int) -> list[str]:
    walk = Walk(LENGTH, "node", refine=ITERATIONS, backtrack=False, start="ones", stop="ones")
    with threads(n_threads):
        seconds, profiles = best_of(lambda: Sequences(budget=10**9).profile(batch, walk))
        # of new profiles each time, since the numbers of their columns are kept
        several = iter([Sequences(budget=10**9).profile(batch, walk) for _ in range(5)])
        gram_seconds, _ = best_of(lambda: next(several).gram(np.ones(LENGTH + 1)))
    n_counts = sum(counts.size for lengths in profiles.blocks for counts in lengths)
    return [f"{n_counts:,}", f"{seconds:.3f} s", f"{gram_seconds:.3f} s"]
