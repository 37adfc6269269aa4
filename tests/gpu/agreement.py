"""The GPU against the CPU, option by option. On a machine with a GPU: python tests/gpu/agreement.py [--without-cupy]

`tests/gpu/test_gpu.py` runs a small version in numba's simulator, where there is no GPU.
"""

import argparse
import sys
from dataclasses import replace
from datetime import date
from unittest.mock import patch

import networkx as nx
import numpy as np

import gvoys as gv
from gvoys.walks import Moments, SampledWalks, Sketch, Walk
from gvoys.walks.sampled import WalkConfig, compute_voyagers
from gvoys.walks.walk import FIELDS

EXACT = {"start": "ones", "stop": "ones"}  # integers, and scaled by a power of two where components are 4^k
OPTIONS = {
    "node labels": {},
    "no labels": {"labels": None, "backtrack": False},
    "edge labels": {"labels": "edge"},
    "both": {"labels": "both"},
    "no way back": {"backtrack": False},
    "refined": {"refine": 1},
    "all at once": {"labels": "both", "backtrack": False, "refine": 1},
}
ATTRIBUTES = {
    "attributes": {"attribute_bandwidth": 1.5},
    "attributes, edges": {"attribute_bandwidth": 1.5, "labels": "both"},
    "attributes, no way back": {"attribute_bandwidth": 1.5, "backtrack": False},
}
SAMPLED = {"node labels": {}, "no labels": {"labels": None}, "edge labels": {"labels": "both"}}


def graphs(n_graphs, n_nodes):
    """Kinds of batches: molecules, and directed, weighted graphs with loops, isolated nodes and one without nodes."""
    rng = np.random.default_rng(0)
    molecules = gv.datasets.molecules(max(n_graphs, 20), mean_nodes=n_nodes)
    molecules = molecules[np.flatnonzero(molecules.graph_sizes > 2)][:n_graphs]
    attributes = rng.normal(size=(molecules.n_nodes, 2))
    yield "molecules", replace(molecules, node_attributes=attributes)
    odd = [nx.gnp_random_graph(max(n_nodes, 4), 0.3, seed=k, directed=True) for k in range(max(n_graphs // 2, 1))]
    for g in odd:
        g.add_edge(0, 0)
        g.add_node("alone")
        nx.set_node_attributes(g, {u: str(len(str(u)) % 3) for u in g}, "label")
        nx.set_node_attributes(g, {u: [float(i), 1.0] for i, u in enumerate(g)}, "a")
        for u, v in g.edges:
            g.edges[u, v].update(label=len(str(u) + str(v)) % 3, weight=float(rng.uniform(-2, 2)))
    yield "odd", gv.as_batch([*odd, nx.empty_graph(0, nx.DiGraph)], node_attributes="a")


def difference(batch, method, max_length, **options):
    """The largest difference beside the largest number, and whether all bits are the same."""
    walk = Walk(max_length, **{name: options.pop(name) for name in FIELDS if name in options})
    here, there = (gv.profiles(batch, walk, method, device=device, **options) for device in ("cpu", "cuda"))
    assert here.shape == there.shape
    assert here.dtype == there.dtype
    return float(np.abs(here - there).max() / max(np.abs(here).max(), 1e-300)), bool(np.array_equal(here, there))


def compare(n_graphs, n_nodes, max_length, small, on_progress=print):
    """Every option on every kind of graph; returns what failed. `small` is for the simulator, which takes its time."""
    failed = []

    def note(name, found, exact=False):
        good = found[1] if exact else found[0] <= 1e-5
        on_progress(f"{'ok ' if good else 'BAD'} {name}: {found[0]:.1e}{', same bits' if found[1] else ''}")
        failed.extend([] if good else [name])

    for kind, batch in graphs(n_graphs, n_nodes):
        note(f"{kind}, moments", difference(batch, "moments", max_length))
        for name, options in OPTIONS.items():
            if small and kind == "odd" and name not in ("node labels", "all at once"):
                continue
            for width in (128 if name == "node labels" else 6,) if small else (256, 40):
                found = difference(batch, "sketch", max_length, n_components=width, **options)
                note(f"{kind}, sketch of {width}, {name}", found)
            if kind == "molecules":
                whole = 256 if name == "node labels" or not small else 16
                integers = difference(batch, "sketch", min(max_length, 4), n_components=whole, **EXACT, **options)
                note(f"{kind}, integers, {name}", integers, exact=True)
        for name, options in ATTRIBUTES.items():
            note(
                f"{kind}, sketch, {name}",
                difference(batch, "sketch", max_length, n_components=8 if small else 96, **options),
            )
        for name, options in SAMPLED.items():
            found = difference(batch, "voyagers", max_length, n_components=2 if small else 50, **options)
            note(f"{kind}, one-sided walks, {name}", found)
        note(f"{kind}, one-sided walks, two starts", few_starts(batch, max_length))
        note(f"{kind}, Algorithm 1", (algorithm_1(batch), False))
        note(f"{kind}, GraphVoyagers", estimator(batch, gv.GraphVoyagers, n_components=2, n_anchors=2))
        note(f"{kind}, OneSidedVoyagers", estimator(batch, gv.OneSidedVoyagers, n_components=2, p_halt=0.3))
        note(f"{kind}, left on the device", left_on_device(batch, max_length))
        note(f"{kind}, cut to fit", cut_to_fit(batch, max_length))
    note("a heavy edge that is skipped", (heavy_edge_skipped(), False))
    hub = (12, 4) if small else (2000, 22)
    for name, (method, options) in HUBS.items():
        note(f"a hub beside a path, {name}", hub_beside_a_path(method, *hub, **options), exact=True)
    return failed


def heavy_edge_skipped():
    """The largest relative difference over lengths of non-backtracking walks beside an edge of 7.3e7."""
    graph = nx.path_graph(5)
    weights = dict(zip(graph.edges, (0.3, 7.3e7, 0.7, 1.9e-3), strict=True))
    nx.set_edge_attributes(graph, weights, "weight")
    walk = Walk(4, None, backtrack=False, **EXACT)
    here = (gv.profiles([graph], walk, "sequences", scale=2.0**20) ** 2).sum(axis=2)
    there = (gv.profiles([graph], walk, "sketch", 16, device="cuda", scale=2.0**20).astype(float) ** 2).sum(axis=2)
    return float(np.abs(there / here - 1.0).max())


def cut_to_fit(batch, max_length):
    """As if the device had no room for more than a graph."""
    from gvoys._compiled.cuda import sketch_cuda as sketch

    with patch.multiple(sketch, OUTPUT_BYTES=1, STATE_BYTES=1):
        return difference(batch[:2], "sketch", max_length, n_components=130)


def hub_beside_a_path(method, n_leaves, length, **options):
    """Whether a 6-path beside a hub has the same bits as alone: each graph has a power of two of its own."""
    path = nx.path_graph(6)
    graphs = gv.as_batch([nx.star_graph(n_leaves), path])
    walk = Walk(length, None, **options)
    made = [method.profile(some, walk).values for some in (graphs, gv.as_batch([path]))]
    assert all(np.isfinite(each).all() for each in made)
    off = np.abs(made[0][1] - made[1][0]).max() / np.abs(made[1][0]).max()
    return float(off), bool(np.array_equal(made[0][1], made[1][0]))


HUBS = {
    "moments": (Moments("cuda"), {}),
    "sketch": (Sketch(128, device="cuda"), {}),
    "sketch of 6": (Sketch(6, device="cuda"), {}),
    "sketch, no way back": (Sketch(6, device="cuda"), {"backtrack": False}),
    "one-sided walks": (SampledWalks(2, device="cuda"), {}),
}


def few_starts(batch, max_length):
    """As if graphs of three nodes were large."""
    from gvoys.walks import sampled as voyagers

    with patch.object(voyagers, "_N_STARTS", 2):
        return difference(batch, "voyagers", max_length, n_components=3)


def left_on_device(batch, max_length):
    """Features that stay on the device, copied to the host."""
    from gvoys._compiled.cuda.device import to_host
    from gvoys.gpu import sketch_on_device

    here = gv.profiles(batch, gv.Walk(max_length), method="sketch", n_components=128, scale=2.0)
    there = to_host(sketch_on_device(batch, walk=Walk(max_length), n_components=128, scale=2.0))
    return float(np.abs(here - there).max() / np.abs(here).max()), bool(np.array_equal(here, there))


def algorithm_1(batch):
    """Algorithm 1 with halting, anchors and shared signs in turn."""
    ends = np.ones(batch.n_nodes) / 7.0
    walk = Walk(5, "both", start=ends, stop=ends)
    scales = 2.0 ** (1 + np.arange(len(batch)) % 3)
    worst = 0.0
    for config in (
        WalkConfig(3),
        WalkConfig(2, n_walks=2, share_signs=True, share_halting=False, signs="gaussian"),
        WalkConfig(2, n_walks=2, n_anchors=3, signs=None),
    ):
        arguments = (batch, walk, scales, config, 0.5 ** np.arange(6.0))
        here, there = (compute_voyagers(*arguments, device=device) for device in ("cpu", "cuda"))
        worst = max(worst, float(np.abs(here - there).max() / max(np.abs(here).max(), 1e-300)))
    return worst


def estimator(batch, kind, **options):
    """The features of an estimator by sampled walks on both devices."""
    made = kind(gv.Geometric(1e-5), **options)
    here, there = (made.set_params(device=device).fit_transform(batch) for device in ("cpu", "cuda"))
    return float(np.abs(here - there).max() / np.abs(here).max()), bool(np.array_equal(here, there))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--small", action="store_true", help="for the simulator")
    parser.add_argument("--without-cupy", action="store_true", help="as if CuPy were not installed: numba-cuda alone")
    options = parser.parse_args()
    small = options.small
    if options.without_cupy:
        sys.modules["cupy"] = None
    if not small:
        from numba import cuda

        print(f"{cuda.get_current_device().name}, {date.today()}, gvoys {gv.__version__}, CPU against GPU")
    sys.exit(bool(compare(1, 3, 2, small) if small else compare(300, 30, 6, small) + compare(3, 300, 6, small)))
