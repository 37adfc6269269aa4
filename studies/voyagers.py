"""Sampled walks: the paper's speed experiments (its appendix C.2), and which way to pick at equal time.

Settings of the paper: Erdős–Rényi graphs with p = 0.1, decay 1 / d_max^2, uniform start and stop, 100 walks per node,
p_halt = 0.2; CG to a tolerance of 1e-6.
"""

import warnings

import numpy as np
from rich.console import Console
from rich.table import Table

import gvoys as gv
from gvoys.graphs.spectrum import max_degree, spectral_radius
from studies.memory import peak_memory
from studies.timing import measure, show

WALKS = 100
P_HALT = 0.2
LONGEST = 10  # steps; exact counts of label sequences still fit
N_GRAPHS = 10
N_PAIRS = N_GRAPHS * (N_GRAPHS + 1) // 2


def run(console: Console) -> None:
    _one_pair(console)
    _linear(console)
    _largest(console, _against_cg(console))
    _errors(console)
    _which_way(console)
    _without_labels(console)


def _voyagers(batch: gv.GraphBatch, **how: object) -> gv.GraphVoyagers:
    series = gv.Geometric(1.0 / max_degree(batch) ** 2)
    return gv.GraphVoyagers(series, **{"n_components": WALKS, "p_halt": P_HALT} | how)


def _one_pair(console: Console) -> None:
    pair = gv.datasets.erdos_renyi(2, 1024, 0.1, connected=True)
    steps = 2 * 1024 * 2 * WALKS * (1 / P_HALT)
    for n_components, n_walks in ((WALKS, 1), (10, 10), (1, WALKS)):
        estimator = _voyagers(pair, n_components=n_components, n_walks=n_walks).set_params(n_jobs=1)
        whole = measure(lambda one=estimator: one.fit_transform(pair))
        memory, _ = peak_memory(lambda one=estimator: one.fit_transform(pair))
        console.print(
            f"one pair of 1024 nodes, {n_components} blocks of {n_walks} walks, one core: fit and transform {whole} "
            f"(0.1 s wanted), {steps / whole.seconds:.2g} steps a second, {memory / 1e6:.1f} MB beyond the graphs"
        )
    console.print()


def _linear(console: Console) -> None:
    table = Table("N", "transform, one core", "ns per walker", title="Two random graphs of mean degree 8, 100 walks")
    sizes, seconds = [2**k for k in range(10, 18)], []
    for n in sizes:
        with console.status(f"N = {n} …"):
            pair = gv.datasets.erdos_renyi(2, n, 8 / (n - 1))
            estimator = _voyagers(pair).set_params(n_jobs=1).fit(pair)
            timing = measure(lambda one=estimator, pair=pair: one.transform(pair), repeats=3)
        seconds.append(timing.seconds)
        table.add_row(f"{n:,}", str(timing), f"{timing.seconds / (2 * n * 2 * WALKS) * 1e9:.0f}")
    console.print(table)
    console.print(f"grows like N^{np.polyfit(np.log(sizes), np.log(seconds), 1)[0]:.2f} (1.0 +- 0.1 wanted)\n")


def _against_cg(console: Console) -> float:
    """Returns the seconds of CG on the largest pair, 2^12 nodes."""
    table = Table("N", "voyagers", "CG", "ratio", "CG / ten graphs' 55 pairs", "off", title="One pair, p = 0.1")
    ratios = []
    for exponent in (10, 11, 12):
        with console.status(f"N = 2^{exponent} …"):
            pair = gv.datasets.erdos_renyi(2, 2**exponent, 0.1, connected=True)
            estimator = _voyagers(pair)
            ours = measure(lambda one=estimator, pair=pair: one.fit_transform(pair), repeats=3)
            cg = measure(
                lambda one=estimator, pair=pair: gv.exact_kernel(
                    pair[0], pair[1], one.series, solver="cg", tol=1e-6, max_iterations=150_000
                ),
                repeats=1,
                warm=False,
            )
        ratios.append(cg.seconds / ours.seconds)
        # ten graphs take five times as long as two, their pairs 55 times as long as one
        many = cg.seconds * N_PAIRS / (ours.seconds * N_GRAPHS / 2)
        values = ours.result[0] * ours.result[1] * WALKS
        off = (values.mean() - cg.result) / (values.std() / np.sqrt(WALKS))
        table.add_row(
            f"2^{exponent}", str(ours), show(cg.seconds), f"{ratios[-1]:,.0f}x", f"{many:,.0f}x", f"{off:+.1f} s.e."
        )
    console.print(table)
    grows = "grows" if np.all(np.diff(ratios) > 0) else "DOES NOT GROW"
    console.print(f"the ratio {grows} with N (the paper: 8 times at 2^14)\n")
    return cg.seconds


def _largest(console: Console, cg_seconds: float) -> None:
    n = 2**14
    with console.status(f"N = {n} …"):
        batch = gv.datasets.erdos_renyi(N_GRAPHS, n, 0.1, connected=True)
        estimator = _voyagers(batch)
        memory, seconds = peak_memory(lambda: estimator.fit_transform(batch))
    console.print(
        f"ten graphs of 2^14 nodes, {batch.n_entries:,} entries ({batch.nbytes / 2**30:.1f} GiB): fit and transform "
        f"{show(seconds)}, {memory / 2**20:.0f} MiB beyond the graphs"
    )
    per_pair = 64 * cg_seconds  # dense products of n^2 p x n numbers: 4^3 times those of 2^12 nodes
    console.print(
        f"CG: out of time, about {per_pair / 60:.0f} minutes for a pair, {per_pair * N_PAIRS / 3600:.0f} hours for 55 "
        f"(64 times those of 2^12 nodes), with vectors of {8 * n * n / 2**30:.0f} GiB each\n"
    )


def _errors(console: Console) -> None:
    """What the paper's number of walks leaves open, by how many components they are spread over."""
    table = Table(
        "N", *(f"{WALKS // m} components of {m} walks" for m in (1, 10, WALKS)), title="Mean |estimate / K - 1|"
    )
    for exponent in (8, 10, 12):
        with console.status(f"N = 2^{exponent} …"):
            batch = gv.datasets.erdos_renyi(N_GRAPHS, 2**exponent, 0.1, connected=True)
            series = gv.Geometric(1.0 / max_degree(batch) ** 2)
            K = gv.RandomWalkKernel(series, gv.Walk(None, labels=None)).fit_transform(batch)
            cells = []
            for n_walks in (1, 10, WALKS):
                found = []
                for seed in range(12):
                    model = _voyagers(batch, n_components=WALKS // n_walks, n_walks=n_walks, random_state=seed)
                    X = model.fit_transform(batch).astype(float)
                    found.append(np.abs(X @ X.T / K - 1)[np.triu_indices(N_GRAPHS, 1)].mean())
                cells.append(f"{np.mean(found):.0%}")
        table.add_row(f"2^{exponent}", *cells)
    console.print(table)
    console.print("ten graphs, p = 0.1, 45 pairs, 12 seeds\n")


def _without_labels(console: Console) -> None:
    """Whether one-sided walks should halt where no label can differ."""
    table = Table("20 graphs", "series", "fixed length", "halting", "ratio", title="One-sided walks without labels")
    kinds = {
        "molecules": gv.datasets.molecules(20, random_state=1),
        "Erdős–Rényi, 200 nodes, p = 0.1": gv.datasets.erdos_renyi(20, 200, 0.1, connected=True),
        "regular, 100 nodes, degree 4": gv.datasets.regular(20, 100, 4),
    }
    for name, batch in kinds.items():
        radius, degree = float(spectral_radius(batch).max()), max_degree(batch)
        for which, series in (("short", gv.Geometric(1 / degree**2)), ("long", gv.Geometric(0.9 / radius**2))):
            K = gv.RandomWalkKernel(series, gv.Walk(LONGEST, labels=None)).fit_transform(batch)
            with console.status(name):
                fixed, halting = (
                    _rms(
                        gv.OneSidedVoyagers(series, gv.Walk(LONGEST, labels=None), n_components=128, p_halt=p), batch, K
                    )
                    for p in (None, P_HALT)
                )
            ratio = f"{halting / fixed:,.0f}x" if fixed > 1e-12 else "exact"  # every walk has the same weight
            table.add_row(name, which, f"{fixed:.2g}", f"{halting:.2g}", ratio)
    console.print(table)


# -- variance x time on labelled molecules


def _which_way(console: Console) -> None:
    batch = gv.datasets.molecules(200, random_state=1)
    radius = float(spectral_radius(batch).max())
    for name, series in (("short", gv.Geometric("auto")), ("long", gv.Geometric(0.9 / radius**2))):
        exact = gv.RandomWalkKernel(series, gv.Walk(LONGEST), method="sequences")
        K = exact.fit_transform(batch)
        table = Table(
            "way",
            "components",
            "time",
            "rms error",
            "time for 1 %, all 200",
            "beside the sketch",
            title=f"200 labelled molecules, {name} walks ({exact.series_}, up to length {LONGEST}), equal time",
        )
        best = None
        for label, estimator in _ways(series).items():
            with console.status(label), warnings.catch_warnings(record=True) as caught:
                timing, error = _error(estimator, batch, K)
            label += ", infinite variance" if caught else ""
            cost = timing.seconds * (error / 0.01) ** 2
            best = best or cost
            table.add_row(
                label,
                f"{estimator.n_components:,}",
                str(timing),
                f"{error:.2%}",
                show(cost),
                f"{cost / best:,.1f}x",
            )
        console.print(table)
    console.print("error: rms over pairs G != H of the difference over sqrt(K(G, G) K(H, H))\n")


def _ways(series: gv.Geometric) -> dict[str, object]:
    """Widths chosen so that each takes about the same time."""
    return {
        "sketch": gv.RandomWalkFeatures(series, gv.Walk(LONGEST), method="sketch", n_components=2048),
        "one-sided, fixed length": gv.OneSidedVoyagers(series, gv.Walk(LONGEST), n_components=64),
        "one-sided, halting": gv.OneSidedVoyagers(series, gv.Walk(LONGEST), n_components=128, p_halt=P_HALT),
        "Algorithm 1": gv.GraphVoyagers(series, 64, p_halt=P_HALT),
    }


def _error(estimator: object, batch: gv.GraphBatch, K: np.ndarray) -> tuple:
    timing = measure(lambda: estimator.fit(batch).transform(batch), repeats=3)
    return timing, _rms(estimator, batch, K)


def _rms(estimator: object, batch: gv.GraphBatch, K: np.ndarray) -> float:
    """Over eight seeds and all pairs G != H, relative to sqrt(K(G, G) K(H, H))."""
    off = ~np.eye(len(batch), dtype=bool)
    size = np.sqrt(np.outer(K.diagonal(), K.diagonal()))
    errors = []
    for seed in range(8):
        X = estimator.set_params(random_state=seed).fit_transform(batch).astype(float)
        errors.append((((X @ X.T - K) / size)[off] ** 2).mean())
    return float(np.sqrt(np.mean(errors)))
