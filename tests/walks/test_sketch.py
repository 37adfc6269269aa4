"""The sketch: unbiased for every option, of bounded variance, the same bits however it is computed."""

import hashlib
import subprocess
import sys
from dataclasses import replace
from itertools import combinations

import networkx as nx
import numpy as np
import oracles
import pytest
from pairs import Kind, random_graph

import gvoys as gv
from gvoys import reference
from gvoys._compiled.cpu import sketch_cpu as block
from gvoys.errors import GvoysError
from gvoys.graphs.labels import Labels
from gvoys.threads import threads
from gvoys.walks import Sketch, Walk
from gvoys.walks import sketch as module
from gvoys.walks.sketch import WIDTH

GROUPS = 300
LENGTH = 4
OPTIONS = ("node_labels", "edge_labels", "weighted", "directed", "nonbacktracking", "refine", "ends")
OPTIONS += ("attributes", "edge_attributes")
BANDWIDTH = 0.8


def compute_sketch(batch, max_length, n_components, seed=0, **options):
    walk = Walk(max_length, **options)
    return Sketch(n_components, seed).compute(batch, walk, np.ones(len(batch)))


def group_values(P, i, j):
    """K_0 … K_L of graphs i and j by each group alone, (n_lengths, n_groups)."""
    P = P.reshape(*P.shape[:2], -1, WIDTH)
    return np.einsum("tgk,tgk->tg", P[i].astype(float), P[j].astype(float)) * P.shape[2]


def z_scores(P, i, j, expected):
    """Deviation of the mean over groups in standard errors; rounding of float32 counts as none."""
    values = group_values(P, i, j)
    error = values.std(axis=1, ddof=1) / np.sqrt(values.shape[1])
    return (values.mean(axis=1) - expected) / np.maximum(error, 1e-5 * np.abs(expected) + 1e-12)


def three_graphs(options, seed):
    """Three graphs with the given options, in both forms."""
    rng = np.random.default_rng(seed)
    kind = Kind("directed" in options, "weighted" in options, "node_labels" in options, "edge_labels" in options)
    graphs, dense = [], []
    for n in (5, 7, 8):
        start, stop = (rng.uniform(0.2, 1, n) for _ in range(2)) if "ends" in options else (None, None)
        graph, one = random_graph(rng, n, kind, density=0.35, start=start, stop=stop)
        at_nodes, at_edges = rng.normal(size=(n, 2)), rng.normal(size=(n, n, 1))
        if "attributes" in options:
            graph, one = replace(graph, node_attributes=at_nodes), replace(one, node_attributes=at_nodes / BANDWIDTH)
        if "edge_attributes" in options:
            at_edges = at_edges if kind.directed else at_edges + at_edges.transpose(1, 0, 2)
            graph = replace(graph, edge_attributes=at_edges[graph.rows(), graph.columns()])
            one = replace(one, edge_attributes=at_edges / BANDWIDTH)
        graphs.append(graph)
        dense.append(one)
    return gv.GraphBatch.concatenate(graphs), dense


def truth(options, g, h, round_):
    for _ in range(round_):
        g, h = oracles.refined(g), oracles.refined(h)
    attributed = {"attributes", "edge_attributes"} & set(options)
    compute = reference.kernel_by_product_graph if attributed else reference.kernel_by_vec_trick
    return (oracles.kernel_without_backtracking if "nonbacktracking" in options else compute)(g, h, LENGTH)


ALONE_AND_IN_PAIRS = [(), *[(one,) for one in OPTIONS], *combinations(OPTIONS, 2)]


@pytest.mark.parametrize("options", ALONE_AND_IN_PAIRS, ids="+".join)
def test_unbiased(options):
    """|z| < 5 for every pair, the diagonal included, every length and every Weisfeiler–Lehman iteration."""
    batch, dense = three_graphs(options, seed=len("".join(options)))
    rounds = 2 if "refine" in options else 0
    P = compute_sketch(
        batch,
        LENGTH,
        GROUPS * WIDTH,
        start=np.concatenate([g.start for g in dense]),
        stop=np.concatenate([g.stop for g in dense]),
        labels=Kind(node_labels="node_labels" in options, edge_labels="edge_labels" in options).labels,
        refine=rounds,
        backtrack="nonbacktracking" not in options,
        attribute_bandwidth=BANDWIDTH if "attributes" in options else None,
        edge_attribute_bandwidth=BANDWIDTH if "edge_attributes" in options else None,
    )
    P = P.reshape(3, LENGTH + 1, rounds + 1, GROUPS * WIDTH)
    for round_ in range(rounds + 1):
        for i in range(3):
            for j in range(i, 3):
                expected = truth(options, dense[i], dense[j], round_)
                assert np.abs(z_scores(P[:, :, round_], i, j, expected)).max() < 5


def test_unlabelled_graphs_have_no_noise():
    """One label for all means one orthogonal map for all."""
    batch = gv.datasets.erdos_renyi(3, 30, 0.2)
    P = compute_sketch(batch, 5, WIDTH, labels=None)
    K = np.einsum("itk,jtk->tij", P.astype(float), P.astype(float))
    moments = gv.profiles(batch, gv.Walk(5), method="moments")[:, :, 0]
    np.testing.assert_allclose(K, np.einsum("it,jt->tij", moments, moments), rtol=1e-5)


def labelled_graphs(n_graphs=5):
    rng = np.random.default_rng(7)
    batch = gv.datasets.erdos_renyi(n_graphs, 40, 5 / 39, random_state=1)
    return replace(batch, node_labels=Labels.from_values(rng.integers(0, 4, batch.n_nodes)))


def relative_variance(P):
    """width * Var K_i(G, H) / (K_i(G, G) K_i(H, H)), averaged over pairs G != H, for P (n, lengths, groups, width)."""
    values = np.einsum("itgk,jtgk->ijtg", P, P, dtype=float, optimize=True)
    mean, variance = values.mean(axis=3), values.var(axis=3)
    pairs = [(i, j) for i in range(len(P)) for j in range(i)]
    return P.shape[3] * np.mean([variance[i, j] / (mean[i, i] * mean[j, j]) for i, j in pairs], axis=0)


def sign_chains(batch, max_length, n_components, seed=0):
    """Plain signs in place of shift and signs: Algorithm 1 of the paper with its walks summed out."""
    rng = np.random.default_rng(seed)
    codes, A = batch.node_labels.codes, batch.adjacency()
    uniform = np.repeat(1 / batch.graph_sizes, batch.graph_sizes)[:, None]
    state = uniform * rng.choice([-1.0, 1.0], (4, n_components))[codes]
    out = []
    for _ in range(max_length + 1):
        out.append(np.add.reduceat(uniform * state, batch.node_offsets[:-1], axis=0))
        state = rng.choice([-1.0, 1.0], (4, n_components))[codes] * (A @ state)
    return np.stack(out, axis=1)


def test_variance_stays_bounded_where_plain_signs_explode():
    batch = labelled_graphs()
    P = compute_sketch(batch, 10, 1500 * WIDTH).reshape(len(batch), 11, 1500, WIDTH) * np.sqrt(1500)
    ours = relative_variance(P)
    assert ours[10] <= 6
    signs = sign_chains(batch, 10, 200_000).reshape(len(batch), 11, 200_000, 1)
    assert relative_variance(signs)[10] > 60


def test_error_falls_like_the_root_of_the_width():
    batch = labelled_graphs(4)
    exact = gv.profiles(batch, gv.Walk(5), method="sequences")
    truth_ = (exact[0] * exact[1]).sum(axis=1)[5]
    widths = [WIDTH * 2**k for k in range(6)]
    errors = []
    for width in widths:
        P = [compute_sketch(batch[:2], 5, width, seed=seed)[:, 5].astype(float) for seed in range(200)]
        errors.append(np.sqrt(np.mean([(p[0] @ p[1] - truth_) ** 2 for p in P])))
    slope = np.polyfit(np.log(widths), np.log(errors), 1)[0]
    assert abs(slope + 0.5) < 0.1


HOWS = [
    {},
    {"labels": "both"},
    {"backtrack": False},
    {"refine": 1},
    {"attribute_bandwidth": 1.0},
    {"labels": "both", "backtrack": False, "refine": 1, "attribute_bandwidth": 0.5},
]


def molecules_with_attributes(n=40):
    batch = gv.datasets.molecules(n, mean_nodes=14)
    rng = np.random.default_rng(0)
    at_nodes, at_edges = rng.normal(size=(batch.n_nodes, 2)), np.sin(batch.rows() + batch.columns())[:, None]
    return replace(batch, node_attributes=at_nodes, edge_attributes=at_edges)


@pytest.mark.parametrize("how", HOWS, ids=str)
def test_threads_and_batches_do_not_matter(how):
    batch = molecules_with_attributes()

    def run(part, **more):
        return gv.profiles(part, Walk(**{"max_length": 5, "labels": "node"} | how), "sketch", 2 * WIDTH, **more)

    expected = run(batch, n_jobs=1)
    np.testing.assert_array_equal(run(batch), expected)
    backwards = [run(batch[i])[0] for i in reversed(range(len(batch)))]
    np.testing.assert_array_equal(np.array(backwards)[::-1], expected)


def test_a_new_process_agrees_and_compiles_nothing():
    code = """
import gc, hashlib
import gvoys as gv
from numba.core.dispatcher import Dispatcher
P = gv.profiles(gv.datasets.molecules(5), gv.Walk(3), "sketch", 256)
ours = [d.stats for d in gc.get_objects() if isinstance(d, Dispatcher) and d.py_func.__module__.startswith("gvoys")]
print(hashlib.sha256(P.tobytes()).hexdigest(), sum(sum(stats.cache_misses.values()) for stats in ours))
print(sum(sum(stats.cache_hits.values()) for stats in ours))
"""
    P = gv.profiles(gv.datasets.molecules(5), gv.Walk(3), method="sketch", n_components=256)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    found, compiled, read = run.stdout.split()
    assert found == hashlib.sha256(P.tobytes()).hexdigest()
    assert int(compiled) == 0
    assert int(read) > 0


def test_more_components_begin_with_the_fewer():
    batch = gv.datasets.molecules(5)
    few, many = (gv.profiles(batch, gv.Walk(3), "sketch", n * WIDTH) for n in (2, 4))
    np.testing.assert_allclose(many[:, :, : 2 * WIDTH] * np.sqrt(2), few, rtol=1e-6)


def share_every_graph(patch):
    """Let threads share graphs of any size, and nodes of any degree."""
    for name, value in {"LARGE_GRAPH": 1, "BLOCK_ITEMS": 7, "PIECE_ENTRIES": 3}.items():
        patch.setattr(block, name, value)


@pytest.mark.parametrize(
    ("options", "weighted"),
    [
        ({}, False),
        ({"labels": "both", "refine": 1}, True),
        ({"backtrack": False}, False),
        ({"attribute_bandwidth": 1.0}, False),
        ({"edge_attribute_bandwidth": 1.0}, False),
    ],
    ids=str,
)
def test_every_option_shares_large_graphs_too(monkeypatch, options, weighted):
    batch = molecules_with_attributes(6)
    if weighted:
        batch = replace(batch, edge_weights=np.random.default_rng(1).uniform(0.5, 2, batch.n_entries))
    small = compute_sketch(batch, 4, 64, **options)
    share_every_graph(monkeypatch)
    monkeypatch.setattr(module, "_TABLE_BYTES", 20 * 5 * 50)  # and tables of random bits for a few graphs at a time
    large = compute_sketch(batch, 4, 64, **options)
    np.testing.assert_allclose(large, small, rtol=1e-4, atol=1e-6 * np.abs(small).max())
    with threads(1):
        np.testing.assert_array_equal(compute_sketch(batch, 4, 64, **options), large)


@pytest.mark.parametrize("n_components", [1, 20, 100, 200])
def test_any_width_is_unbiased(n_components):
    batch = gv.datasets.molecules(2, mean_nodes=8)
    exact = gv.profiles(batch, gv.Walk(2), method="sequences")
    P = [gv.profiles(batch, gv.Walk(2), "sketch", n_components, random_state=seed) for seed in range(600)]
    values = [np.einsum("tk,tk->t", *each.astype(float)) for each in P]
    expected = (exact[0] * exact[1]).sum(axis=1)
    z = (np.mean(values, axis=0) - expected) / (np.std(values, axis=0) / np.sqrt(len(values)) + 1e-12)
    assert np.abs(z).max() < 5


def test_scale_changes_no_bit():
    batch = gv.datasets.molecules(5)
    plain, scaled = (gv.profiles(batch, gv.Walk(6), method="sketch", n_components=WIDTH, scale=s) for s in (1.0, 4.0))
    np.testing.assert_array_equal(scaled * (4.0 ** np.arange(7, dtype=np.float32))[:, None], plain)


@pytest.mark.parametrize("backtrack", [True, False])
def test_empty_and_edgeless_graphs(backtrack):
    walk = Walk(3, "node", backtrack=backtrack)
    batch = gv.GraphBatch.from_arrays([], [0, 1, 3], node_labels=["C", "C", "N", "C"])
    P = gv.profiles(batch, walk, "sketch", WIDTH)
    assert not P[0].any()
    assert not P[:, 1:].any()
    assert np.linalg.norm(P[1, 0]) == pytest.approx(1.0)
    empty = gv.GraphBatch.from_arrays([], [0, 0], node_labels=[])
    np.testing.assert_array_equal(gv.profiles(empty, walk, "sketch", WIDTH), np.zeros((2, 4, WIDTH)))


def weighted_path(weights):
    graph = nx.path_graph(len(weights) + 1)
    nx.set_node_attributes(graph, {u: u % 2 for u in graph}, "label")
    nx.set_edge_attributes(graph, {(i, i + 1): weight for i, weight in enumerate(weights)}, "weight")
    return graph


def heavy_multigraph():
    """Parallel edges, a loop and a dead end, beside an edge much heavier than all others."""
    graph = nx.MultiGraph()
    edges = [(0, 1, 1e9), (0, 2, 1.0), (0, 2, 3.0), (0, 3, 0.5), (2, 3, 2.0), (1, 4, 0.25), (3, 3, 1.5)]
    for number, (u, v, weight) in enumerate(edges):
        graph.add_edge(u, v, weight=weight, label=number % 2)
    nx.set_node_attributes(graph, 0, "label")
    return graph


@pytest.mark.parametrize("large", [False, True], ids=["small", "large"])
@pytest.mark.parametrize(
    "graph",
    [weighted_path([0.3, 7.3e7, 0.7, 1.9e-3]), weighted_path([1e8, 1.0, 1e8, 1.0]), heavy_multigraph()],
    ids=["path", "two heavy edges", "parallel edges"],
)
def test_a_heavy_edge_that_is_skipped_takes_no_digits_with_it(monkeypatch, graph, large):
    """Each length's sketch of one label sequence is exact: sums of what is left, never differences."""
    if large:
        share_every_graph(monkeypatch)
    walk = Walk(5, None, backtrack=False, start="ones", stop="ones")
    exact, sketch = (gv.profiles([graph], walk, each, WIDTH, scale=2.0**20)[0] for each in ("sequences", "sketch"))
    np.testing.assert_allclose((sketch.astype(float) ** 2).sum(axis=1), (exact**2).sum(axis=1), rtol=2e-6)


@pytest.mark.parametrize("options", [{}, {"backtrack": False}], ids=str)
@pytest.mark.parametrize("sign", [1, -1])
def test_any_length_past_float32_raises(options, sign):
    graph = nx.DiGraph([(0, 1, {"weight": sign * 1e20}), (1, 2, {"weight": 1e20}), (2, 3, {"weight": 1e20})])
    fine = nx.path_graph(3, nx.DiGraph)
    for each in (graph, fine):
        nx.set_node_attributes(each, {u: u for u in each}, "label")
    with pytest.raises(GvoysError, match="graph 2: its walks of length 2 are too many, or its weights too large"):
        gv.profiles([fine, fine, graph], Walk(6, start="ones", stop="ones", **options), "sketch", WIDTH)
