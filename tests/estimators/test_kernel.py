"""RandomWalkKernel: the right numbers by every method, honest error bars, a scikit-learn citizen."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from spelling import with_walk
from studies import coverage

import gvoys as gv
from gvoys.errors import DivergenceError, ParameterError, UnsupportedError
from gvoys.walks import Sequences
from gvoys.walks.method import Cost

MOLECULES = gv.datasets.molecules(25, mean_nodes=12)
SERIES = gv.Exponential(0.3)
FAMILIES = list(coverage.families())


def exact(batch, other=None, labels="node", series=SERIES, length=6):
    cut = series.truncated(length)
    walk = gv.Walk(None, labels)
    return np.array([[gv.exact_kernel(g, h, cut, walk) for h in (other or batch)] for g in batch])


@pytest.mark.parametrize("labels", ["node", "edge", "both", None])
def test_exact_methods_agree_with_the_solver(labels):
    few = MOLECULES[:6]
    expected = exact(few, labels=labels)
    for method in ["sequences", "exact", "auto"] + (["moments"] if labels is None else []):
        kernel = gv.RandomWalkKernel(SERIES, gv.Walk(labels=labels), method=method)
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


@pytest.mark.parametrize("n_components", [256, 1024])
@pytest.mark.parametrize(("name", "batch", "walk"), FAMILIES, ids=[name for name, *_ in FAMILIES])
def test_coverage_of_the_95_percent_interval(name, batch, walk, n_components):
    """Pooled over seeds, value +- 1.96 standard errors holds the exact value in 93 to 97 %: raw, diagonal, normalised.

    Without labels nothing is random: bars bound the rounding of float32, and stay of its size.
    """
    only_rounding = walk.labels is None
    shares, bar = coverage.coverage(batch, n_components, 20 if only_rounding else 500, walk)
    if only_rounding:
        assert shares == [1.0, 1.0, 1.0]
        assert bar < 20 * np.finfo(np.float32).eps
    else:
        assert all(0.93 <= share <= 0.97 for share in shares), shares


def test_a_graph_is_exactly_like_itself():
    kernel = gv.RandomWalkKernel(SERIES, method="sketch", n_components=512, normalize=True)
    K = kernel.fit_transform(MOLECULES)
    assert (K.diagonal() == 1.0).all()
    assert not kernel.standard_error_.diagonal().any()
    again = kernel.transform(MOLECULES[:3])
    np.testing.assert_allclose(again[np.arange(3), np.arange(3)], 1.0, rtol=1e-6)
    assert kernel.standard_error_[np.arange(3), np.arange(3)].max() < 1e-5


def test_a_last_narrow_group_does_not_change_the_bars_much():
    """600 components are four groups and a part of one, which counts towards values and not towards their spread."""
    one = gv.RandomWalkKernel(SERIES, method="sketch", n_components=128)
    one.fit_transform(MOLECULES[:3])
    assert np.isnan(one.standard_error_).all()
    bars = []
    for n_components in (512, 600):
        kernel = gv.RandomWalkKernel(SERIES, method="sketch", n_components=n_components, normalize=True)
        kernel.fit_transform(MOLECULES)
        bars.append(np.median(kernel.standard_error_))
    assert bars[0] == pytest.approx(bars[1], rel=0.2)


def test_what_auto_chooses_and_why():
    plain = gv.RandomWalkKernel(SERIES).fit(gv.datasets.erdos_renyi(3, 10, 0.3))
    assert plain.method_ == "moments"
    assert "no labels or attributes are used" in plain.method_.reason
    labelled = gv.RandomWalkKernel(SERIES, gv.Walk(4)).fit(MOLECULES)
    assert labelled.method_ == "sequences"
    assert "fit the budget" in repr(labelled.method_)
    dense = gv.datasets.stochastic_block(3, [20, 20], [[0.6, 0.4], [0.4, 0.6]])
    combined = gv.RandomWalkKernel(SERIES, gv.Walk(20)).fit(dense).method_
    assert combined == "combined"
    assert "inf" not in combined.reason
    attributes = gv.GraphBatch.from_arrays([[0, 1]], [2], node_attributes=[[0.0], [1.0]])
    assert gv.RandomWalkKernel(SERIES, gv.Walk(attribute_bandwidth=1.0)).fit(attributes).method_ == "sketch"


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

    def path(labels):
        graph = nx.path_graph(len(labels))
        nx.set_node_attributes(graph, dict(enumerate(labels)), "label")
        return graph

    kernel = gv.RandomWalkKernel(
        gv.Coefficients([1, 1]), gv.Walk(start="ones", stop="ones"), method="sequences", normalize=True
    )
    kernel.fit([path("CC")])
    value = kernel.transform([path("CX")])[0, 0]
    # C.C = 2 at length 0 and none at length 1; the norms are sqrt(4 + 4) and sqrt(1 + 1 + 1 + 1)
    assert value == pytest.approx(2 / np.sqrt(8 * 4))


def test_the_whole_series():
    kernel = gv.RandomWalkKernel(gv.Geometric(0.02), gv.Walk(None), method="moments")
    few = MOLECULES[:4]
    expected = [[gv.exact_kernel(g, h, gv.Geometric(0.02), gv.Walk(None, labels=None)) for h in few] for g in few]
    np.testing.assert_allclose(kernel.fit_transform(few), expected, rtol=1e-8)
    with pytest.raises(DivergenceError, match="the decay must be below"):
        gv.RandomWalkKernel(gv.Geometric(0.5), gv.Walk(None), method="moments").fit(few)
    with pytest.raises(DivergenceError):
        kernel.transform(gv.datasets.erdos_renyi(1, 30, 0.9))


def test_the_whole_series_is_relative_to_its_bound():
    """From one end of a path to the other K is 1e-43 of what walks could be: within tolerance of it, and yet 0."""
    n, series = 100, gv.Geometric(0.1)
    start, stop = np.eye(n)[0], np.eye(n)[-1]
    path = nx.path_graph(n)
    exact_ = gv.exact_kernel(path, path, series, gv.Walk(None, start=(start, start), stop=(stop, stop)))
    kernel = gv.RandomWalkKernel(series, gv.Walk(None, start=start, stop=stop))
    value = kernel.fit_transform([path])[0, 0]
    bound = series.evaluate(4.0)  # rho < 2, and the endpoints have size one
    assert 0 < exact_ < 1e-40 * bound
    assert abs(value - exact_) <= 1e-9 * bound
    longer = gv.RandomWalkKernel(series, gv.Walk(300, start=start, stop=stop)).fit_transform([path])[0, 0]
    assert longer == pytest.approx(exact_, rel=1e-9)


@pytest.mark.parametrize(
    ("how", "error", "message"),
    [
        ({"method": "magic"}, ParameterError, "method must be .* 'moments', 'sequences', 'sketch', 'voyagers', 'comb"),
        ({"series": 0.1}, ParameterError, "series must be Geometric, Exponential or Coefficients"),
        ({"labels": "all"}, ParameterError, 'labels must be "auto", "node", "edge", "both" or None'),
        ({"refine": -1}, ParameterError, "refine must be an integer of at least 0"),
        ({"backtrack": "no"}, ParameterError, "backtrack must be True or False"),
        ({"n_components": 0}, ParameterError, "n_components must be an integer of at least 1"),
        ({"max_length": -1}, ParameterError, "max_length must be an integer of at least 0"),
        ({"random_state": -1}, ParameterError, "random_state must be an integer from 0"),
        ({"attribute_bandwidth": 0}, ParameterError, "attribute_bandwidth must be None or a positive number"),
        ({"attribute_bandwidth": 1.0}, UnsupportedError, "the graphs have no node attributes"),
        ({"device": "cuda"}, UnsupportedError, "no CUDA device answers here"),
        ({"method": "moments", "labels": "node"}, UnsupportedError, "method 'moments' cannot use labels"),
        *(
            ({"random_state": state}, ParameterError, "random_state must be an integer, a RandomState or None")
            for state in ("a", 1.5, True, np.random.default_rng(0))
        ),
    ],
)
def test_refusals(how, error, message):
    with pytest.raises(error, match=message):
        gv.RandomWalkKernel(**with_walk(**{"series": SERIES} | how)).fit(MOLECULES[:3])


def with_columns(k):
    return replace(MOLECULES, node_attributes=np.zeros((MOLECULES.n_nodes, k)))


PATH = gv.GraphBatch.from_arrays(np.column_stack([np.arange(399), np.arange(1, 400)]), [400], node_labels=[1] * 400)
DENSE = gv.datasets.stochastic_block(2, [100, 100], [[0.5, 0.5], [0.5, 0.5]])
RANGE = "range of floating point|for float32|for float64"


@pytest.mark.parametrize(
    ("how", "fitted", "new", "message"),
    [
        (
            {"method": "sketch"},
            MOLECULES[:3],
            gv.datasets.erdos_renyi(2, 5, 0.5),
            "the fitted graphs had node labels and these have none",
        ),
        ({"attribute_bandwidth": 1.0}, with_columns(2), with_columns(3), "had 2 node attributes and these have 3"),
        ({"refine": 1}, MOLECULES, replace(MOLECULES, directed=True), "refined labels differ between directed and und"),
        (
            {"series": gv.Geometric(0.24999), "max_length": None, "method": "sketch"},
            PATH,
            PATH,
            "takes walks of .* low",
        ),
        ({"series": gv.Geometric(50.0), "labels": None, "max_length": 100}, DENSE, DENSE, RANGE),
        ({"series": gv.Geometric(50.0), "method": "sketch", "max_length": 60}, DENSE, DENSE, RANGE),
    ],
)
def test_graphs_that_cannot_be_compared(how, fitted, new, message):
    kernel = gv.RandomWalkKernel(**with_walk(**{"series": SERIES, "max_length": 3} | how))
    with pytest.raises(gv.errors.GvoysError, match=message):
        kernel.fit(fitted).transform(new)


@pytest.mark.parametrize("method", ["auto", "moments", "sequences", "sketch", "exact"])
def test_no_graphs(method):
    assert gv.RandomWalkKernel(SERIES, method=method).fit_transform(MOLECULES[:0]).shape == (0, 0)
    kernel = gv.RandomWalkKernel(SERIES, method=method).fit(MOLECULES[:3])
    assert kernel.transform(MOLECULES[:0]).shape == (0, 3)
    if method in ("moments", "sequences", "sketch"):
        assert gv.profiles(MOLECULES[:0], gv.Walk(3), method=method, n_components=128).shape[:2] == (0, 4)


@pytest.mark.parametrize("method", ["sequences", "sketch"])
@pytest.mark.parametrize("labels", [None, "node", "edge"])
def test_refinement_starts_from_the_labels_that_count(method, labels):
    bare = replace(
        MOLECULES,
        node_labels=MOLECULES.node_labels if labels == "node" else None,
        edge_labels=MOLECULES.edge_labels if labels == "edge" else None,
    )
    walk = gv.Walk(3, labels, refine=2)
    np.testing.assert_array_equal(gv.profiles(MOLECULES, walk, method), gv.profiles(bare, walk, method))


def test_auto_falls_back_where_the_estimate_was_wrong(monkeypatch):
    monkeypatch.setattr(Sequences, "cost", lambda *args: Cost(10.0, 80.0))
    compute = Sequences.compute
    monkeypatch.setattr(Sequences, "compute", lambda self, *args: compute(replace(self, budget=100_000), *args))
    kernel = gv.RandomWalkKernel(SERIES, gv.Walk(8, refine=1)).fit(gv.datasets.erdos_renyi(5, 60, 0.2))
    assert kernel.method_ == "sketch"
    assert "take over 100,000 states" in kernel.method_.reason


def test_arrays_of_endpoints_are_cut_with_the_graphs(monkeypatch):
    from gvoys.estimators import base

    start = np.random.default_rng(0).random(MOLECULES.n_nodes)
    how = {"series": SERIES, "method": "sketch", "n_components": 256, "walk": gv.Walk(start=start, stop="ones")}
    whole = gv.RandomWalkKernel(**how).fit_transform(MOLECULES)
    features = gv.RandomWalkFeatures(**how).fit_transform(MOLECULES)
    monkeypatch.setattr(base, "_BLOCK", 1)
    np.testing.assert_array_equal(gv.RandomWalkKernel(**how, verbose=True).fit_transform(MOLECULES), whole)
    np.testing.assert_array_equal(gv.RandomWalkFeatures(**how).fit_transform(MOLECULES), features)
    with pytest.raises(ParameterError, match="start must be"):
        gv.RandomWalkKernel(SERIES, gv.Walk(start="left")).fit(MOLECULES)


def test_large_graphs_lose_no_digits():
    """One label for all has no noise, so that only rounding is left."""
    path = gv.as_batch([nx.path_graph(30_000)])
    for how in ({}, {"backtrack": False}):
        kernel = gv.RandomWalkKernel(gv.Coefficients([1, 1, 1]), gv.Walk(2, **how), "sketch", n_components=256)
        exact_ = gv.RandomWalkKernel(gv.Coefficients([1, 1, 1]), gv.Walk(2, **how), "sequences")
        np.testing.assert_allclose(kernel.fit_transform(path), exact_.fit_transform(path), rtol=1e-5)


FEW = gv.datasets.molecules(5, random_state=4)
SMALL = gv.Geometric(0.05)


def voyagers_kernel(**how):
    return gv.RandomWalkKernel(
        **{"series": SMALL, "walk": gv.Walk(4), "method": "voyagers", "n_components": 2560} | how
    )


@pytest.mark.parametrize("max_length", [4, None])
def test_unbiased_everywhere(max_length):
    """Graph 0 is there twice, and the two are compared by independent walks."""
    graphs = FEW[[0, 0, 1, 2, 3, 4]]
    exact = gv.RandomWalkKernel(SMALL, gv.Walk(max_length), method="sequences" if max_length else "exact")
    K = exact.fit_transform(graphs)
    values = np.array(
        [voyagers_kernel(random_state=s, walk=gv.Walk(max_length)).fit_transform(graphs) for s in range(30)]
    )
    z = (values.mean(axis=0) - K) / (values.std(axis=0, ddof=1) / np.sqrt(len(values)))
    assert np.abs(z).max() < 5
    np.testing.assert_array_equal(values[0], values[0].T)


def test_the_diagonal_of_features_is_biased_and_that_of_the_kernel_is_not():
    series = gv.Geometric(0.3)
    exact = gv.RandomWalkKernel(series, gv.Walk(4), method="sequences").fit_transform(FEW)
    own, crossed = [], []
    for seed in range(60):
        X = gv.RandomWalkFeatures(
            series, gv.Walk(4), method="voyagers", n_components=2560, random_state=seed
        ).fit_transform(FEW)
        own.append((X.astype(float) ** 2).sum(axis=1))
        crossed.append(voyagers_kernel(random_state=seed, series=series).fit_transform(FEW).diagonal())
    for values, biased in ((np.array(own), True), (np.array(crossed), False)):
        z = (values.mean(axis=0) - exact.diagonal()) / (values.std(axis=0, ddof=1) / np.sqrt(len(values)))
        assert (z > 2).all() if biased else (np.abs(z) < 5).all()


def test_error_bars_cover():
    exact = gv.RandomWalkKernel(SMALL, gv.Walk(4), method="sequences").fit_transform(FEW)
    inside = []
    for seed in range(150):
        one = voyagers_kernel(random_state=seed)
        K = one.fit_transform(FEW)
        inside.append(np.abs(K - exact) <= 1.96 * one.standard_error_)
    assert 0.92 < np.mean(inside) < 0.98


def test_it_says_so_and_refuses_to_normalise():
    one = voyagers_kernel().fit(FEW)
    assert "two independent replicates" in one.method_.reason
    with pytest.raises(UnsupportedError, match="cannot use normalize=True, which would divide by a noisy diagonal"):
        voyagers_kernel(normalize=True).fit(FEW)
