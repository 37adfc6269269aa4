"""Explanations that add up, and that are what walks one by one say."""

import itertools
from collections import Counter

import numpy as np
import pytest

import gvoys as gv
from gvoys.estimators.learning.base_kernels import KERNELS

LENGTH = 3
BATCH = gv.datasets.molecules(60, mean_nodes=9, random_state=4)
Y = np.where(BATCH.graph_sizes > np.median(BATCH.graph_sizes), "large", "small")


def fitted(kernel="linear", refine=0, backtrack=True, **options):
    how = {"kernel": kernel, "refine": refine, "backtrack": backtrack, "method": "sequences", "C": 1.0}
    return gv.RandomWalkClassifier(LENGTH, **(how | options)).fit(BATCH[:40], Y[:40])


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"refine": 2},
        {"backtrack": False},
        {"refine": 1, "backtrack": False, "labels": "both"},
        {"labels": "core", "attribute_bandwidth": None},
    ],
    ids=str,
)
def test_shares_add_up_to_the_decision(kernel, options):
    model = fitted(kernel, **options)
    found = model.explain(BATCH)  # fitted graphs among them, from which they are at no distance
    decisions = model.decision_function(BATCH)
    for each, decision in zip(found, decisions, strict=True):
        gain = each.decision - each.baseline
        assert each.decision == pytest.approx(decision, rel=1e-9, abs=1e-12)
        assert each.nodes.sum() == pytest.approx(gain, rel=1e-9, abs=1e-9)
        assert each.lengths.sum() == pytest.approx(gain, rel=1e-9, abs=1e-9)
        assert each.edge_shares.sum() == pytest.approx(each.lengths[:, 1:].sum(), rel=1e-9, abs=1e-9)
        assert each.of == model.classes_[1]


def test_the_baseline_is_the_decision_on_nothing():
    for kernel in KERNELS:
        model = fitted(kernel)
        nothing = gv.GraphBatch.from_arrays([], [0], node_labels=[])
        assert model.explain(BATCH[:1])[0].baseline == pytest.approx(model.decision_function(nothing)[0], rel=1e-9)


def test_several_classes_and_weights():
    y = np.array(["a", "b", "c"])[np.digitize(BATCH.graph_sizes, [8, 11])]
    model = gv.RandomWalkClassifier(LENGTH, method="sequences", refine=1).fit(BATCH, y)
    for each, name in zip(model.explain(BATCH), model.predict(BATCH), strict=True):
        assert each.of == name
        assert each.nodes.sum() == pytest.approx(each.decision - each.baseline, rel=1e-9, abs=1e-9)


# -- by the definition


def walks_of(graph, length, backtrack):
    walks = [(u,) for u in graph]
    for _ in range(length):
        walks = [(*walk, v) for walk in walks for v in graph[walk[-1]] if backtrack or len(walk) < 2 or walk[-2] != v]
    return walks


def spelled(graph, walk):
    return tuple(graph.nodes[u]["label"] for u in walk)


@pytest.mark.parametrize("backtrack", [True, False])
def test_shares_are_those_of_walks_counted_one_by_one(backtrack):
    model = fitted(backtrack=backtrack)
    graphs = BATCH.to_networkx()
    vectors, balance = model.engine_.machines[0].vectors, model.balance_
    roots = np.sqrt(np.sqrt(model.engine_.fitted._squares()))
    known = [
        [Counter(spelled(graph, walk) for walk in walks_of(graph, length, backtrack)) for length in range(LENGTH + 1)]
        for graph in graphs[:40]
    ]
    for place in (41, 50, 59):
        graph, found = graphs[place], model.explain(BATCH[place])[0]
        own = np.sqrt(np.sqrt(model._balanced(BATCH[place])._squares()))[0]
        nodes, edges = np.zeros(len(graph)), Counter()
        for length in range(LENGTH + 1):
            for walk in walks_of(graph, length, backtrack):
                sequence = spelled(graph, walk)
                value = sum(
                    -weight * known[j][length][sequence] / roots[j]
                    for j, weight in zip(vectors.places, vectors.weights[0], strict=True)
                )
                value *= balance.lengths[length] / own / model.kernel_.unit**2
                np.add.at(nodes, list(walk), value / (length + 1))
                for u, v in itertools.pairwise(walk):
                    edges[min(u, v), max(u, v)] += value / length
        np.testing.assert_allclose(found.nodes, nodes, rtol=1e-9, atol=1e-12)
        wanted = [edges[tuple(edge)] for edge in found.edges.tolist()]
        np.testing.assert_allclose(found.edge_shares, wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kernel", ["matern12", "matern32", "gaussian"])
def test_lengths_are_integrated_gradients(kernel):
    """By differences along the ray, of the features of one length at a time."""
    model = fitted(kernel, refine=1)
    new, fit = model._balanced(BATCH[45]), model.engine_.fitted
    mu = [np.sqrt(model.balance_.lengths)] * 2

    def features(graphs, like):
        blocks = {}
        for r in range(2):
            for length in range(LENGTH + 1):
                block = graphs.profiles.labels._block_like(
                    r, length, mu[r][length] * np.ldexp(1.0, length * graphs.profiles.labels.exponents), like
                )
                blocks[r, length] = block.toarray() / np.sqrt(np.sqrt(graphs._squares()))[:, None]
        return blocks

    both = gv.walks.SparseProfiles.joined(fit.profiles.labels, [new.profiles.labels])  # so that no sequence is lost
    xs, x = features(fit, both), features(new, both)
    vectors, unit = model.engine_.machines[0].vectors, model.kernel_.unit
    X = np.hstack(list(xs.values()))
    of = {"matern12": lambda r: np.exp(-r), "gaussian": lambda r: np.exp(-(r**2) / 2)} | {
        "matern32": lambda r: (1 + np.sqrt(3) * r) * np.exp(-np.sqrt(3) * r)
    }

    def decide(point):
        distances = np.sqrt(((X[vectors.places] - point) ** 2).sum(axis=1)) / unit
        return -(of[kernel](distances) @ vectors.weights[0]) - vectors.intercepts[0]

    found = model.explain(BATCH[45])[0]
    whole = np.hstack(list(x.values()))[0]
    assert decide(whole) == pytest.approx(found.decision, rel=1e-9)
    ts, step = (np.arange(400) + 0.5) / 400, 1e-5
    for key in x:
        part = np.hstack([block[0] if own == key else 0 * block[0] for own, block in x.items()])
        slopes = [(decide(t * whole + step * part) - decide(t * whole - step * part)) / (2 * step) for t in ts]
        assert found.lengths[key] == pytest.approx(np.mean(slopes), rel=1e-4, abs=1e-6)


# -- what cannot be done


@pytest.mark.parametrize(
    ("options", "message"),
    [({"method": "sketch"}, "method='sequences'"), ({"max_exact": 10, "n_landmarks": 10}, "max_exact")],
)
def test_what_is_not_there_is_said(options, message):
    model = gv.RandomWalkClassifier(LENGTH, **options).fit(BATCH[:40], Y[:40])
    with pytest.raises(gv.errors.UnsupportedError, match=message):
        model.explain(BATCH[:1])


def test_no_graphs_have_no_explanations():
    assert fitted().explain(BATCH[:0]) == []


def test_threads_and_company_change_nothing():
    model = fitted("matern12", refine=1)
    together = model.explain(BATCH[40:])
    for place in (0, 7):
        alone = model.set_params(n_jobs=1).explain(BATCH[40 + place])[0]
        np.testing.assert_allclose(alone.nodes, together[place].nodes, rtol=1e-9, atol=1e-12)
