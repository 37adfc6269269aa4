"""Input that can be read but is likely to be a mistake: one warning at the line that asked, never a silent guess."""

import warnings
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
import spelling

import gvoys as gv
from gvoys.errors import InputWarning, ParameterError, UnsupportedError
from gvoys.estimators.regressor import begin, finish, moments_of
from gvoys.graphs.labels import Labels

BATCH = gv.datasets.molecules(40, mean_nodes=10, random_state=3)
LARGE = BATCH.graph_sizes > np.median(BATCH.graph_sizes)
BARE = replace(BATCH, node_labels=None)
DIRECTED = gv.as_batch([g.to_directed() for g in BATCH.to_networkx()], directed=True)


def classifier(**how):
    return spelling.classifier(**{"refine": 1, "C": 10.0, "kernel": "linear"} | how)


def regressor(**how):
    return spelling.regressor(2, **{"max_iterations": 0} | how)


MAKERS = {
    "classifier": classifier,
    "classifier by landmarks": lambda **how: classifier(max_exact=10, **how),
    "regressor": regressor,
    "regressor by features": lambda **how: regressor(max_exact=10, n_components=60, **how),
}
every = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


def labelled(labels):
    """A path with these labels."""
    edges = [[i, i + 1] for i in range(len(labels) - 1)]
    return gv.GraphBatch.from_arrays(edges, [len(labels)], node_labels=labels)


def ways(model):
    """All ways to ask."""
    names = ("predict", "decision_function", "predict_proba", "predict_table")
    return [getattr(model, name) for name in names if hasattr(model, name)]


def said(ask, *args):
    """The messages of a call, each of which must name this file."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ask(*args)
    ours = [each for each in caught if issubclass(each.category, InputWarning)]
    assert all(each.filename == __file__ for each in ours)
    return [str(each.message) for each in ours]


@every
def test_graphs_like_the_fitted_ones_are_no_reason_to_warn(make):
    model = make().fit(BATCH[:30], BATCH.graph_sizes[:30] > 10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for ask in ways(model):
            ask(BATCH[:30])
            ask(BATCH[:0])


@every
def test_labels_that_no_fitted_graph_has(make):
    fitted = gv.GraphBatch.concatenate([labelled(["C", "O", "N"][: 2 + i % 2] * 2) for i in range(20)])
    model = make().fit(fitted, np.arange(20) % 2)
    odd = ("Br", False, 0)
    new = gv.GraphBatch.concatenate([labelled(["C", "O"]), labelled(["C", odd, odd]), labelled(["I", odd, "C"])])
    expected = "2 of 3 graphs have node labels that no fitted graph has (50.0 % of nodes), such as ('Br', False, 0)"
    for ask in ways(model):
        assert said(ask, new) == [expected]
    assert said(model.predict, new[:1]) == []  # its table of labels names them, and its nodes have none of them
    assert said(model.predict, new[1])[0].startswith("1 of 1 graphs has")


def test_rare_and_long_labels_are_told_shortly():
    model = regressor().fit(gv.GraphBatch.concatenate([labelled(["C"] * n) for n in range(2, 12)]), np.arange(10))
    (message,) = said(model.predict, labelled(["C"] * 2999 + ["x" * 500]))
    assert "(under 0.1 % of nodes)" in message
    assert len(message) < 200
    assert message.endswith("…")


@pytest.mark.parametrize(
    ("fitted", "new", "expected"),
    [
        (1, "1", "labels are strings such as '1', fitted ones numbers such as 1: convert them"),
        (1, "1.0", "labels are strings such as '1.0', fitted ones numbers such as 1"),
        (0.5, "0.5", "labels are strings such as '0.5', fitted ones numbers such as 0.5: convert them"),
        ("1", 1, "labels are numbers such as 1, fitted ones strings such as '1': convert them"),
        ("1", 1.0, "labels are numbers such as 1.0, fitted ones strings such as '1': convert them"),
        ("1.0", 1, "labels are numbers such as 1, fitted ones strings such as '1.0': convert them"),
        ("1", "1.0", "labels are strings such as '1.0', fitted ones strings such as '1': convert them"),
        (2**60 + 1, str(2**60 + 1), "convert them"),
        *((1, new, "such as") for new in ("C", "nan", "inf", "", ("1",), 7, None)),  # of no other type
        *((1, new, None) for new in (1.0, True)),  # equal numbers are the same labels
    ],
)
@every
def test_labels_of_another_type(make, fitted, new, expected):
    def graphs(label):
        return gv.GraphBatch.concatenate([labelled([label] * n) for n in range(2, 22)])

    model = make().fit(graphs(fitted), np.arange(20) % 2)
    if expected is None:
        assert said(model.predict, graphs(new)) == []
        return
    (message,) = said(model.predict, graphs(new))
    assert "100.0 % of nodes" in message
    assert expected in message
    assert expected == "such as" or "convert them" in message


@every
def test_labels_that_are_not_used_may_be_new(make):
    how = {"labels": None, "structure": "degree"} if "RandomWalkClassifier" in repr(make()) else {"labels": None}
    model = make(**how).fit(BATCH, LARGE)
    other = replace(BATCH, node_labels=Labels.from_values(["new"] * BATCH.n_nodes))
    assert said(model.predict, other) == said(model.predict, BARE) == []


@every
def test_directed_and_undirected(make):
    for fitted, new in ((BATCH, DIRECTED), (DIRECTED, BATCH)):
        model = make().fit(fitted, LARGE)
        expected = "these graphs are {} and the fitted ones were {}; fit on graphs like these"
        kinds = ("directed", "undirected") if new.directed else ("undirected", "directed")
        for ask in ways(model):
            assert said(ask, new) == [expected.format(*kinds)]
        assert said(model.predict, fitted) == []


@every
def test_labels_on_one_side_only(make):
    model = make().fit(BARE, LARGE)
    for ask in ways(model):
        assert said(ask, BATCH) == ["these graphs have node labels, which are ignored: the fitted graphs had none"]
    for labels, kind in (("auto", "node"), ("both", "node"), ("both", "edge"), ("edge", "edge")):
        model = make(labels=labels).fit(BATCH, LARGE)
        for ask in ways(model):
            with pytest.raises(UnsupportedError, match=f"the fitted graphs had {kind} labels and these have none; add"):
                ask(replace(BATCH, **{f"{kind}_labels": None}))
    no_edges = gv.as_batch([nx.empty_graph(0)])
    assert len(make().fit(BATCH, LARGE).predict(no_edges)) == 1


def test_a_warning_through_scikit_learn_names_the_line_that_called_it():
    from sklearn.model_selection import cross_val_score

    graphs = gv.GraphBatch.concatenate([*(labelled(["C"] * n) for n in range(2, 11)), labelled(["F", "F"])])
    found = said(lambda: cross_val_score(regressor(), graphs, np.arange(10.0), cv=5))
    assert found == ["1 of 2 graphs has node labels that no fitted graph has (16.7 % of nodes), such as 'F'"]


ATTRIBUTED = replace(BATCH, node_attributes=np.ones((BATCH.n_nodes, 2)))
BOTH = replace(ATTRIBUTED, edge_attributes=np.ones((BATCH.n_entries, 1)))


@every
def test_attributes_that_are_not_used(make):
    is_regressor = "RandomWalkRegressor" in repr(make())
    unused = "node and edge attributes are" if is_regressor else "edge attributes are"
    told = f"{unused} not used by {type(make()).__name__}; RandomWalkKernel uses them, with a bandwidth for each"
    assert said(make().fit, BOTH, LARGE) == [told]
    assert len(said(make().fit, ATTRIBUTED, LARGE)) == is_regressor


def test_pieces_know_what_models_know():
    model = classifier().partial_fit(BATCH[:20], LARGE[:20], classes=[False, True])
    begun = begin(regressor(n_components=60), BATCH, np.arange(40.0))
    finished = finish(begun, moments_of(begun, BATCH, np.arange(40.0)))
    for ask in (lambda: model.partial_fit(DIRECTED[20:], LARGE[20:]), lambda: finished.predict(DIRECTED)):
        assert said(ask)[0].startswith("these graphs are directed")
    for value in (3.0, 0.0, 0.1):
        piece = moments_of(begun, BATCH, np.full(40, value))
        assert said(finish, begun, piece.merged(piece))[0].startswith(f"all 80 targets are {value:g}")
    assert said(finish, begun, moments_of(begun, BATCH, 100 + np.arange(40.0))) == []


@pytest.mark.parametrize("value", [3.0, 0.0, 0.1])
@pytest.mark.parametrize("make", [regressor, MAKERS["regressor by features"]], ids=["grams", "features"])
def test_constant_targets(make, value):
    (message,) = said(make().fit, BATCH, np.full(40, value))
    assert message == f"all 40 targets are {value:g}, so that every prediction will be; is it the right column?"
    assert said(make().fit, BATCH, 1e9 + np.arange(40.0)) == []


def test_classes_of_a_single_graph():
    y = np.array(["many"] * 40, object)
    y[:2] = "one", "other"
    (message,) = said(classifier().fit, BATCH, y)
    assert message == (
        "classes 'one', 'other' have a single graph, so that nothing can be validated on it, "
        "and predict_proba cannot be calibrated; add graphs, or merge classes"
    )
    y[1] = "many"
    assert said(classifier().fit, BATCH, y)[0].startswith("class 'one' has a single graph")
    (message,) = said(classifier(max_exact=10).fit, BATCH, y)
    assert "predict_proba" not in message  # logistic regression has probabilities of its own
    (message,) = said(classifier().fit, BATCH[:20], np.r_[np.arange(19), 0])
    assert message.startswith("classes 1, 2, 3, 4, 5 and 13 more have")


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_classes_that_are_missing_or_mixed(missing):
    y = LARGE.astype(object)
    y[7] = missing
    with pytest.raises(ParameterError, match=r"y has no class for graph 7: it is .*; leave such"):
        classifier().fit(BATCH, y)
    y[7] = "a"
    with pytest.raises(ParameterError, match="y mixes classes of types bool, str; convert them to one"):
        classifier().fit(BATCH, y)
