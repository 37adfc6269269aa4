"""RandomWalkClassifier: the recipe as written down, honest selection, no leaks, and scikit-learn's manners."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
import spelling
from sklearn.model_selection import StratifiedKFold, cross_val_score

import gvoys as gv
from gvoys.errors import GvoysError, InputWarning, ParameterError
from gvoys.graphs.labels import Labels
from gvoys.kernels.base_kernels import KERNELS
from gvoys.kernels.engines import KernelMachine, LinearMachine
from gvoys.kernels.profiler import Profiler, usual_walk
from gvoys.walks import Combined, Sketch
from gvoys.walks.walk import FIELDS

BATCH = gv.datasets.molecules(90, mean_nodes=12, random_state=5)
Y = np.where(BATCH.graph_sizes > np.median(BATCH.graph_sizes), "large", "small")

MANY = gv.datasets.molecules(400, mean_nodes=12, random_state=7)
SIZES = np.where(MANY.graph_sizes > np.median(MANY.graph_sizes), "large", "small")


def quick(**how):
    return spelling.classifier(**{"refine": 1, "C": 10.0} | how)


def profiler(batch, **how):
    walk = usual_walk(
        batch, 3, **{"refine": 2, "backtrack": True} | {name: how.pop(name) for name in FIELDS if name in how}
    )
    return Profiler.fitted(batch, walk, **{"seed": 0, "method": Combined(128)} | how)


def test_the_series_is_the_weight_of_each_length():
    walk = gv.Walk(6, "node", start="ones", stop="ones")
    model = gv.RandomWalkClassifier(walk, "linear", C=10.0, method=Sketch(128)).fit(BATCH, Y)
    K = [gv.compute_gram(gv.profiles(BATCH, walk, "sketch", 128), gv.Coefficients(e)) for e in np.eye(7).tolist()]
    shares = [mu * k.diagonal().mean() for mu, k in zip(model.series_.mu, K, strict=True)]
    np.testing.assert_allclose(shares, np.ones(7), rtol=1e-3)


@pytest.mark.parametrize("y", ["ab", "aab", "aaaaab"])
def test_one_graph_of_a_class_is_enough_to_fit(y):
    """Folds would be left with a single class, so that the default is taken; probabilities cannot be calibrated."""
    graphs = BATCH[: len(y)]
    model = spelling.classifier().fit(graphs, list(y))
    assert (model.chosen_.refine, model.chosen_.kernel, model.chosen_.C) == (3, "matern12", 10.0)
    assert model.predict(graphs).shape == (len(y),)
    with pytest.raises(ParameterError, match="a class has only one graph"):
        model.predict_proba(graphs)


def test_shuffled_labels_give_chance():
    """Classes that mean nothing: the mean over folds is one half, and never above it by what selection could gain."""
    rng = np.random.default_rng(1)
    scores = []
    for seed in range(4):
        y = rng.permutation(np.arange(len(BATCH)) % 2)
        folds = StratifiedKFold(5, shuffle=True, random_state=seed)
        scores.append(cross_val_score(quick(kernel="auto"), BATCH, y, cv=folds).mean())
    error = 0.5 / np.sqrt(len(BATCH) * len(scores))
    assert abs(np.mean(scores) - 0.5) < 4 * error


def test_fitted_constants_do_not_know_the_test_graphs():
    rng = np.random.default_rng(2)
    batch = replace(BATCH, node_attributes=rng.normal(size=(BATCH.n_nodes, 2)))
    wild = gv.datasets.erdos_renyi(5, 40, 0.3)
    wild = replace(
        wild,
        node_labels=Labels.from_values(np.zeros(wild.n_nodes, int)),
        node_attributes=100 * rng.normal(size=(wild.n_nodes, 2)),
    )
    model = quick(attribute_bandwidth=0.7, n_components=64).fit(batch[:60], Y[:60])
    before = [model.profiler_.centre.copy(), model.balance_.lengths.copy(), np.array(model.kernel_.unit)]
    alone = model.decision_function(batch[60:])
    with pytest.warns(InputWarning, match="too many to count: such walks and longer ones are skipped"):
        assert np.isfinite(model.decision_function(wild)).all()
    together = [model.decision_function(batch[i]) for i in range(60, 90)]
    np.testing.assert_allclose(np.concatenate(together), alone, atol=1e-4)
    for old, new in zip(before, [model.profiler_.centre, model.balance_.lengths, model.kernel_.unit], strict=True):
        np.testing.assert_array_equal(old, new)
    np.testing.assert_allclose(model.profiler_.centre, batch[:60].node_attributes.mean(axis=0))


def labelled(graph):
    nx.set_node_attributes(graph, BATCH.node_labels.values[0], "label")
    nx.set_edge_attributes(graph, BATCH.edge_labels.values[0], "label")
    return gv.as_batch([graph])


COMPANY = [labelled(nx.complete_graph(60)), labelled(nx.star_graph(300))]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("max_exact", [20_000, 10], ids=["exact", "landmarks"])
def test_predictions_do_not_depend_on_the_company(kernel, max_exact):
    train, test = MANY[:150], MANY[150:220]
    model = quick(kernel=kernel, max_exact=max_exact).fit(train, SIZES[:150])
    expected = model.decision_function(test)
    size = np.abs(expected).max()
    alone = np.concatenate([model.decision_function(graph) for graph in test])
    backwards = model.decision_function(test[np.arange(len(test))[::-1]])[::-1]
    beside = model.decision_function(gv.GraphBatch.concatenate([*COMPANY, test]))[2:]
    for other in (alone, backwards, beside):
        np.testing.assert_allclose(other, expected, rtol=0, atol=1e-10 * size)
    np.testing.assert_array_equal(model.predict(test)[:3], np.concatenate([model.predict(g) for g in test[:3]]))


def test_attributes_are_used_where_they_help():
    rng, y = np.random.default_rng(3), np.arange(120) % 2
    batch = gv.datasets.erdos_renyi(120, 10, 0.3, random_state=1)
    noise = rng.normal(size=(batch.n_nodes, 3))
    useful = replace(batch, node_attributes=noise + 1.5 * y[batch.node_graphs()][:, None])
    with_them = cross_val_score(quick(), useful, y, cv=3).mean()
    assert with_them > 0.95 > cross_val_score(quick(attribute_bandwidth=None), useful, y, cv=3).mean()
    past_a_gram_matrix = quick(max_exact=50).fit(useful[:90], y[:90])
    assert past_a_gram_matrix.profiler_.centre is not None
    assert past_a_gram_matrix.score(useful[90:], y[90:]) > 0.9
    assert quick().partial_fit(useful, y, classes=[0, 1]).profiler_.centre is None
    idle = replace(batch, node_attributes=noise)
    model = quick().fit(idle, y)
    assert model.profiler_.centre is None
    np.testing.assert_array_equal(model.predict(batch), model.predict(idle))
    assert quick(attribute_bandwidth=0.5).fit(idle, y).profiler_.centre is not None


def test_walks_turn_back_in_denser_graphs():
    assert not profiler(BATCH, backtrack="auto").walk.backtrack
    assert profiler(gv.datasets.regular(3, 12, 4), backtrack="auto").walk.backtrack


def test_sequences_are_counted_where_they_are_few():
    """In molecules all of them, in dense graphs short ones, and none where a graph has more nodes than that."""
    assert profiler(BATCH, backtrack=False).method.name == "sequences"
    dense = gv.datasets.erdos_renyi(10, 40, 0.4)
    dense = replace(dense, node_labels=Labels.from_values(np.arange(dense.n_nodes) % 40))
    method = profiler(dense).method
    assert method.name == "combined"
    assert 3 > method.exact[0] >= method.exact[2] >= 0
    assert profiler(dense, method=Combined(4)).method.name == "sketch"
    for method in ("sequences", "sketch"):
        assert profiler(BATCH, method=method).method.name == method


@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_and_decisions(n_classes):
    edges = np.quantile(BATCH.graph_sizes, np.arange(1, n_classes) / n_classes)
    y = np.array(list("abc"))[np.digitize(BATCH.graph_sizes, edges)]
    model = quick().fit(BATCH[:60], y[:60])
    P = model.predict_proba(BATCH[60:])
    assert P.shape == (30, n_classes)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    assert model.decision_function(BATCH[60:]).shape == ((30,) if n_classes == 2 else (30, 3))
    assert set(model.predict(BATCH[60:])) <= set(y)
    likely = model.classes_[P.argmax(axis=1)]
    assert (likely == model.predict(BATCH[60:])).mean() > (0.8 if n_classes == 2 else 0.6)
    assert np.mean(-np.log(P[np.arange(30), np.searchsorted(model.classes_, y[60:])])) < np.log(n_classes)


@pytest.mark.parametrize("kernel", ["linear", "matern12"])
def test_the_nystroem_path_is_as_good(kernel):
    exact = quick(kernel=kernel).fit(MANY[:300], SIZES[:300]).score(MANY[300:], SIZES[300:])
    explicit = quick(kernel=kernel, max_exact=50).fit(MANY[:300], SIZES[:300])
    assert explicit.score(MANY[300:], SIZES[300:]) >= exact - 0.08
    P = explicit.predict_proba(MANY[300:])
    np.testing.assert_allclose(P.sum(axis=1), 1)
    np.testing.assert_array_equal(explicit.classes_[P.argmax(axis=1)], explicit.predict(MANY[300:]))


def test_partial_fit_learns_in_pieces(monkeypatch):
    monkeypatch.setattr("gvoys.estimators.classifier.N_LANDMARKS", 50)
    model = quick(kernel="linear")
    for _ in range(10):
        for begin in range(0, 300, 100):
            piece = slice(begin, begin + 100)
            model.partial_fit(MANY[piece], SIZES[piece], classes=["large", "small"])
    assert model.score(MANY[300:], SIZES[300:]) > 0.8
    with pytest.raises(ParameterError, match="one of `classes`"):
        model.partial_fit(MANY[:2], ["large", "other"])
    with pytest.raises(ParameterError, match="needs all classes"):
        quick().partial_fit(MANY[:2], SIZES[:2])
    with pytest.raises(ParameterError, match="cannot balance classes that it has not seen"):
        quick(class_weight="balanced").partial_fit(MANY[:2], SIZES[:2], classes=["large", "small"])
    assert isinstance(model.engine_, LinearMachine)
    assert isinstance(model.fit(MANY[:50], SIZES[:50]).engine_, KernelMachine)
    with pytest.raises(ParameterError, match="needs all classes"):  # it begins anew after a fit
        model.partial_fit(MANY[:2], SIZES[:2])


def test_contributions_are_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    model = quick().fit(BATCH, Y)
    assert model.contributions_.shape == (2, 7)
    assert ((model.contributions_ >= 0) & (model.contributions_ <= 1)).all()
    model.plot_contributions(tmp_path / "lengths.svg")
    assert "<svg" in (tmp_path / "lengths.svg").read_text()
    assert [file.name for file in tmp_path.iterdir()] == ["lengths.svg"]


@pytest.mark.parametrize("engine", ["kernel", "linear"])
def test_class_weights_go_by_the_names_of_classes(engine):
    """The same whatever the classes are called, and classes that are not named weigh one."""
    rare = np.arange(90) % 9 == 0
    how = {"kernel": "linear", "C": 0.01, "max_exact": 1000 if engine == "kernel" else 10}
    expected = quick(**how, class_weight={False: 1.0, True: 9.0}).fit(BATCH, rare).decision_function(BATCH)
    for names in ((1, 2), (2, 1), ("common", "rare"), ("zz", "a")):
        y = np.where(rare, names[1], names[0])
        found = quick(**how, class_weight={names[1]: 9.0}).fit(BATCH, y).decision_function(BATCH)
        np.testing.assert_allclose(found if names[0] < names[1] else -found, expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(
    ("how", "y", "message"),
    [
        ({"class_weight": {"rare": 2.0}}, Y, "which is none of the classes \\['large', 'small'\\]"),
        ({"class_weight": {"large": "much"}}, Y, "class_weight\\['large'\\] must be a positive number"),
        ({"class_weight": 3}, Y, "class_weight must be a dictionary"),
        ({}, Y[:10], "one class for each of the 90 graphs"),
        ({}, np.full(90, "a"), "all 90 graphs are of one class"),
        ({"refine": -1}, Y, 'refine must be "auto" or an integer of at least 0, not -1'),
        ({"refine": (0, 1)}, Y, 'refine must be "auto" or an integer of at least 0'),
        ({"kernel": "cubic"}, Y, "kernel must be \"auto\" or one of 'linear', 'matern12', 'matern32', 'gaussian'"),
        ({"C": 0.0}, Y, 'C must be "auto" or a positive number'),
        ({"C": (1.0, 10.0)}, Y, 'C must be "auto" or a positive number'),
        ({"labels": "colour"}, Y, 'labels must be "auto", "node"'),
        ({"n_components": 0}, Y, "n_components must be"),
        ({"max_length": -1}, Y, "max_length must be"),
        ({"attribute_bandwidth": 0.5}, Y, "no node attributes"),
        ({"backtrack": "never"}, Y, "backtrack must be True or False, not 'never'"),
        (
            {"method": "moments"},
            Y,
            "must be 'auto', 'sequences', 'sketch', or a Sketch or Combined of",
        ),
    ],
)
def test_refusals(how, y, message):
    with pytest.raises(GvoysError, match=message):
        quick(**how).fit(BATCH, y)
