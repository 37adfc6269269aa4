"""Ten Erdős–Rényi graphs, p = 0.1, of 2^10 … 2^13 nodes: moments against conjugate gradients and fixed point.

Settings of the paper (appendix C.2): decay 1 / d_max^2, uniform start and stop, tolerance 1e-6. A baseline is timed on
one pair and multiplied by the 55 pairs of ten graphs; where even that is too long, one product with the adjacency
matrices is timed and multiplied by the number of iterations, which is known beforehand for the fixed point.

The share that walks of over 50 steps have in the kernel grows with N, as decay * rho^2 nears one, and stays below
1e-6; all sizes walk 50 steps, so that the times compare.
"""

import numpy as np
from rich.console import Console
from rich.table import Table

import gvoys as gv
from gvoys.exact import exact_kernel
from gvoys.graphs.spectrum import max_degree, spectral_radius
from gvoys.graphs.transform import compute_endpoint
from studies.timing import measure, show

N_GRAPHS = 10
N_PAIRS = N_GRAPHS * (N_GRAPHS + 1) // 2
TOLERANCE = 1e-6
MAX_LENGTH = 50
PATIENCE = 120.0  # seconds for one pair


def run(console: Console) -> None:
    table = Table(
        "N",
        "entries",
        "moments + Gram",
        "ns/entry/pass",
        "CG, 55 pairs",
        "fixed point, 55 pairs",
        "difference",
        title="Ten connected Erdős–Rényi graphs, p = 0.1: all 55 kernel values",
    )
    entries, seconds = [], []
    for exponent in range(10, 14):
        with console.status(f"N = 2^{exponent} …"):
            row = _one_size(2**exponent)
        entries.append(row["entries"])
        seconds.append(row["seconds"])
        table.add_row(*row["cells"])
    console.print(table)
    slope = np.polyfit(np.log(entries), np.log(seconds), 1)[0]
    console.print("* one pair, times 55    ** one iteration, times the iterations needed, times 55")
    console.print(f"moments grow like entries^{slope:.2f} (1 or less wanted)\n")


def _one_size(n_nodes: int) -> dict:
    batch = gv.datasets.erdos_renyi(N_GRAPHS, n_nodes, 0.1, connected=True)
    series = gv.Geometric(1.0 / max_degree(batch) ** 2)
    left_out = series.relative_tail(MAX_LENGTH, float(spectral_radius(batch, 1e-3).max()) ** 2)
    if left_out > TOLERANCE:
        raise RuntimeError(f"{MAX_LENGTH} steps leave out {left_out:.1e}; raise MAX_LENGTH")
    scale = 2.0 ** np.round(np.log2(max_degree(batch)))

    def gram() -> np.ndarray:
        return gv.compute_gram(gv.profiles(batch, gv.Walk(MAX_LENGTH), "moments", scale=scale), series, scale=scale)

    ours = measure(gram, repeats=3)
    passes = (MAX_LENGTH + 1) // 2
    how = {"tol": TOLERANCE, "max_iterations": 150_000}
    g, h = batch[0], batch[1]
    cg = measure(lambda: exact_kernel(g, h, series, solver="cg", **how), repeats=1, warm=False)
    fixed, mark = _fixed_point(g, h, series, how, cg.seconds / (cg.result.iterations + 2))
    difference = abs(ours.result[0, 1] / cg.result - 1)
    return {
        "entries": batch.n_entries,
        "seconds": ours.seconds,
        "cells": [
            str(n_nodes),
            f"{batch.n_entries:,}",
            str(ours),
            f"{ours.seconds / passes / batch.n_entries * 1e9:.2f}",
            f"{show(cg.seconds * N_PAIRS)}* = {cg.seconds * N_PAIRS / ours.seconds:,.0f}x",
            f"{show(fixed * N_PAIRS)}{mark} = {fixed * N_PAIRS / ours.seconds:,.0f}x",
            f"{difference:.0e}",
        ],
    }


def _fixed_point(
    g: gv.GraphBatch, h: gv.GraphBatch, series: gv.Geometric, how: dict, product: float
) -> tuple[float, str]:
    iterations = _iterations(g, h, series)
    if iterations * product > PATIENCE:
        return iterations * product, "**"
    timing = measure(lambda: exact_kernel(g, h, series, solver="fixed-point", **how), repeats=1, warm=False)
    return timing.seconds, "*"


def _iterations(g: gv.GraphBatch, h: gv.GraphBatch, series: gv.Geometric) -> int:
    """How many iterations bring decay^k |A^k w| |B^k w| below the tolerance, by the moments of even length."""
    squares = [_norms(graph, series) for graph in (g, h)]
    residuals = np.sqrt(squares[0] * squares[1] / (squares[0][0] * squares[1][0]))
    return int(np.argmax(residuals <= TOLERANCE))


def _norms(graph: gv.GraphBatch, series: gv.Geometric, longest: int = 300) -> np.ndarray:
    start = compute_endpoint(graph, "uniform", "start")
    walk = gv.Walk(2 * longest, start=start, stop=start)
    return gv.profiles(graph, walk, "moments", scale=series.rate**-0.5)[0, ::2, 0]
