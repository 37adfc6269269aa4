"""Graphs that have neither labels nor attributes: structure tells them apart."""

from dataclasses import replace

import numpy as np
import pytest

import gvoys as gv
from gvoys.walks.closed_walks import return_probabilities

HALF = 16


def block_models(n_graphs=120, seed=0):
    """Two groups of nodes or none, with the same mean degree."""
    within, between = 0.40, 0.06
    apart = gv.datasets.stochastic_block(
        n_graphs // 2, [HALF, HALF], [[within, between], [between, within]], random_state=seed
    )
    mean = (within * (HALF - 1) + between * HALF) / (2 * HALF - 1)
    alike = gv.datasets.erdos_renyi(n_graphs // 2, 2 * HALF, mean, random_state=seed + 1)
    y = np.repeat(["groups", "none"], n_graphs // 2)
    order = np.random.default_rng(seed).permutation(n_graphs)
    return gv.GraphBatch.concatenate([replace(apart, node_labels=None), alike])[order], y[order]


def test_return_probabilities_see_groups_that_degrees_do_not():
    batch, y = block_models()
    scores = [
        gv.RandomWalkClassifier(walk).fit(batch[:80], y[:80]).score(batch[80:], y[80:])
        for walk in (gv.Walk(structure="core", refine="auto", start="ones", stop="ones"), "auto")
    ]
    assert scores[1] >= 0.9
    assert scores[1] >= scores[0] + 0.15


def test_they_are_left_out_where_they_do_not_help():
    batch, y = block_models()
    model = gv.RandomWalkClassifier().fit(batch, np.random.default_rng(1).permutation(y))
    assert model.profiler_.returns == 0
    assert model.profiler_.centre is None


def test_a_prediction_depends_on_no_other_graph_and_survives_a_file(tmp_path):
    batch, y = block_models()
    model = gv.RandomWalkClassifier().fit(batch[:80], y[:80])
    assert model.profiler_.returns > 0
    together = model.decision_function(batch[80:])
    np.testing.assert_allclose(together[5:6], model.decision_function(batch[85:86]), rtol=1e-10)
    model.save(tmp_path / "model.gvoys")
    loaded = gv.load_model(tmp_path / "model.gvoys")
    np.testing.assert_array_equal(loaded.decision_function(batch[80:]), together)


@pytest.mark.parametrize(
    "given",
    [
        lambda batch: replace(batch, edge_weights=np.full(batch.n_entries, -1.0)),
        lambda batch: replace(batch, node_attributes=np.ones((batch.n_nodes, 1))),
    ],
    ids=["weights below zero", "attributes"],
)
def test_they_stand_for_no_attributes_that_are_there_and_need_weights_above_zero(given):
    batch, y = block_models(40)
    assert gv.RandomWalkClassifier().fit(given(batch), y).profiler_.returns == 0


def test_they_are_the_attributes_of_the_nodes():
    """Over seeds, what the model compares has the Gaussian kernel of return probabilities as its mean."""
    batch, y = block_models()
    profiler, some = gv.RandomWalkClassifier().fit(batch[:80], y[:80]).profiler_, batch[80:90]
    a = (return_probabilities(some, 16)[:, 2:] - profiler.centre) / profiler.deviation
    alike = np.exp(-((a[:, None] - a[None]) ** 2).sum(axis=2) / (2 * profiler.walk.attribute_bandwidth**2))
    exact, owner = np.zeros((10, 10)), some.node_graphs()
    np.add.at(exact, (owner[:, None], owner[None]), alike)
    ratios = []
    for seed in range(40):
        again = replace(profiler, sketch=replace(profiler.sketch, seed=seed))
        ratios.append(again.profile(some).attributes.gram(np.array([1.0, 0.0])) / exact)
    z = (np.mean(ratios, axis=0) - 1.0) / (np.std(ratios, axis=0) / np.sqrt(40))
    assert np.std(ratios, axis=0).max() < 0.2
    assert np.abs(z).max() < 4.5
