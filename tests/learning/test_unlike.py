"""The column "unlike": rare for graphs like the fitted ones, and set for others."""

from dataclasses import replace

import numpy as np
import pytest
import spelling

import gvoys as gv
from gvoys.graphs.labels import Labels
from gvoys.kernels.inputs import similarity_floor


def regressor(**how):
    return spelling.regressor(2, labels="node", max_iterations=10, **how)


def classifier(**how):
    return spelling.classifier(3, **{"refine": 1, "kernel": "matern12", "C": 10.0} | how)


MODELS = {"numbers": regressor, "classes": classifier}


def fitted(make, graphs, **how):
    sizes = graphs.graph_sizes
    model = make(**how)
    return model.fit(graphs, sizes if isinstance(model, gv.RandomWalkRegressor) else np.median(sizes) < sizes)


def cosines(left, right):
    left, right = (each / np.linalg.norm(each, axis=1, keepdims=True) for each in (left, right))
    return left @ right.T


@pytest.mark.parametrize("copies", [1, 2])
def test_one_new_vector_in_a_hundred_is_below_the_floor(copies):
    """Over draws of the fitted ones too: k / (n + 1) at most, and not much less; copies of vectors change nothing."""
    rng, below = np.random.default_rng(0), []
    for _ in range(300):
        vectors, new = rng.normal(size=(199, 6)), rng.normal(size=(50, 6))
        many = np.repeat(vectors, copies, axis=0)
        floor = similarity_floor(many @ many.T)
        below.append((cosines(new, vectors).max(axis=1) < floor).mean())
    error = np.std(below) / np.sqrt(len(below))
    assert 0.006 < np.mean(below) < 2 / 200 + 4 * error


@pytest.mark.parametrize("kind", MODELS)
def test_graphs_like_the_fitted_ones_are_rarely_flagged(kind):
    shares = []
    for seed in range(4):
        graphs = gv.datasets.molecules(600, mean_nodes=12, n_labels=4, random_state=seed)
        table = fitted(MODELS[kind], graphs[:200]).predict_table(graphs[200:])
        assert table["unlike"].dtype == bool
        assert not table["unseen"].any()
        shares.append(table["unlike"].mean())
    assert 0.001 < np.mean(shares) < 0.02


@pytest.mark.parametrize("kind", MODELS)
def test_graphs_of_another_kind_are(kind, tmp_path):
    graphs = gv.datasets.molecules(300, mean_nodes=12, n_labels=4, random_state=1)
    model = fitted(MODELS[kind], graphs)
    model.save(tmp_path / "m")
    model = gv.load_model(tmp_path / "m")
    dense = gv.datasets.erdos_renyi(20, 12, 0.9)
    labels = np.resize(graphs.node_labels.values, dense.n_nodes)  # seen, but in other walks
    other = replace(dense, node_labels=Labels.from_values(labels))
    table = model.predict_table(other)
    assert not table["unseen"].any()
    assert table["unlike"].mean() > 0.9
    copies = model.predict_table(graphs)
    assert not copies["unlike"].any()
    empty = gv.GraphBatch.from_arrays([], [0])
    assert model.predict_table(empty)["unlike"].all()
    assert model.predict_table(graphs[:0])["unlike"].shape == (0,)


@pytest.mark.parametrize("kind", MODELS)
def test_unseen_labels_alone_where_fitted_graphs_are_not_kept(kind, tmp_path):
    graphs = gv.datasets.molecules(60, mean_nodes=12, n_labels=4, random_state=1)
    model = fitted(MODELS[kind], graphs, max_exact=20)
    assert model.similarity_floor_ is None
    new = gv.GraphBatch.from_arrays([[0, 1]], [2], node_labels=[graphs.node_labels.values[0], "new"])
    assert model.predict_table(new)["unlike"].tolist() == [True]
    assert not model.predict_table(graphs)["unlike"].any()


def test_a_floor_of_an_earlier_fit_is_forgotten():
    graphs = gv.datasets.molecules(60, mean_nodes=12, random_state=1)
    for make in MODELS.values():
        model = fitted(make, graphs)
        assert model.similarity_floor_ is not None
        assert fitted(lambda model=model: model.set_params(max_exact=20), graphs).similarity_floor_ is None
    model = fitted(classifier, graphs)
    model.partial_fit(graphs, graphs.graph_sizes > 12, classes=[False, True])
    assert model.similarity_floor_ is None
