"""Exact counts of short walks with a sketch of longer ones, beside the sketch alone: variance, time, error bars."""

from dataclasses import replace

import numpy as np
from rich.console import Console
from rich.table import Table

import gvoys as gv
from gvoys.errors import DatasetError
from gvoys.series import Coefficients
from gvoys.walks.profiles import Profiles
from studies.coverage import ego_networks
from studies.timing import measure, show

SEEDS, GRAPHS = 200, 60
WANTED = 10.0  # times better, in variance times time


def run(console: Console) -> None:
    title = "512 components, one thread; errors beside sqrt(K(G, G) K(H, H)); values and cosines covered by 95 % bars"
    table = Table("graphs", "method", "fit", "error", "values", "cosines", "variance x time", title=title)
    for name, batch, max_length, refine, balanced in _collections(console):
        some = batch[np.sort(np.random.default_rng(0).permutation(len(batch))[:GRAPHS])]
        walk = gv.Walk(max_length, refine=refine)
        series = _equal_shares(some, walk) if balanced else gv.RandomWalkKernel(walk=gv.Walk(1)).fit(batch).series_
        exact = gv.RandomWalkKernel(series, walk, "sequences").fit(some).profiles_
        products = []
        for method in ("sketch", "combined"):
            kernel = gv.RandomWalkKernel(series, walk, method, n_jobs=1)
            seconds = measure(lambda k=kernel, b=batch: k.fit(b), repeats=3).seconds
            error, *shares = _errors(kernel, some, exact)
            products.append(error**2 * seconds)
            table.add_row(
                name, method, show(seconds), f"{error:.2g}", *(f"{share:.1%}" for share in shares), _gain(products)
            )
    console.print(table)
    console.print(
        "93 to 97 % wanted; more where rounding, which bars bound, is most of the error: large cliques among ego "
        "networks make for a small default decay, and sketched lengths weigh next to nothing"
    )


def _equal_shares(some: gv.GraphBatch, walk: gv.Walk) -> Coefficients:
    """Weights under which every walk length counts as much."""
    traces = gv.RandomWalkKernel(walk=walk, method="sequences").fit(some).profiles_.diagonals().sum(axis=(0, 2))
    return Coefficients(traces[0] / traces)


def _gain(products: list[float]) -> str:
    """How much less the second is than the first, once it is there."""
    if len(products) < 2:
        return ""
    if products[1] == 0:
        return "none: all sequences are few enough to be counted"
    return f"{products[0] / products[1]:,.0f} times less ({WANTED:.0f} wanted)"


def _errors(kernel: gv.RandomWalkKernel, some: gv.GraphBatch, exact: Profiles) -> tuple[float, float, float]:
    """Root mean square of the error over pairs and seeds; how often +-1.96 standard errors hold values and cosines."""
    pairs, series = np.triu_indices(len(some), 1), kernel.series_
    expected = [exact.compare(series, normalize=normalize)[0][pairs] for normalize in (False, True)]
    sizes = np.sqrt(np.outer(exact.diagonal(series), exact.diagonal(series)))[pairs]
    squares, within = [], []
    for seed in range(SEEDS):
        profiles = replace(kernel.walk_method_, seed=seed).profile(some, kernel.walk_)  # by the lengths of all graphs
        found = [profiles.compare(series, normalize=normalize) for normalize in (False, True)]
        differences = [np.abs(K[pairs] - values) for (K, _), values in zip(found, expected, strict=True)]
        squares.append((differences[0] / sizes) ** 2)
        within.append([each <= 1.96 * error[pairs] for each, (_, error) in zip(differences, found, strict=True)])
    values, cosines = np.mean(within, axis=(0, 2))
    return float(np.sqrt(np.mean(squares))), float(values), float(cosines)


def _collections(console: Console) -> list[tuple[str, gv.GraphBatch, int, int, bool]]:
    """Graphs whose label sequences can be counted, so that the exact kernel is known.

    With the longest walk, the iterations, and whether every length gets the same weight.
    """
    try:
        name, molecules = "NCI1", gv.datasets.load_tu("NCI1")[0]
    except DatasetError as error:
        console.print(f"generated molecules take the place of NCI1: {error}", markup=False)
        name, molecules = "molecules", gv.datasets.molecules(4110, mean_nodes=30)
    refined = (f"{name}, two Weisfeiler–Lehman iterations", molecules, 6, 2, False)
    ego = "ego networks, degree labels"
    return [
        (name, molecules, 8, 0, False),
        refined,
        (ego, ego_networks(50), 6, 0, False),
        (f"{ego}, every length with the same weight", ego_networks(50), 6, 0, True),
    ]
