"""transform of learners: dot products are the model's kernel, exactly or in expectation, for each graph alone."""

from dataclasses import replace

import numpy as np
import pytest
import spelling

import gvoys as gv
from gvoys.kernels.profiler import hash_blocks

BATCH = gv.datasets.molecules(90, mean_nodes=12, random_state=5)
NEW = gv.datasets.molecules(25, mean_nodes=14, random_state=6)
NOISE = np.random.default_rng(0).normal(size=len(BATCH))
Y = 0.2 * BATCH.graph_sizes + NOISE
CLASSES = np.median(Y) < Y


def classifier(**how):
    return spelling.classifier(**{"refine": 1, "C": 10.0, "kernel": "linear"} | how)


def regressor(**how):
    return spelling.regressor(
        3, **{"kernel": "linear", "labels": ("node", "both"), "refine": 1, "n_components": 256} | how
    )


MODELS = {
    "classes": lambda: classifier(method="sketch").fit(BATCH, CLASSES),
    "counted": lambda: classifier(method="sequences").fit(BATCH, CLASSES),
    "landmarks": lambda: classifier(max_exact=20).fit(BATCH, CLASSES),
    "degrees": lambda: classifier(labels=None, structure="degree", backtrack=True).fit(BATCH, CLASSES),
    "exact": lambda: regressor().fit(BATCH, Y),
    "all alike": lambda: regressor(max_iterations=0).fit(BATCH, Y),
    "features": lambda: regressor(max_exact=20).fit(BATCH, Y),
}


def products(features):
    features = features.astype(float)
    return features @ features.T


@pytest.mark.parametrize("name", MODELS)
def test_features_of_a_graph_do_not_depend_on_the_others(name, tmp_path):
    model = MODELS[name]()
    features = model.transform(NEW)
    assert features.dtype == np.float32
    assert model.transform(NEW[:0]).shape == (0, features.shape[1])
    alone = np.concatenate([model.transform(NEW[[i]]) for i in range(len(NEW))])
    np.testing.assert_array_equal(alone, features)
    np.testing.assert_array_equal(model.transform(NEW[::-1]), features[::-1])
    model.save(tmp_path / "m")
    np.testing.assert_array_equal(gv.load_model(tmp_path / "m").transform(NEW), features)


def test_the_kernel_in_feature_space():
    """The posterior mean is linear in the features."""
    model = MODELS["features"]()
    mean = model.transform(NEW).astype(float) @ model.posterior_.weights
    np.testing.assert_allclose(model.mean_ + model.deviation_ * mean, model.predict(NEW), rtol=1e-5)


def kernel_of(model, graphs):
    return np.tensordot(model.mu_, model.walks_.grams(model.walks_.profile(graphs)), axes=1)


@pytest.mark.parametrize("name", ["all alike"])
@pytest.mark.parametrize(("width", "n_seeds"), [(3, 200), (16, 150), (64, 100)])
def test_hashed_counts_are_unbiased(name, width, n_seeds):
    """|z| < 5 for every pair and the diagonal, and the spread is within what the docstring says."""
    model, graphs = MODELS[name]().set_params(n_components=width), NEW[:12]
    K, profiles = kernel_of(model, graphs), model.walks_.profile(graphs)

    def hashed(seed):
        return hash_blocks(replace(model.walks_, seed=seed), profiles, model.mu_, width)

    np.testing.assert_array_equal(model.transform(graphs), hashed(model.walks_.seed).astype(np.float32))
    drawn = [products(hashed(seed)) for seed in range(n_seeds)]
    spread = np.std(drawn, axis=0, ddof=1)
    z = (np.mean(drawn, axis=0) - K) / (spread / np.sqrt(n_seeds))
    assert np.abs(z).max() < 5
    size = np.outer(np.sqrt(K.diagonal()), np.sqrt(K.diagonal()))
    used = width // min(4, width) * min(4, width)
    bound = np.sqrt((size**2 + K**2) / used)
    assert (spread < 1.3 * bound).all()  # the spread itself is an estimate
    assert (spread < 1.3 * np.sqrt(2 / used) * size).all()
    assert spread.mean() > 0.3 * bound.mean()  # or nothing is hashed at all
