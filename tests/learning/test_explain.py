"""Explanations that add up, and that are what walks one by one say."""

import itertools
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import spelling
from scipy import stats

import gvoys as gv
from gvoys.kernels.base_kernels import KERNELS
from gvoys.walks import Sketch

LENGTH = 3
BATCH = gv.datasets.molecules(60, mean_nodes=9, random_state=4)
Y = np.where(BATCH.graph_sizes > np.median(BATCH.graph_sizes), "large", "small")


def fitted(kernel="linear", refine=0, backtrack=True, **options):
    how = {"kernel": kernel, "refine": refine, "backtrack": backtrack, "method": "sequences", "C": 1.0}
    return spelling.classifier(LENGTH, **(how | options)).fit(BATCH[:40], Y[:40])


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"refine": 2},
        {"backtrack": False},
        {"refine": 1, "backtrack": False, "labels": "both"},
        {"labels": None, "structure": "core", "attribute_bandwidth": None},
    ],
    ids=str,
)
def test_shares_add_up_to_the_decision(kernel, options):
    model = fitted(kernel, **options)
    assert model.explain(BATCH[:0]) == []
    found = model.explain(BATCH)  # fitted graphs among them, from which they are at no distance
    if not options:
        nothing = gv.GraphBatch.from_arrays([], [0], node_labels=[])
        assert found[0].baseline == pytest.approx(model.decision_function(nothing)[0], rel=1e-9)
    decisions = model.decision_function(BATCH)
    for each, decision in zip(found, decisions, strict=True):
        gain = each.decision - each.baseline
        assert each.decision == pytest.approx(decision, rel=1e-9, abs=1e-12)
        assert each.nodes.sum() == pytest.approx(gain, rel=1e-9, abs=1e-9)
        assert each.lengths.sum() == pytest.approx(gain, rel=1e-9, abs=1e-9)
        assert each.edge_shares.sum() == pytest.approx(each.lengths[:, 1:].sum(), rel=1e-9, abs=1e-9)
        assert each.of == model.classes_[1]


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
    ts, step = (np.arange(150) + 0.5) / 150, 1e-5
    for key in x:
        part = np.hstack([block[0] if own == key else 0 * block[0] for own, block in x.items()])
        slopes = [(decide(t * whole + step * part) - decide(t * whole - step * part)) / (2 * step) for t in ts]
        assert found.lengths[key] == pytest.approx(np.mean(slopes), rel=1e-4, abs=1e-6)


PROTEINS = gv.datasets.molecules(60, mean_nodes=14, random_state=5)
ATTRIBUTED = replace(PROTEINS, node_attributes=np.random.default_rng(0).normal(size=(PROTEINS.n_nodes, 2)))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(
    "options",
    [
        {"method": "sketch", "n_components": 256},
        {"method": "sketch", "n_components": 192, "backtrack": False, "refine": 1},
        {"method": "sketch", "labels": "both"},
        {"method": "auto", "n_components": 8, "backtrack": True, "refine": 1},  # some lengths are counted
        {"attribute_bandwidth": 1.0},
        {"max_exact": 10},
    ],
    ids=str,
)
def test_shares_add_up_whatever_the_profiles_are(kernel, options):
    y = np.where(ATTRIBUTED.graph_sizes > np.median(ATTRIBUTED.graph_sizes), "large", "small")
    model = spelling.classifier(LENGTH, kernel=kernel, C=1.0, **options).fit(ATTRIBUTED[:40], y[:40])
    found = model.explain(ATTRIBUTED)
    for each, decision in zip(found, model.decision_function(ATTRIBUTED), strict=True):
        gain = each.decision - each.baseline
        assert each.decision == pytest.approx(decision, rel=1e-8, abs=1e-8)
        assert each.nodes.sum() == pytest.approx(gain, abs=1e-6)
        assert each.lengths.sum() == pytest.approx(gain, abs=1e-6)
        assert each.edge_shares.sum() == pytest.approx(each.lengths[:, 1:].sum(), abs=1e-6)


def test_errors_are_those_of_sketches():
    """Zero where walks are counted; else the truth is within them, for a decision that is linear in the sketch."""
    y = np.where(BATCH.graph_sizes > np.median(BATCH.graph_sizes), 1, 0)
    exact = spelling.classifier(LENGTH, kernel="linear", refine=0, C=1.0, method="sequences").fit(BATCH, y)
    assert not any(each.node_errors.any() for each in exact.explain(BATCH))
    truth = np.concatenate([each.nodes for each in exact.explain(BATCH)])
    squares, differences, errors = exact.engine_.fitted._squares(), [], []
    for seed in range(40):
        sketched = replace(exact.profiler_, method=Sketch(1024, seed), sketch=Sketch(1024, seed))
        new = exact.balance_.of(sketched.profile(BATCH))
        # norms of the exact counts, so that shares are products of sketches, and their mean is the truth
        object.__setattr__(new, "_squares", lambda: squares)
        explainer = replace(exact._explainer(), profiler=sketched, fitted=new)
        found = explainer.explain(BATCH, new, np.ones(len(BATCH), int), 0)
        differences.append(np.concatenate([each.nodes for each in found]) - truth)
        errors.append(np.concatenate([each.node_errors for each in found]))
    z = np.mean(differences, axis=0) / (np.std(differences, axis=0, ddof=1) / np.sqrt(len(differences)))
    assert np.abs(z).max() < 5
    variances = np.mean(np.square(errors), axis=0) / np.var(differences, axis=0, ddof=1)
    assert 0.9 < np.exp(np.mean(np.log(variances))) < 1.1
    inside = np.mean(np.abs(np.divide(differences, errors)) < stats.t(7).ppf(0.975))  # eight groups of 128 components
    assert 0.93 < inside < 0.97


@pytest.mark.parametrize("backtrack", [True, False])
def test_a_named_walk_is_one_of_the_graph_and_spells_its_sequence(backtrack):
    model = fitted(backtrack=backtrack, refine=1)
    for bare, each in zip(model.explain(BATCH, n_sequences=0), model.explain(BATCH, n_sequences=1000), strict=True):
        assert bare.sequences == []
        np.testing.assert_array_equal(bare.nodes, each.nodes)
        shares = [own.share for own in each.sequences]
        assert sum(shares) == pytest.approx(each.decision - each.baseline, rel=1e-6)
        assert shares == sorted(shares, key=abs, reverse=True)
    for graph, each in zip(BATCH[45:50].to_networkx(), model.explain(BATCH[45:50], n_sequences=50), strict=True):
        for own in each.sequences:
            labels = [str(graph.nodes[node]["label"]) for node in own.nodes]
            if own.iteration and len(own.nodes) == 1:
                labels[0] += "".join(sorted(f"(–{graph.nodes[v]['label']})" for v in graph[own.nodes[0]])[:6])
            assert own.spelled.removesuffix("…") in ("–".join(labels), "–".join(labels[::-1]))
            assert all(graph.has_edge(*step) for step in itertools.pairwise(own.nodes))
            assert backtrack or all(a != b for a, b in zip(own.nodes, own.nodes[2:], strict=False))
            if own.iteration == 0:
                walks = [spelled(graph, walk) for walk in walks_of(graph, len(labels) - 1, backtrack)]
                wanted = spelled(graph, own.nodes)
                alike = Counter(walks)[wanted] + (Counter(walks)[wanted[::-1]] if wanted != wanted[::-1] else 0)
                assert own.count == pytest.approx(alike)


def test_parallel_edges_loops_and_directions():
    odd = gv.GraphBatch([0, 3], [0, 2, 6, 8], np.array([1, 1, 0, 0, 1, 2, 1, 2], np.int32), False)
    labels = gv.graphs.labels.Labels.from_values(BATCH.node_labels.decode()[:3])
    weights = np.array([1.0, 3.0, 1.0, 3.0, 0.5, 2.0, 2.0, 0.5])
    odd = replace(odd, node_labels=labels, edge_weights=weights)
    for backtrack in (True, False):
        each = fitted(backtrack=backtrack).explain(odd)[0]
        assert each.edges.tolist() == [[0, 1], [0, 1], [1, 1], [1, 2], [2, 2]]
        assert each.edge_shares.sum() == pytest.approx(each.lengths[:, 1:].sum(), rel=1e-9)


def test_the_class_can_be_chosen():
    y = np.array(["a", "b", "c"])[np.digitize(BATCH.graph_sizes, [8, 11])]
    several = spelling.classifier(LENGTH, method="sequences", refine=1).fit(BATCH, y)
    for each, name in zip(several.explain(BATCH), several.predict(BATCH), strict=True):
        assert each.of == name
        assert each.nodes.sum() == pytest.approx(each.decision - each.baseline, rel=1e-9, abs=1e-9)
    model = fitted()
    for_large, for_small = (model.explain(BATCH[45], of=name)[0] for name in ("large", "small"))
    assert for_large.of == "large"
    assert for_large.decision == pytest.approx(-for_small.decision)
    np.testing.assert_allclose(for_large.nodes, -for_small.nodes, rtol=1e-9)
    with pytest.raises(gv.errors.ParameterError, match="of='medium' is none of the classes"):
        model.explain(BATCH, of="medium")


def test_deletion_is_predicting_again():
    for model in (fitted("gaussian", refine=1), spelling.classifier(LENGTH, max_exact=10).fit(BATCH[:40], Y[:40])):
        some = BATCH[44:48]
        found = model.explain_by_deletion(some)
        for own, graph, decision in zip(found, some.to_networkx(), model.decision_function(some), strict=True):
            for node in graph:
                less = graph.copy()
                less.remove_node(node)
                without = model.decision_function(gv.as_batch([less]))[0]
                assert own[node] == pytest.approx(decision - without, rel=1e-7, abs=1e-9)


def test_several_columns_of_classes_are_told_apart_by_models_of_their_own():
    model = spelling.classifier(LENGTH).fit(BATCH, np.column_stack([Y, Y]))
    with pytest.raises(gv.errors.UnsupportedError, match="fit one for each column"):
        model.explain(BATCH[:1])
