"""The index beside all similarities, one by one."""

import networkx as nx
import numpy as np
import pytest
from raising import raises

import gvoys as gv
from gvoys._compiled.cpu.code_scan import Codes, scan
from gvoys.search import coding

LIBRARY = gv.datasets.molecules(400, mean_nodes=12, random_state=1)
QUERIES = gv.datasets.molecules(15, mean_nodes=12, random_state=2)
UNLABELLED = gv.datasets.erdos_renyi(80, 20, 0.2, random_state=0)
SIZE = LIBRARY.graph_sizes.astype(float)


def similar(index, queries, library):
    """All similarities by the index's own comparer."""
    comparer = index.coder_.comparer
    return comparer.cosines(comparer.profile(queries), comparer.profile(library))[0]


def in_order(values, k):
    return np.array([np.argsort(-row.round(12), kind="stable")[:k] for row in values])


ESTIMATORS = {
    "usual": lambda: None,
    "features": lambda: gv.RandomWalkFeatures(gv.Geometric(0.05), gv.Walk(4)),
    "kernel": lambda: gv.RandomWalkKernel(gv.Geometric(0.05), gv.Walk(4, refine=1)),
    "sketch": lambda: gv.RandomWalkKernel(gv.Geometric(0.05), gv.Walk(4), method="sketch", n_components=512),
    "classifier": lambda: gv.RandomWalkClassifier(gv.Walk(3), C=1.0).fit(LIBRARY[:60], SIZE[:60] > 12),
    "regressor": lambda: gv.RandomWalkRegressor(gv.Walk(3), max_iterations=2).fit(LIBRARY[:60], SIZE[:60]),
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_hits_are_the_most_similar_ones(name):
    index = gv.Index(ESTIMATORS[name](), n_candidates=len(LIBRARY)).add(LIBRARY)  # all are compared exactly
    ids, similarities, intervals = index.nearest(QUERIES, k=7)
    every = similar(index, QUERIES, LIBRARY)
    wanted = in_order(every, 7)
    np.testing.assert_array_equal(ids, wanted)
    np.testing.assert_allclose(similarities, np.take_along_axis(every, wanted, axis=1), rtol=1e-10, atol=1e-12)
    assert (intervals[..., 0] <= similarities).all()
    assert (intervals[..., 1] >= similarities - 1e-12).all()
    assert (intervals[..., 0] < similarities).any() == (name == "sketch")


def test_features_compare_as_their_kernel_does():
    features = gv.RandomWalkFeatures(gv.Geometric(0.05), gv.Walk(4))
    index = gv.Index(features, n_candidates=400).add(LIBRARY)
    kernel = gv.RandomWalkKernel(gv.Geometric(0.05), gv.Walk(4), normalize=True).fit(LIBRARY)
    every = kernel.transform(QUERIES)
    ids, similarities, _ = index.nearest(QUERIES, k=5)
    np.testing.assert_allclose(similarities, np.take_along_axis(every, ids, axis=1), rtol=1e-9)
    np.testing.assert_array_equal(ids, in_order(every, 5))


def test_candidates_and_bounds():
    index = gv.Index(n_candidates=80).add(LIBRARY)
    every = similar(index, QUERIES, LIBRARY)
    ids, _, _ = index.nearest(QUERIES, k=5)
    least = -np.sort(-every, axis=1)[:, 4:5]
    assert (np.take_along_axis(every, ids, axis=1) >= least - 1e-9).mean() > 0.97
    index = gv.Index().add(LIBRARY)
    queries, codes = coding.Queries.from_graphs(index.coder_, QUERIES), index.segments_[0].codes
    values = codes.values.astype(float) * codes.scales[:, None]
    bounds = queries.coordinates @ values.T + np.outer(queries.rests, codes.rests)
    assert (bounds > similar(index, QUERIES, LIBRARY) - 0.02).all()
    assert np.abs(queries.rests).max() <= 1.0


def test_which_graphs_are_most_similar():
    index = gv.Index().add(LIBRARY)
    ids, similarities, _ = index.nearest(LIBRARY[::40], k=1)
    np.testing.assert_allclose(similarities, 1.0, atol=1e-9)
    same = similar(index, LIBRARY[::40], LIBRARY)
    assert (same[np.arange(len(ids)), ids[:, 0]] > 1 - 1e-9).all()
    index = gv.Index(n_candidates=80).add(UNLABELLED)
    ids, _, _ = index.nearest(UNLABELLED[:4], k=3)
    np.testing.assert_array_equal(ids[:, 0], np.arange(4))


def test_more_can_be_added_and_threads_change_nothing():
    whole = gv.Index(n_candidates=60).add(LIBRARY)
    pieces = gv.Index(n_candidates=60, n_jobs=1).add(LIBRARY[:150])
    pieces.coder_ = whole.coder_  # landmarks come from what is added first
    pieces.segments_ = []
    pieces.add(LIBRARY[:150]).add(LIBRARY[150:151]).add(LIBRARY[151:])
    assert len(pieces) == len(LIBRARY)
    for one, other in zip(whole.nearest(QUERIES), pieces.nearest(QUERIES), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10)
    alone = [whole.nearest(query).ids[0] for query in QUERIES]
    np.testing.assert_array_equal(alone, whole.nearest(QUERIES).ids)


def test_ids():
    names = [f"molecule {i}" for i in range(len(LIBRARY))]
    index = gv.Index().add(LIBRARY, names)
    numbered = gv.Index().add(LIBRARY)
    hits = index.nearest(QUERIES, 3).ids
    assert hits.tolist() == [[names[i] for i in row] for row in numbered.nearest(QUERIES, 3).ids]
    raises(gv.errors.ParameterError, "one for each of the 3 graphs, not 2", index.add, LIBRARY[:3], ["a", "b"])


@pytest.mark.parametrize(
    ("ids", "said"),
    [
        (5, "ids must be a sequence"),
        ("abc", "ids must be a sequence"),
        ([("a", 1), 2, 3], r"ids must be text or numbers, not \('a', 1\)"),
        ([None, "a", "b"], "ids must be text or numbers, not None"),
        (np.array(["2020-01-01"] * 3, "datetime64[D]"), "convert them, as in map"),
    ],
)
def test_ids_that_are_none(ids, said):
    raises(gv.errors.ParameterError, said, gv.Index().add, LIBRARY[:3], ids)


def test_graphs_that_cannot_be_added():
    index = gv.Index().add([nx.path_graph(4)])
    for other in ([nx.DiGraph([(0, 1)])], LIBRARY[:2]):
        with pytest.raises(gv.errors.GraphError):
            index.add(other)
    assert index.nearest([nx.path_graph(4)], k=5).ids.tolist() == [[0]]
    index = gv.Index(gv.RandomWalkKernel(gv.Geometric(0.2), gv.Walk(None)))
    index.add([nx.path_graph(4), nx.cycle_graph(5)])
    assert index.nearest([nx.cycle_graph(7)], k=1).ids.tolist() == [[1]]
    for use in (index.add, index.nearest):
        with pytest.raises(gv.errors.DivergenceError, match="walks of these graphs multiply by 5 at every step"):
            use([nx.complete_graph(6)])


def test_what_cannot_be_searched():
    raises(gv.errors.ParameterError, "holds no graphs", gv.Index().nearest, QUERIES)
    raises(gv.errors.ParameterError, "an index takes RandomWalkFeatures", gv.Index("walks").add, LIBRARY)
    for method in ("exact", "voyagers"):
        index = gv.Index(gv.RandomWalkKernel(method=method))
        raises(gv.errors.ParameterError, "an index needs profiles", index.add, LIBRARY[:5])
    index = gv.Index().add(LIBRARY[:4])
    assert index.nearest(QUERIES, k=10).ids.shape == (15, 4)
    assert index.nearest(QUERIES[:0]).ids.shape == (0, 4)


def test_the_scan_finds_the_largest_scores():
    rng = np.random.default_rng(0)
    codes = Codes(
        rng.integers(-127, 128, (1000, 24)).astype(np.int8),
        rng.uniform(0.001, 0.01, 1000).astype(np.float32),
        rng.uniform(0, 1, 1000).astype(np.float32),
    )
    queries, rests = rng.normal(size=(6, 24)).astype(np.float32), rng.uniform(0, 1, 6).astype(np.float32)
    bounds = np.array([0, 3, 400, 1000])
    scores, rows = np.empty((3, 6, 10), np.float32), np.empty((3, 6, 10), np.int64)
    scan(codes, queries, rests, bounds, scores, rows)
    wanted = queries @ (codes.values * codes.scales[:, None]).T + np.outer(rests, codes.rests)
    for chunk, (begin, end) in enumerate([(0, 3), (3, 400), (400, 1000)]):
        for q in range(6):
            own = np.sort(rows[chunk, q][rows[chunk, q] >= 0])
            best = begin + np.argsort(-wanted[q, begin:end])[:10]
            np.testing.assert_array_equal(own, np.sort(best))
