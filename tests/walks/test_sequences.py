"""Exact sequence counts against the definition, and their budget."""

from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import oracles
import pytest
import scipy.sparse
from pairs import KINDS, random_graph

import gvoys as gv
from gvoys import reference
from gvoys._compiled.cuda.products_cuda import summed_products
from gvoys.errors import InputWarning, UnsupportedError
from gvoys.graphs.labels import Labels, combine_hashes, hash_integers, hash_label
from gvoys.threads import threads
from gvoys.walks import Sequences, Walk
from gvoys.walks import methods as arrays
from gvoys.walks import sequences as module
from gvoys.walks import sparse_products as products


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
        P = gv.profiles(batch, Walk(4, backtrack=backtrack, **how), "sequences")
        compute = reference.kernel_by_vec_trick if backtrack else oracles.kernel_without_backtracking
        np.testing.assert_allclose(kernels(P, 0, 1), compute(g, h, 4), rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(kernels(P, 0, 0), compute(g, g, 4), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_refined_labels(kind):
    batch, g, h, how = two_graphs(kind, 5)
    P = gv.profiles(batch, Walk(3, refine=2, **how), "sequences")
    expected = np.zeros(4)
    for _ in range(3):
        expected += reference.kernel_by_vec_trick(g, h, 3)
        g, h = oracles.refined(g), oracles.refined(h)
    np.testing.assert_allclose(kernels(P, 0, 1), expected, rtol=1e-12, atol=1e-15)


def test_keys_are_hashes_of_the_labels():
    """So that graphs profiled anywhere agree: the last label first, then each edge and the label before it."""
    labels = gv.GraphBatch.from_arrays([[0, 1], [1, 2]], [3], ["a", "b", "c"], [7, 8])
    profiles = module.Sequences().profile(labels, Walk(2, "both", start="ones", stop="ones"))
    a, b, c = (np.uint64([hash_label(name)]) for name in "abc")
    ab, bc = (np.uint64([hash_label(value)]) for value in (7, 8))
    expected = hash_integers(c)
    for edge, node in ((bc, b), (ab, a)):
        expected = combine_hashes(combine_hashes(expected, edge), node)
    assert expected[0] in profiles.blocks[0][2].keys


@pytest.mark.parametrize("heavy", [0.0, 0.1, 2.0], ids=["all by BLAS", "both", "none by BLAS"])
def test_gram_matrices_of_sparse_features(heavy, monkeypatch):
    monkeypatch.setattr(products, "_LARGEST_DENSE", 0)
    monkeypatch.setattr(products, "_HEAVY_SHARE", heavy)
    batch = gv.datasets.molecules(70, mean_nodes=12)
    profiles = module.Sequences().profile(batch, Walk(3, refine=1))
    mu = np.array([1.0, 0.5, 0.25, 0.125])
    X = profiles.features(mu).toarray()
    np.testing.assert_allclose(profiles.gram(mu), X @ X.T, rtol=1e-12)
    new = module.Sequences().profile(batch[40:45], Walk(3, refine=1))
    np.testing.assert_allclose(new.gram(mu, profiles), (X @ X.T)[40:45], rtol=1e-12)
    few = profiles.take(np.arange(20))
    np.testing.assert_allclose(profiles.gram(mu, few), (X @ X.T)[:, :20], rtol=1e-12)
    with threads(1):
        alone = profiles.take(np.arange(70)).gram(mu)
    np.testing.assert_array_equal(profiles.take(np.arange(70)).gram(mu), alone)


def test_products_on_a_device_are_the_same(monkeypatch):
    """The GPU's way, with NumPy in CuPy's place, and matrices so small that columns come in pieces."""
    monkeypatch.setattr("gvoys._compiled.cuda.products_cuda.MOST_NUMBERS", 700)
    on_device = partial(summed_products, xp=np, sparse=scipy.sparse)
    monkeypatch.setattr(products, "backend", lambda device: SimpleNamespace(products=on_device))
    batch = gv.datasets.molecules(70, mean_nodes=12)
    profiles = module.Sequences().profile(batch, Walk(3, refine=1))
    new, mu = profiles.take(np.arange(9)), np.array([1.0, 0.5, 0.25, 0.125])
    expected = profiles.gram(mu), new.gram(mu, profiles), profiles.grams()
    with products.products_on("cuda"):
        found = profiles.gram(mu), new.gram(mu, profiles), profiles.grams()
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_past_the_budget_the_sketch_is_named(monkeypatch):
    batch = gv.datasets.molecules(30)
    with pytest.raises(
        UnsupportedError, match=r"length \d take over 1,000 states \(graph \d+ alone [\d,]+\); use method='sketch'"
    ):
        module.Sequences(budget=1000).compute(batch, Walk(8), np.ones(len(batch)))
    assert module.Sequences().cost(Walk(3), batch).operations < 20_000
    dense = gv.datasets.erdos_renyi(3, 40, 0.5)
    dense = gv.GraphBatch.from_arrays(
        np.column_stack([dense.rows(), dense.columns()]), dense.graph_sizes, node_labels=np.arange(120) % 4
    )
    assert module.Sequences().cost(Walk(12), dense).operations == np.inf


def test_a_dense_array_has_a_limit(monkeypatch):
    monkeypatch.setattr(arrays, "_LARGEST_DENSE", 1000)
    with pytest.raises(UnsupportedError, match=r"use RandomWalkKernel\(method='sequences'\), which keeps them sparse"):
        gv.profiles(gv.datasets.molecules(30), gv.Walk(4), method="sequences")


def test_a_graph_with_too_many_sequences_keeps_its_short_walks():
    few, many = gv.datasets.molecules(6, mean_nodes=8), gv.datasets.erdos_renyi(1, 30, 0.6)
    many = replace(many, node_labels=Labels.from_values(np.arange(30)), edge_labels=None)
    batch = gv.GraphBatch.concatenate([replace(few[:3], edge_labels=None), many, replace(few[3:], edge_labels=None)])
    walk = Walk(4, "node")
    with pytest.warns(InputWarning, match="graph 3 has [0-9,]+ label sequences of length 3, too many to count"):
        found = Sequences(per_graph=20_000).profile(batch, walk)
    expected = Sequences(budget=10**9).profile(batch, walk)
    for i in range(5):
        ours, theirs = found.block(0, i).sum(axis=1), expected.block(0, i).sum(axis=1)
        np.testing.assert_array_equal(np.delete(ours, 3), np.delete(theirs, 3))
        assert ours[3] == (theirs[3] if i < 3 else 0)
