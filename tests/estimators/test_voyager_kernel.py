"""RandomWalkKernel(method="voyagers"): unbiased everywhere, the diagonal and equal graphs included, with error bars."""

import numpy as np
import pytest

import gvoys as gv
from gvoys.errors import UnsupportedError

BATCH = gv.datasets.molecules(5, random_state=4)
SERIES = gv.Geometric(0.05)


def kernel(**how):
    return gv.RandomWalkKernel(
        **{"series": SERIES, "walk": gv.Walk(4), "method": "voyagers", "n_components": 2560} | how
    )


@pytest.mark.parametrize("max_length", [4, None])
def test_unbiased_everywhere(max_length):
    """Graph 0 is there twice, and the two are compared by independent walks."""
    graphs = BATCH[[0, 0, 1, 2, 3, 4]]
    exact = gv.RandomWalkKernel(SERIES, gv.Walk(max_length), method="sequences" if max_length else "exact")
    K = exact.fit_transform(graphs)
    values = np.array([kernel(random_state=s, walk=gv.Walk(max_length)).fit_transform(graphs) for s in range(30)])
    z = (values.mean(axis=0) - K) / (values.std(axis=0, ddof=1) / np.sqrt(len(values)))
    assert np.abs(z).max() < 5
    np.testing.assert_array_equal(values[0], values[0].T)


def test_the_diagonal_of_features_is_biased_and_that_of_the_kernel_is_not():
    series = gv.Geometric(0.3)
    exact = gv.RandomWalkKernel(series, gv.Walk(4), method="sequences").fit_transform(BATCH)
    own, crossed = [], []
    for seed in range(60):
        X = gv.RandomWalkFeatures(
            series, gv.Walk(4), method="voyagers", n_components=2560, random_state=seed
        ).fit_transform(BATCH)
        own.append((X.astype(float) ** 2).sum(axis=1))
        crossed.append(kernel(random_state=seed, series=series).fit_transform(BATCH).diagonal())
    for values, biased in ((np.array(own), True), (np.array(crossed), False)):
        z = (values.mean(axis=0) - exact.diagonal()) / (values.std(axis=0, ddof=1) / np.sqrt(len(values)))
        assert (z > 2).all() if biased else (np.abs(z) < 5).all()


def test_error_bars_cover():
    exact = gv.RandomWalkKernel(SERIES, gv.Walk(4), method="sequences").fit_transform(BATCH)
    inside = []
    for seed in range(150):
        one = kernel(random_state=seed)
        K = one.fit_transform(BATCH)
        inside.append(np.abs(K - exact) <= 1.96 * one.standard_error_)
    assert 0.92 < np.mean(inside) < 0.98


def test_it_says_so_and_refuses_to_normalise():
    one = kernel().fit(BATCH)
    assert "two independent replicates" in one.method_.reason
    with pytest.raises(UnsupportedError, match="cannot use normalize=True, which would divide by a noisy diagonal"):
        kernel(normalize=True).fit(BATCH)
