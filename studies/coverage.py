"""How often value +- 1.96 standard errors holds the exact kernel: pooled over seeds and pairs of graphs."""

from dataclasses import replace

import networkx as nx
import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

import gvoys as gv
from gvoys.graphs.labels import Labels

SERIES, COMPONENTS, SEEDS = gv.Exponential(0.3), (256, 512, 1024), 300


def run(console: Console) -> None:
    table = Table(
        "graphs", "components", "values", "diagonal", "normalised", "bars", title="Coverage of 95 % intervals"
    )
    for name, batch, how in families():
        for n_components in COMPONENTS:
            shares, bar = coverage(batch, n_components, SEEDS, **how)
            table.add_row(name, str(n_components), *(f"{share:.1%}" for share in shares), f"{bar:.1e}")
    console.print(table)
    console.print(
        "93 to 97 % wanted; more where nothing but rounding is random, which the bars bound. bars: median of K's"
    )


def families():
    """Graphs whose label sequences can be counted, so that the exact kernel is known."""
    yield "molecules", gv.datasets.molecules(12, mean_nodes=14), gv.Walk(8)
    yield "ego networks, degree labels", ego_networks(12), gv.Walk()
    yield "unlabelled, non-backtracking", gv.datasets.erdos_renyi(8, 30, 0.15), gv.Walk(8, None, backtrack=False)


def ego_networks(n_graphs: int) -> gv.GraphBatch:
    """A node, its neighbours, and the edges among them; every fourth is a clique, whose nodes all have one degree."""
    network = nx.powerlaw_cluster_graph(300, 3, 0.7, seed=1)
    graphs = [nx.complete_graph(4 + k) if k % 4 == 0 else nx.ego_graph(network, 40 + 5 * k) for k in range(n_graphs)]
    batch = gv.as_batch(graphs)
    return replace(batch, node_labels=Labels.from_values(np.diff(batch.indptr)))


def coverage(batch: gv.GraphBatch, n_components: int, n_seeds: int, walk: gv.Walk) -> tuple[list[float], float]:
    """Shares of values, of diagonal values and of normalised values within their intervals, and the median bar of K."""
    exact = gv.RandomWalkKernel(SERIES, walk, "sequences").fit_transform(batch)
    norms = np.sqrt(exact.diagonal())
    upper, inside, bars = np.triu_indices(len(batch), 1), [[], [], []], []
    for seed in track(range(n_seeds), description=f"{n_components} components", transient=True):
        settings = {"n_components": n_components, "random_state": seed}
        for normalize in (False, True):
            kernel = gv.RandomWalkKernel(SERIES, walk, "sketch", normalize=normalize, **settings)
            error = np.abs(kernel.fit_transform(batch) - (exact / np.outer(norms, norms) if normalize else exact))
            within = error <= 1.96 * kernel.standard_error_
            inside[2 if normalize else 0].append(within[upper].mean())
            if not normalize:
                inside[1].append(within.diagonal().mean())
                bars.append(np.median(kernel.standard_error_ / np.outer(norms, norms)))
    return [float(np.mean(shares)) for shares in inside], float(np.median(bars))
