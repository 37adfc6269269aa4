"""Profiles on a page: exact where they claim to be, error bars that hold elsewhere."""

import numpy as np
import pytest
from raising import raises

import gvoys as gv
from gvoys.apps.explore import blocks as module
from gvoys.apps.explore.blocks import compute_blocks
from gvoys.errors import ParameterError


def kernel_of(blocks):
    """K and the rests' share of it, as the page adds them up."""
    K = np.zeros((len(blocks.diagonal),) * 2)
    variance = np.zeros_like(K)
    for i, (mu, length) in enumerate(zip(blocks.mu * blocks.means, blocks.lengths, strict=True)):
        values = length.values.astype(float)
        K += mu * values @ values.T
        if length.rest is not None:
            left = np.maximum(blocks.diagonal[:, i] - (values**2).sum(axis=1), 0)
            rest = length.rest.astype(float) @ length.rest.astype(float).T
            K += mu * rest
            variance += mu**2 * (np.outer(left, left) + rest**2) / length.rest.shape[1]
    return K, np.sqrt(variance)


def exact(batch, blocks, labels):
    return gv.RandomWalkKernel(gv.Coefficients(blocks.mu), gv.Walk(len(blocks.mu) - 1, labels)).fit_transform(batch)


def test_shares_and_wrong_walks():
    blocks = compute_blocks(gv.datasets.molecules(40), None, gv.Walk(4, "node"), 0)
    np.testing.assert_allclose(blocks.mu * blocks.means, 0.2)
    np.testing.assert_allclose((blocks.features() ** 2).sum(axis=1), 1)
    batch = gv.datasets.molecules(5)
    with pytest.raises(ParameterError, match="max_length must be an integer of at least 0"):
        compute_blocks(batch, None, gv.Walk(-1, "node"), 0)
    raises(ParameterError, "labels must be", compute_blocks, batch, None, gv.Walk(2, "colour"), 0)


def test_what_is_cut_off_is_estimated_without_bias_and_the_bars_cover(monkeypatch):
    monkeypatch.setattr(module, "_RANKS", (6, 6))
    batch = gv.datasets.molecules(60)
    off = ~np.eye(60, dtype=bool)
    found, covered = [], []
    for seed in range(40):
        blocks = compute_blocks(batch, None, gv.Walk(4, "node"), 10 * seed)
        K, error = kernel_of(blocks)
        truth = exact(batch, blocks, "node")
        assert (error[off] > 0).all()
        found.append(K[off] - truth[off])
        covered.append(np.mean(np.abs(K - truth)[off] <= 1.96 * error[off]))
    z = np.mean(found, axis=0) / (np.std(found, axis=0) / np.sqrt(40))
    assert np.abs(z.mean()) < 0.25  # pairs go together; a bias of a third of the bars would be far outside
    assert 0.9 < np.mean(covered) < 0.98


def test_long_walks_of_many_labels_are_sketched(monkeypatch):
    monkeypatch.setattr(module, "STATE_BUDGET", 10_000)
    batch = gv.datasets.molecules(60)
    blocks = compute_blocks(batch, None, gv.Walk(5, "node"), 0)
    kinds = [length.n_groups > 1 for length in blocks.lengths]
    assert kinds == sorted(kinds)  # exact lengths come first
    assert not kinds[0]
    assert kinds[-1]
    assert "exact up to length" in blocks.method
    last = kinds.index(True)
    truth = gv.RandomWalkKernel(gv.Coefficients([0.0] * last + [1.0]), gv.Walk(last), method="sequences").fit_transform(
        batch
    )
    sketch = blocks.lengths[last].values.astype(float) * np.sqrt(blocks.means[last])
    size = np.sqrt(np.outer(truth.diagonal(), truth.diagonal()))
    assert np.abs((sketch @ sketch.T - truth) / size).max() < 6 * np.sqrt(3 / sketch.shape[1])
    assert blocks.lengths[last].widening == pytest.approx(1.09, abs=0.02)  # of sixteen groups
