"""One contract for every method, device, kind of graph and consumer: all take the same path to the same numbers.

Oracles are in tests/walks, where each method is held against the definition. Here consumers are held against each other
and against `profiles`, or must refuse with the sentence that the method gives. The GPU's rows run where there is one;
tests/gpu holds it against the CPU in a simulator.
"""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from numba import cuda

import gvoys as gv
from gvoys.errors import UnsupportedError
from gvoys.estimators.learning.blocks import WalkBlocks, walks_of
from gvoys.explore.blocks import compute_blocks
from gvoys.scale.cluster import profile_partitions
from gvoys.walks import Walk
from gvoys.walks.methods import METHODS, method_named

RNG = np.random.default_rng(0)
DEVICES = ("cpu", "cuda") if cuda.is_available() else ("cpu",)
LENGTH, WIDTH = 3, 256
SERIES = gv.Exponential(0.3)


def molecules():
    batch = gv.datasets.molecules(10, mean_nodes=8)
    return replace(batch, node_attributes=RNG.normal(size=(batch.n_nodes, 2)))


def odd_graphs():
    """Directed, weighted, with loops, parallel edges, a graph without edges and one without nodes."""
    graphs = [nx.MultiDiGraph(nx.gnp_random_graph(6, 0.4, seed=seed, directed=True)) for seed in range(4)]
    for graph in graphs:
        graph.add_edges_from([(0, 1), (0, 1), (2, 2)])
        nx.set_node_attributes(graph, {node: str(node % 2) for node in graph}, "label")
        nx.set_node_attributes(graph, {node: [float(node), 1.0] for node in graph}, "a")
        for number, (_, _, edge) in enumerate(graph.edges(data=True)):
            edge.update(label=number % 3, weight=float(RNG.uniform(0.2, 1.5)))
    alone = nx.MultiDiGraph()
    alone.add_node(0, label="0", a=[0.0, 1.0])
    return gv.as_batch([*graphs, alone, nx.empty_graph(0, nx.MultiDiGraph)], node_attributes="a")


BATCHES = {"molecules": molecules(), "odd": odd_graphs()}
KINDS = {
    "no labels": {"labels": None},
    "node labels": {"labels": "node"},
    "edge labels": {"labels": "both"},
    "refined": {"refine": 1},
    "no way back": {"backtrack": False},
    "attributes": {"attribute_bandwidth": 1.0},
    "other ends": {"labels": None, "start": "ones", "stop": "uniform"},
}


def supported(method, graphs, options):
    labels = options.get("labels", "auto")
    walk = Walk.on(graphs, LENGTH, labels, **{name: value for name, value in options.items() if name != "labels"})
    return method_named(method, WIDTH).supports(walk, graphs)


each = [
    pytest.param(method, device, graphs, kind, id=f"{method}-{device}-{graphs}-{kind}")
    for method in METHODS
    for device in DEVICES
    for graphs in BATCHES
    for kind in KINDS
    if (method, device) != ("sequences", "cuda")
]
every = pytest.mark.parametrize(("method", "device", "graphs", "kind"), each)


@every
def test_consumers_agree_or_refuse_alike(method, device, graphs, kind):
    batch, options = BATCHES[graphs], KINDS[kind]
    how = {"max_length": LENGTH, "n_components": WIDTH, "method": method, "device": device, **options}
    support = supported(method, batch, options)
    consumers = (
        lambda: gv.profiles(batch, **how),
        lambda: gv.RandomWalkFeatures(SERIES, **how).fit(batch),
        lambda: gv.RandomWalkKernel(SERIES, **how).fit(batch),
    )
    if not support:
        for consumer in consumers:
            with pytest.raises(UnsupportedError) as refused:
                consumer()
            assert str(refused.value) == support.reason
        return
    profiles, features, kernel = (consumer() for consumer in consumers)
    K = gv.compute_gram(profiles, SERIES)
    X = features.transform(batch)
    X = X.toarray() if hasattr(X, "toarray") else X.astype(float)
    np.testing.assert_allclose(X @ X.T, K, rtol=1e-5, atol=1e-6 * K.max())
    found, error = kernel.transform(batch, return_std=True)
    if method == "voyagers":  # by two replicates, so that the diagonal is unbiased too
        assert (np.abs(found - K)[~np.eye(len(K), dtype=bool)] <= 12 * error.max()).all()
    else:
        np.testing.assert_allclose(found, K, rtol=1e-5, atol=1e-6 * K.max())
    # one graph alone
    np.testing.assert_allclose(kernel.transform(batch[1])[0], found[1], rtol=1e-10, atol=1e-13 * K.max())
    # in pieces, as a cluster does it
    if method != "sequences":
        pieces = profile_partitions([lambda: batch[:2], lambda: batch[2:]], features)
        np.testing.assert_array_equal(np.vstack(list(pieces)), features.transform(batch))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("graphs", BATCHES)
def test_auto_takes_a_method_that_can(graphs, kind):
    batch, options = BATCHES[graphs], KINDS[kind]
    kernel = gv.RandomWalkKernel(SERIES, max_length=LENGTH, **options).fit(batch)
    assert supported(str(kernel.method_), batch, options)
    assert kernel.method_.reason


# -- learners and pages are compositions of the same parts

LEARNED = {name: options for name, options in KINDS.items() if name != "attributes"}


@pytest.mark.parametrize("kind", LEARNED)
def test_blocks_of_learners_are_the_kernel_of_each_length(kind):
    batch, options = BATCHES["molecules"], dict(LEARNED[kind])
    labels = options.pop("labels", "node")
    walks = walks_of(batch, LENGTH, labels, **options)
    blocks, made = WalkBlocks.fitted(batch, walks)
    grams = blocks.grams(made)[:-1] * blocks.traces[:, None, None]
    mu = np.tile(SERIES.coefficients(LENGTH), walks[0].n_iterations)
    expected = gv.RandomWalkKernel(SERIES, max_length=LENGTH, method="sequences", **LEARNED[kind]).fit_transform(batch)
    np.testing.assert_allclose(np.tensordot(mu, grams, axes=1), expected, rtol=1e-10)


@pytest.mark.parametrize("labels", [None, "node", "both"])
def test_a_page_has_the_kernel_too(labels):
    batch = BATCHES["molecules"]
    page = compute_blocks(batch, SERIES, LENGTH, labels, 0)
    X = np.hstack(
        [np.sqrt(mu * mean) * each.values for mu, mean, each in zip(page.mu, page.means, page.lengths, strict=True)]
    )
    how = {"max_length": LENGTH, "labels": labels, "start": "uniform", "stop": "uniform"}
    expected = gv.RandomWalkKernel(SERIES, method="sequences", **how).fit_transform(batch)
    np.testing.assert_allclose(X.astype(float) @ X.T.astype(float), expected, rtol=1e-5)


CLASSES = BATCHES["molecules"].graph_sizes > np.median(BATCHES["molecules"].graph_sizes)
LEARNERS = {
    "classifier": lambda **how: gv.RandomWalkClassifier(LENGTH, n_components=128, C=1.0, **how),
    "regressor": lambda **how: gv.RandomWalkRegressor(LENGTH, max_iterations=3, **how),
}


@pytest.mark.parametrize("options", [{}, {"labels": "both"}, {"backtrack": True}, {"refine": 1}], ids=str)
@pytest.mark.parametrize("learner", LEARNERS)
def test_learners_predict_each_graph_alone(learner, options):
    batch = BATCHES["molecules"]
    model = LEARNERS[learner](**options).fit(batch, CLASSES if learner == "classifier" else batch.graph_sizes)
    decide = model.decision_function if learner == "classifier" else model.predict
    together = decide(batch)
    np.testing.assert_allclose([decide(batch[graph])[0] for graph in range(4)], together[:4], rtol=1e-10)
