"""Exact counts of short walks with a sketch of longer ones, beside the sketch alone: variance, time, error bars."""

import numpy as np
from rich.console import Console
from rich.table import Table

import gvoys as gv
from benchmarks.coverage import ego_networks
from benchmarks.timing import measure, show
from gvoys.errors import DatasetError

SEEDS, GRAPHS = 200, 60
WANTED = 10.0  # times better, in variance times time


def run(console: Console) -> None:
    title = "512 components, one thread; errors beside sqrt(K(G, G) K(H, H))"
    table = Table("graphs", "method", "fit", "error", "covered by 95 % bars", "variance x time", title=title)
    for name, batch, max_length in _collections(console):
        some = batch[np.sort(np.random.default_rng(0).permutation(len(batch))[:GRAPHS])]
        series = gv.RandomWalkKernel(max_length=max_length).fit(batch).series_
        exact = gv.RandomWalkKernel(series, max_length=max_length, method="sequences").fit_transform(some)
        products = []
        for method in ("sketch", "combined"):
            kernel = gv.RandomWalkKernel(series, max_length=max_length, method=method, n_jobs=1)
            seconds = measure(lambda k=kernel, b=batch: k.fit(b), repeats=3).seconds
            error, cover = _errors(kernel, some, exact)
            products.append(error**2 * seconds)
            gain = "" if len(products) == 1 else f"{products[0] / products[1]:,.0f} times less ({WANTED:.0f} wanted)"
            table.add_row(name, method, show(seconds), f"{error:.2g}", f"{cover:.1%}", gain)
    console.print(table)


def _errors(kernel: gv.RandomWalkKernel, some: gv.GraphBatch, exact: np.ndarray) -> tuple[float, float]:
    """Root mean square of the error over pairs and seeds, and how often +-1.96 standard errors hold the exact value."""
    pairs = np.triu_indices(len(exact), 1)
    sizes = np.sqrt(np.outer(exact.diagonal(), exact.diagonal()))[pairs]
    squares, within = [], []
    for seed in range(SEEDS):
        difference = np.abs(kernel.set_params(random_state=seed).fit_transform(some) - exact)[pairs]
        squares.append((difference / sizes) ** 2)
        within.append(difference <= 1.96 * kernel.standard_error_[pairs])
    return float(np.sqrt(np.mean(squares))), float(np.mean(within))


def _collections(console: Console) -> list[tuple[str, gv.GraphBatch, int]]:
    """Graphs whose label sequences can be counted, so that the exact kernel is known."""
    try:
        molecules = ("NCI1", gv.datasets.load_tu("NCI1")[0], 8)
    except DatasetError as error:
        console.print(f"generated molecules take the place of NCI1: {error}", markup=False)
        molecules = ("molecules", gv.datasets.molecules(4110, mean_nodes=30), 8)
    return [molecules, ("ego networks, degree labels", ego_networks(50), 6)]
