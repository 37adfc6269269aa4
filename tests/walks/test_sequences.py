"""Exact sequence counts against the definition, and their budget."""

import numpy as np
import oracles
import pytest
from pairs import KINDS, random_graph

import gvoys as gv
from gvoys import reference
from gvoys.errors import UnsupportedError
from gvoys.walks import Walk, arrays
from gvoys.walks import sequences as module


def two_graphs(kind, seed):
    rng = np.random.default_rng(seed)
    ends = [[rng.uniform(0.1, 1, n) for n in (6, 8)] for _ in range(2)]
    (g, dense_g), (h, dense_h) = (
        random_graph(rng, n, kind, density=0.3, start=ends[0][i], stop=ends[1][i]) for i, n in enumerate((6, 8))
    )
    how = {"start": np.concatenate(ends[0]), "stop": np.concatenate(ends[1]), "labels": kind.labels}
    return gv.GraphBatch.concatenate([g, h]), dense_g, dense_h, how


def kernels(P, i, j):
    return (P[i] * P[j]).sum(axis=1)


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("backtrack", [True, False])
def test_equal_the_definition(kind, backtrack):
    for seed in range(3):
        batch, g, h, how = two_graphs(kind, seed)
        P = gv.profiles(batch, "sequences", 4, backtrack=backtrack, **how)
        compute = reference.kernel_by_vec_trick if backtrack else oracles.kernel_without_backtracking
        np.testing.assert_allclose(kernels(P, 0, 1), compute(g, h, 4), rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(kernels(P, 0, 0), compute(g, g, 4), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_refined_labels(kind):
    batch, g, h, how = two_graphs(kind, 5)
    P = gv.profiles(batch, "sequences", 3, refine=2, **how)
    expected = np.zeros(4)
    for _ in range(3):
        expected += reference.kernel_by_vec_trick(g, h, 3)
        g, h = oracles.refined(g), oracles.refined(h)
    np.testing.assert_allclose(kernels(P, 0, 1), expected, rtol=1e-12, atol=1e-15)


def test_blocks_do_not_matter(monkeypatch):
    batch = gv.datasets.molecules(30, mean_nodes=10)
    whole = gv.profiles(batch, "sequences", 4)
    monkeypatch.setattr(module, "_BLOCK", 25)
    parts = gv.profiles(batch, "sequences", 4)
    np.testing.assert_array_equal(parts, whole)


def test_past_the_budget_the_sketch_is_named(monkeypatch):
    batch = gv.datasets.molecules(30)
    with pytest.raises(
        UnsupportedError, match=r"length \d take over 1,000 states \(graph \d+ alone [\d,]+\); use method='sketch'"
    ):
        module.Sequences(budget=1000).compute(batch, Walk.on(batch, 8), np.ones(len(batch)))
    assert module.Sequences().cost(Walk.on(batch, 3), batch).operations < 20_000
    dense = gv.datasets.erdos_renyi(3, 40, 0.5)
    dense = gv.GraphBatch.from_arrays(
        np.column_stack([dense.rows(), dense.columns()]), dense.graph_sizes, node_labels=np.arange(120) % 4
    )
    assert module.Sequences().cost(Walk.on(dense, 12), dense).operations == np.inf


def test_a_dense_array_has_a_limit(monkeypatch):
    monkeypatch.setattr(arrays, "_DENSE", 1000)
    with pytest.raises(UnsupportedError, match=r"use RandomWalkKernel\(method='sequences'\), which keeps them sparse"):
        gv.profiles(gv.datasets.molecules(30), "sequences", 4)


def test_attributes_are_refused():
    batch = gv.GraphBatch.from_arrays([[0, 1]], [2], node_attributes=[[1.0], [2.0]])
    with pytest.raises(UnsupportedError, match="cannot use node attributes; use method='sketch'"):
        gv.profiles(batch, "sequences", 2, attribute_bandwidth=1.0)
