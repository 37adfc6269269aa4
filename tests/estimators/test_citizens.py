"""The contract of scikit-learn, for estimators whose input is graphs and which check_estimator therefore skips."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

import gvoys as gv
from gvoys.errors import ParameterError

BATCH = gv.datasets.molecules(40, mean_nodes=10)
Y = (BATCH.graph_sizes > np.median(BATCH.graph_sizes)).astype(int)
FORMS = {"batch": BATCH, "list of batches": list(BATCH), "networkx": BATCH.to_networkx()}
ESTIMATORS = [
    gv.RandomWalkFeatures(gv.Exponential(0.1), gv.Walk(3), n_components=128),
    gv.RandomWalkFeatures(gv.Exponential(0.1), gv.Walk(3, refine=1), n_components=128, lengths="summed"),
    gv.RandomWalkFeatures(gv.Exponential(0.1), gv.Walk(3, labels=None)),
    gv.RandomWalkKernel(gv.Exponential(0.1), gv.Walk(3), normalize=True),
    gv.RandomWalkKernel(gv.Exponential(0.1), gv.Walk(3), method="sketch", n_components=256),
    gv.RandomWalkKernel(gv.Exponential(0.1), gv.Walk(3, labels=None)),
    gv.RandomWalkKernel(gv.Exponential(0.1), gv.Walk(3), method="voyagers", n_components=256),
    gv.RandomWalkFeatures(gv.Exponential(0.1), gv.Walk(3), method="voyagers", n_components=64),
    gv.GraphVoyagers(gv.Exponential(0.1), n_components=64),
    gv.OneSidedVoyagers(gv.Exponential(0.1), gv.Walk(3), n_components=64),
]
every = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: f"{type(e).__name__}-{e.method}-{e.walk}")


@parametrize_with_checks(
    [
        gv.RandomWalkKernel(),
        gv.RandomWalkFeatures(),
        gv.GraphVoyagers(),
        gv.OneSidedVoyagers(),
        gv.GraphRandomFeatures(),
        gv.RandomWalkClassifier(),
        gv.RandomWalkRegressor(),
    ]
)
def test_scikit_learn_has_no_complaint(estimator, check):
    """Those of its checks that need no array of features: parameters, tags, clones, nothing done by the constructor."""
    check(estimator)


@every
def test_parameters_clone_and_pickle(estimator):
    copy = clone(estimator)
    assert copy.get_params() == estimator.get_params()
    assert copy.set_params(n_components=32) is copy
    expected = clone(estimator).fit(BATCH[:20]).transform(BATCH[20:])
    again = pickle.loads(pickle.dumps(clone(estimator).fit(BATCH[:20])))
    np.testing.assert_array_equal(again.transform(BATCH[20:]), expected)
    assert again.get_params() == estimator.get_params()


@every
def test_init_only_stores(estimator):
    for name, value in estimator.get_params(deep=False).items():
        assert getattr(type(estimator)(**{name: value}), name) is value


@every
@pytest.mark.parametrize("form", FORMS)
def test_all_forms_of_input_agree(estimator, form):
    with pytest.raises(NotFittedError):
        clone(estimator).transform(BATCH)
    expected = clone(estimator).fit(BATCH).transform(BATCH)
    np.testing.assert_allclose(clone(estimator).fit_transform(FORMS[form], Y), expected, rtol=1e-6)


def test_summed_lengths_are_unbiased():
    pair = BATCH[:2]
    truth = gv.exact_kernel(pair[0], pair[1], gv.Exponential(0.5).truncated(3))
    values = []
    for seed in range(500):
        features = gv.RandomWalkFeatures(
            gv.Exponential(0.5), gv.Walk(3), n_components=128, lengths="summed", random_state=seed
        )
        X = features.fit_transform(pair).astype(float)
        assert X.shape == (2, 128)
        values.append(X[0] @ X[1])
    assert abs(np.mean(values) - truth) < 5 * np.std(values) / np.sqrt(len(values))


def test_random_states_that_are_not_integers():
    one, other = (gv.RandomWalkFeatures(n_components=128, random_state=None).fit_transform(BATCH[:3]) for _ in range(2))
    assert not np.array_equal(one, other)
    same = [
        gv.RandomWalkFeatures(n_components=128, random_state=np.random.RandomState(5)).fit_transform(BATCH[:3])
        for _ in range(2)
    ]
    np.testing.assert_array_equal(*same)


def test_a_progress_bar_on_request(capsys):
    gv.RandomWalkFeatures(n_components=128, verbose=True).fit_transform(BATCH)
    assert "RandomWalkFeatures" in capsys.readouterr().out
    gv.RandomWalkFeatures(n_components=128).fit_transform(BATCH)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"lengths": "all"}, 'lengths must be "stacked" or "summed"'),
        ({"method": "exact"}, "method must be 'auto' or one of 'moments', 'sequences'"),
        ({"method": "sequences", "lengths": "summed"}, "lengths='summed' needs method='sketch'"),
        ({"method": "moments", "lengths": "summed"}, "lengths='summed' needs method='sketch'"),
    ],
)
def test_refusals_of_features(how, message):
    with pytest.raises(gv.errors.GvoysError, match=message):
        gv.RandomWalkFeatures(**how).fit(BATCH)


def test_exact_sparse_features():
    how = gv.Geometric(0.1), gv.Walk(3, refine=1), "sequences"
    features, kernel = gv.RandomWalkFeatures(*how), gv.RandomWalkKernel(*how)
    known = features.fit_transform(BATCH[:15])
    np.testing.assert_allclose((known @ known.T).toarray(), kernel.fit_transform(BATCH[:15]), rtol=1e-12)
    new = features.transform(BATCH[15:])
    np.testing.assert_allclose((new @ known.T).toarray(), kernel.transform(BATCH[15:]), rtol=1e-12)
    assert new.shape[1] == known.shape[1] == features.n_features_out_ == len(set(features.get_feature_names_out()))


def test_memory_beyond_the_output_is_bounded():
    import tracemalloc

    features = gv.RandomWalkFeatures(gv.Exponential(0.1), gv.Walk(8, refine=1), n_components=512)
    batch = gv.datasets.molecules(6000, mean_nodes=20)
    features.fit(batch[:10])
    features.transform(batch[:10])
    tracemalloc.start()
    X = features.transform(batch)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak - X.nbytes < 300e6


@pytest.mark.parametrize(
    "make", [gv.RandomWalkKernel, gv.RandomWalkFeatures, gv.GraphVoyagers, gv.OneSidedVoyagers, gv.GraphRandomFeatures]
)
def test_the_default_series_is_nobodys_to_change(make):
    model = make()
    assert model.get_params()["series__decay"] == "auto"
    assert model.set_params(series__decay=0.25) is model
    assert model.series == gv.Geometric(0.25)
    assert make().series == gv.Geometric("auto")
    model.set_params(series=gv.Exponential(0.1), series__decay=0.5)
    assert model.series == gv.Exponential(0.5)
    assert clone(model).series == gv.Exponential(0.5)
    with pytest.raises(ParameterError, match="Exponential has no parameter 'rate', only decay"):
        model.set_params(series__rate=1.0)
    with pytest.raises(ParameterError, match="decay must be"):
        model.set_params(series__decay=-1.0)
