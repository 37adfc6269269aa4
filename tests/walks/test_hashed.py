"""Hashed columns of label sequences: the kernel in expectation, exactly where columns are many, whatever was fitted."""

import numpy as np
import pytest
from spelling import with_walk

import gvoys as gv
from gvoys.errors import ParameterError, UnsupportedError
from gvoys.threads import threads
from gvoys.walks import Sequences

BATCH = gv.datasets.molecules(24, mean_nodes=9, random_state=3)
HOW = {"series": gv.Geometric(0.1), "max_length": 3, "method": "sequences", "refine": 1}
WIDE = 2**24


def hashed(n_columns, **how):
    return gv.RandomWalkFeatures(**with_walk(**HOW | {"n_columns": n_columns} | how))


def products(X, Y=None):
    return (X @ (X if Y is None else Y).T).toarray()


@pytest.mark.parametrize("backtrack", [True, False])
@pytest.mark.parametrize("ends", ["ones", "uniform"])
def test_without_collisions_products_are_the_kernel(ends, backtrack):
    how = {"start": ends, "stop": ends, "backtrack": backtrack}
    features, fitted = hashed(WIDE, **how), gv.RandomWalkFeatures(**with_walk(**HOW | how))
    X, exact = features.fit_transform(BATCH), fitted.fit_transform(BATCH)
    assert X.nnz == exact.nnz  # or two sequences share a column, which chance could have it
    assert X.has_canonical_format
    assert X.shape == (len(BATCH), WIDE) == (len(BATCH), features.n_features_out_)
    np.testing.assert_allclose(products(X), products(exact), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("n_columns", [1, 7, 64])
def test_products_are_unbiased_and_as_accurate_as_they_say(n_columns):
    """Over hash seeds, pair by pair, the diagonal included."""
    some = BATCH[:6]
    K = gv.RandomWalkKernel(**with_walk(**HOW)).fit_transform(some)
    found = np.array([products(hashed(n_columns, random_state=seed).fit_transform(some)) for seed in range(400)])
    error = found.std(axis=0, ddof=1) / np.sqrt(len(found))
    assert (np.abs(found.mean(axis=0) - K) < 5 * error).all()
    bound = (np.outer(np.diag(K), np.diag(K)) + K**2) / n_columns
    assert (found.var(axis=0) < 1.5 * bound).all()
    assert found.var(axis=0).mean() > 0.1 * bound.mean()


def test_any_two_runs_compare():
    """Whatever was fitted, whatever else is transformed, by any number of threads and in any pieces: the same bits."""
    X = hashed(500).fit_transform(BATCH)
    other = hashed(500).fit(gv.datasets.molecules(3, random_state=9))
    np.testing.assert_array_equal(other.transform(BATCH).toarray(), X.toarray())
    np.testing.assert_array_equal(other.transform(BATCH[::-1]).toarray(), X.toarray()[::-1])
    alone = [other.transform(BATCH[[i]]).toarray() for i in range(len(BATCH))]
    np.testing.assert_array_equal(np.concatenate(alone), X.toarray())
    with threads(1):
        np.testing.assert_array_equal(other.transform(BATCH).toarray(), X.toarray())
    assert other.transform(BATCH[:0]).shape == (0, 500)
    assert hashed(2**31 - 1).fit_transform(BATCH).shape == (len(BATCH), 2**31 - 1)


def test_graphs_that_are_too_many_at_once_are_counted_in_pieces(monkeypatch):
    """A budget is one of each graph: whether a graph has features does not depend on its company."""
    expected = hashed(300).fit_transform(BATCH).toarray()
    weights = np.random.default_rng(0).uniform(size=BATCH.n_nodes)
    weighted = hashed(300, start=weights, stop="ones").fit_transform(BATCH).toarray()
    states = [most_states(BATCH[i]) for i in range(len(BATCH))]
    monkeypatch.setattr("gvoys.walks.methods.Sequences", lambda device: Sequences(device, budget=max(states)))
    np.testing.assert_array_equal(hashed(300).fit_transform(BATCH).toarray(), expected)
    np.testing.assert_array_equal(hashed(300, start=weights, stop="ones").fit_transform(BATCH).toarray(), weighted)
    monkeypatch.setattr("gvoys.walks.methods.Sequences", lambda device: Sequences(device, budget=max(states) - 1))
    for batch, graph in ((BATCH, np.argmax(states)), (BATCH[::-1], len(BATCH) - 1 - np.argmax(states))):
        with pytest.raises(UnsupportedError, match=f"^graph {graph}: it has too many label sequences"):
            hashed(300).fit_transform(batch)


def most_states(graph):
    """The smallest budget that a graph alone has enough of."""
    walk = hashed(1).fit(graph).walk_
    low, high = 0, 100_000
    while low < high:
        middle = (low + high) // 2
        try:
            Sequences(budget=middle).profile(graph, walk)
            high = middle
        except UnsupportedError:
            low = middle + 1
    return low


@pytest.mark.parametrize(
    ("how", "message"),
    [
        *(({"n_columns": value}, "^n_columns must be ") for value in (0, -1, 2.5, True, "many", 2**31)),
        *(
            ({"method": method}, f"^n_columns is for method='sequences' alone, not '{method}'; leave it out$")
            for method in ("auto", "moments", "sketch", "voyagers")
        ),
        (
            {"series": gv.Coefficients([1e290] * 4), "start": "ones", "stop": np.full(BATCH.n_nodes, 1e200)},
            "range of floating point",
        ),
    ],
)
def test_what_cannot_be_done_is_said(how, message):
    with pytest.raises(ParameterError, match=message):
        hashed(**{"n_columns": 64} | how).fit_transform(BATCH)
