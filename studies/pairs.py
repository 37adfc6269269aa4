"""Pairs of large dense graphs, row-normalised: the infinite series beside a profile of its length, and sampled values.

Beside them the Monte Carlo random walk kernel (MCRWK) where GVOYS_MCRWK names a clone of its repository, on the same
graphs and in the same run: root mean square errors over seeds, and variance times time.
"""

import importlib.util
import os
from pathlib import Path
from time import perf_counter

import numpy as np
from rich.console import Console
from rich.table import Table

import gvoys as gv
from studies.timing import measure, show

SIZES, DENSITY, DECAY = (1024, 4096, 16_384), 0.1, 0.5
RTOL, SEEDS, WALKS = 0.1, 20, 1000


def run(console: Console) -> None:
    infinite = Table("nodes", "entries", "length", "a profile of it", "infinite series", "ratio", title="2 wanted")
    sampled = Table("nodes", "", "time", "RMSE", "bars cover", "variance x time", title=f"a value to {RTOL:.0%}")
    for n in SIZES:
        batch = gv.datasets.erdos_renyi(2, n, DENSITY).normalized("row")
        _infinite(infinite, batch)
        _sampled(sampled, batch)
    console.print(infinite)
    console.print(sampled)


def _infinite(table: Table, batch: gv.GraphBatch) -> None:
    series = gv.Geometric(DECAY)
    length = gv.RandomWalkKernel(series, gv.Walk(None)).fit(batch).max_length_
    known = measure(lambda: gv.RandomWalkKernel(series, gv.Walk(length)).fit_transform(_fresh(batch)))
    found = measure(lambda: gv.RandomWalkKernel(series, gv.Walk(None)).fit_transform(_fresh(batch)))
    ratio = found.seconds / known.seconds
    table.add_row(
        f"{batch.n_nodes // 2:,}", f"{batch.n_entries:,}", str(length), str(known), str(found), f"{ratio:.2f}"
    )


def _fresh(batch: gv.GraphBatch) -> gv.GraphBatch:
    """The same graphs, of which nothing is known from before."""
    return batch[:]


def _ends(n: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Half-normal weights, without which every walk of a row-normalised graph counts the same."""
    rng = np.random.default_rng(0)
    weights = [np.abs(rng.normal(size=n)) for _ in range(4)]
    weights = [each / each.sum() for each in weights]
    return {"start": tuple(weights[:2]), "stop": tuple(weights[2:])}


def _sampled(table: Table, batch: gv.GraphBatch) -> None:
    n, series = batch.n_nodes // 2, gv.Geometric(DECAY)
    ends, pair = _ends(n), (batch[0], batch[1])
    joined = {name: np.concatenate(both) for name, both in ends.items()}
    truth = gv.RandomWalkKernel(series, gv.Walk(None, **joined)).fit_transform(batch)[0, 1]

    def ours(seed: int) -> gv.estimators.Estimate:
        return gv.estimate(*pair, series, gv.Walk(None, **ends), rtol=RTOL, random_state=seed)

    _row(table, n, "gvoys.estimate", ours, truth)
    theirs = _mcrwk(pair, ends)
    if theirs is not None:
        _row(table, n, f"MCRWK, {WALKS} walks", theirs, truth)


def _row(table: Table, n: int, name: str, work, truth: float) -> None:
    work(0)
    begin = perf_counter()
    found = [work(seed) for seed in range(1, SEEDS + 1)]
    seconds = (perf_counter() - begin) / SEEDS
    values = np.array([getattr(each, "value", each) for each in found])
    error = float(np.sqrt(np.mean((values / truth - 1) ** 2)))
    bars = np.array([getattr(each, "stderr", np.nan) for each in found])
    covered = "no bars" if np.isnan(bars).all() else f"{np.mean(np.abs(values - truth) <= 1.96 * bars):.0%}"
    table.add_row(f"{n:,}", name, show(seconds), f"{error:.2%}", covered, f"{error**2 * seconds:.2e}")


def _mcrwk(pair, ends):
    """The peer's value as a function of the seed, or None where there is no clone of it."""
    folder = os.environ.get("GVOYS_MCRWK")
    if not folder:
        return None
    spec = importlib.util.spec_from_file_location("mcrwk", Path(folder) / "src" / "mcrwk.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    dense = [graph.adjacency().toarray() for graph in pair]
    dense = [each / each.sum(axis=1, keepdims=True) for each in dense]  # to the bit that its sampler wants
    return lambda seed: module.random_walk_kernel_mc(
        *dense, *ends["start"], *ends["stop"], lambda k: DECAY**k, "geom", n_samples=WALKS, seed=seed
    )
