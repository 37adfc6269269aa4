"""RandomWalkKernel: the right numbers by every method, honest error bars, a scikit-learn citizen."""

import numpy as np
import pytest

import gvoys as gv
from gvoys.errors import DivergenceError, ParameterError, UnsupportedError

MOLECULES = gv.datasets.molecules(25, mean_nodes=12)
SERIES = gv.Exponential(0.3)


def exact(batch, other=None, labels="node", series=SERIES, length=8):
    cut = series.truncated(length)
    return np.array([[gv.exact_kernel(g, h, cut, labels=labels) for h in (other or batch)] for g in batch])


@pytest.mark.parametrize("labels", ["node", "edge", "both", None])
def test_exact_methods_agree_with_the_solver(labels):
    few = MOLECULES[:6]
    expected = exact(few, labels=labels)
    for method in ["sequences", "exact", "auto"] + (["moments"] if labels is None else []):
        kernel = gv.RandomWalkKernel(SERIES, method=method, labels=labels)
        np.testing.assert_allclose(kernel.fit_transform(few), expected, rtol=1e-10)
        np.testing.assert_allclose(kernel.transform(few[2:4]), expected[2:4], rtol=1e-10)
        assert not kernel.standard_error_.any()


def test_the_sketch_is_near_and_says_how_near():
    kernel = gv.RandomWalkKernel(SERIES, method="sketch", n_components=4096)
    K, expected = kernel.fit_transform(MOLECULES), exact(MOLECULES[:5], MOLECULES)
    error = np.abs(K[:5] - expected) / kernel.standard_error_[:5]
    assert np.mean(error < 5) == 1
    assert np.abs(K[:5] / expected - 1).max() < 0.2
    np.testing.assert_array_equal(K, K.T)
    assert np.linalg.eigvalsh(K).min() >= -1e-6 * np.trace(K) / len(K)
    np.testing.assert_allclose(kernel.transform(MOLECULES[3:5]), K[3:5], rtol=1e-6)


def test_coverage_of_the_95_percent_interval():
    """2400 independent seeds: value +- 1.96 standard errors holds the truth in 93 to 97 % of them, at every width."""
    pair = MOLECULES[:2]
    truth = exact(pair)[0, 1]
    for n_components in (512, 1024):
        inside = []
        for seed in range(2400):
            kernel = gv.RandomWalkKernel(SERIES, method="sketch", n_components=n_components, random_state=seed)
            value = kernel.fit_transform(pair)[0, 1]
            inside.append(abs(value - truth) <= 1.96 * kernel.standard_error_[0, 1])
        assert 0.93 <= np.mean(inside) <= 0.97


def test_what_auto_chooses_and_why():
    plain = gv.RandomWalkKernel(SERIES).fit(gv.datasets.erdos_renyi(3, 10, 0.3))
    assert plain.method_ == "moments"
    assert "nothing but edges counts" in plain.method_.reason
    labelled = gv.RandomWalkKernel(SERIES, max_length=4).fit(MOLECULES)
    assert labelled.method_ == "sequences"
    assert "fit the budget" in repr(labelled.method_)
    dense = gv.datasets.stochastic_block(3, [20, 20], [[0.6, 0.4], [0.4, 0.6]])
    assert gv.RandomWalkKernel(SERIES, max_length=20).fit(dense).method_ == "sketch"
    attributes = gv.GraphBatch.from_arrays([[0, 1]], [2], node_attributes=[[0.0], [1.0]])
    assert gv.RandomWalkKernel(SERIES, attribute_bandwidth=1.0).fit(attributes).method_ == "sketch"


@pytest.mark.parametrize("method", ["sequences", "sketch", "exact"])
def test_normalised_kernels(method):
    few = gv.GraphBatch.concatenate([MOLECULES[:4], gv.GraphBatch.from_arrays([], [0], node_labels=[], edge_labels=[])])
    kernel = gv.RandomWalkKernel(SERIES, method=method, normalize=True)
    K = kernel.fit_transform(few)
    np.testing.assert_allclose(np.diag(K)[:4], 1.0, rtol=1e-6)
    assert K[4].tolist() == [0] * 5  # a graph without nodes shares no walks, not even with itself
    assert np.isfinite(K).all()
    off = K[np.triu_indices(4, 1)]
    assert ((off > 0) & (off < 1)).all()


def test_unseen_sequences_count_towards_a_graphs_own_norm():
    """Labels first met at transform: shared with none of the fitted graphs, and yet part of the new graph."""
    import networkx as nx

    def path(labels):
        graph = nx.path_graph(len(labels))
        nx.set_node_attributes(graph, dict(enumerate(labels)), "label")
        return graph

    kernel = gv.RandomWalkKernel(gv.Coefficients([1, 1]), method="sequences", normalize=True, start="ones", stop="ones")
    kernel.fit([path("CC")])
    value = kernel.transform([path("CX")])[0, 0]
    # C.C = 2 at length 0 and none at length 1; the norms are sqrt(4 + 4) and sqrt(1 + 1 + 1 + 1)
    assert value == pytest.approx(2 / np.sqrt(8 * 4))


def test_the_whole_series():
    kernel = gv.RandomWalkKernel(gv.Geometric(0.02), max_length=None, method="moments")
    few = MOLECULES[:4]
    expected = [[gv.exact_kernel(g, h, gv.Geometric(0.02), labels=None) for h in few] for g in few]
    np.testing.assert_allclose(kernel.fit_transform(few), expected, rtol=1e-8)
    with pytest.raises(DivergenceError, match="the largest decay that would do"):
        gv.RandomWalkKernel(gv.Geometric(0.5), max_length=None, method="moments").fit(few)
    with pytest.raises(DivergenceError):
        kernel.transform(gv.datasets.erdos_renyi(1, 30, 0.9))


def test_auto_decay_is_kept():
    kernel = gv.RandomWalkKernel(gv.Geometric("auto"), method="moments").fit(MOLECULES)
    assert kernel.series_ == gv.Geometric(1 / MOLECULES.degrees().max() ** 2)
    assert kernel.series == gv.Geometric("auto")


def test_one_group_has_no_error_bar():
    kernel = gv.RandomWalkKernel(SERIES, method="sketch", n_components=128)
    kernel.fit_transform(MOLECULES[:3])
    assert np.isnan(kernel.standard_error_).all()


@pytest.mark.parametrize(
    ("how", "error", "message"),
    [
        (
            {"method": "magic"},
            ParameterError,
            "method must be 'auto' or one of 'moments', 'sequences', 'sketch', 'exact'",
        ),
        ({"series": 0.1}, ParameterError, "series must be Geometric, Exponential or Coefficients"),
        ({"labels": "all"}, ParameterError, 'labels must be "auto", "node", "edge", "both" or None'),
        ({"refine": -1}, ParameterError, "refine must be an integer of at least 0"),
        ({"backtrack": "no"}, ParameterError, "backtrack must be True or False"),
        ({"n_components": 0}, ParameterError, "n_components must be an integer of at least 1"),
        ({"max_length": -1}, ParameterError, "max_length must be an integer of at least 0"),
        ({"random_state": -1}, ParameterError, "random_state must be an integer from 0"),
        ({"attribute_bandwidth": 0}, ParameterError, "attribute_bandwidth must be None or a positive number"),
        ({"attribute_bandwidth": 1.0}, UnsupportedError, "the graphs have no node attributes"),
        ({"device": "cuda"}, UnsupportedError, "device='cuda' is not available"),
        (
            {"method": "exact", "refine": 1},
            UnsupportedError,
            "method='exact' takes labels, weights and directions only",
        ),
        ({"method": "moments", "labels": "node"}, UnsupportedError, "method 'moments' sees no labels"),
    ],
)
def test_refusals(how, error, message):
    with pytest.raises(error, match=message):
        gv.RandomWalkKernel(**({"series": SERIES} | how)).fit(MOLECULES[:3])


def test_graphs_of_another_kind_at_transform():
    kernel = gv.RandomWalkKernel(SERIES, method="sketch").fit(MOLECULES[:3])
    with pytest.raises(UnsupportedError, match="the fitted graphs had node labels and these have none"):
        kernel.transform(gv.datasets.erdos_renyi(2, 5, 0.5))
