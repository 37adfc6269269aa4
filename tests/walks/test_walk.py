"""Walk: immutable, a citizen of scikit-learn, checked at the latest where it is used; what 0.2 spelled otherwise."""

import inspect
import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from sklearn.base import clone

import gvoys as gv
from gvoys.apps.scale.job import Parameters
from gvoys.errors import ParameterError, UnsupportedError
from gvoys.walks import Moments, SampledWalks, Sequences, Sketch

BATCH = gv.datasets.molecules(20, mean_nodes=8)
Y = BATCH.graph_sizes > np.median(BATCH.graph_sizes)
WEIGHTS = np.linspace(0.1, 1.0, BATCH.n_nodes)


def test_it_is_immutable():
    walk = gv.Walk(4, structure=("core", "ball1"))
    changed = walk.set_params(refine=2, start="ones")
    assert (walk.refine, changed.refine, changed.structure) == (0, 2, ("core", "ball1"))
    with pytest.raises(FrozenInstanceError):
        walk.refine = 1
    with pytest.raises(ParameterError, match="Walk has no parameter 'rounds', only max_length, labels, refine"):
        walk.set_params(rounds=1)


@pytest.mark.parametrize(
    ("walk", "text"),
    [
        (gv.Walk(), "Walk()"),
        (gv.Walk(6, refine=0), "Walk()"),
        (gv.Walk(None, None, structure="core"), "Walk(max_length=None, labels=None, structure='core')"),
        (gv.Walk(start=[0.5, 1.0]), "Walk(start=[0.5, 1.0])"),
    ],
)
def test_it_shows_what_is_not_the_default(walk, text):
    assert repr(walk) == text
    assert pickle.loads(pickle.dumps(walk)) == walk == clone(walk)
    assert hash(walk) == hash(clone(walk))


def test_weights_are_compared_as_numbers():
    one, same, other = (gv.Walk(start=values) for values in (WEIGHTS, WEIGHTS.copy(), 2 * WEIGHTS))
    assert one == same != other
    assert len({one, same, other, gv.Walk(start=WEIGHTS.tolist())}) == 2
    assert one != "uniform"


MODELS = [gv.RandomWalkKernel, gv.RandomWalkFeatures, gv.OneSidedVoyagers, gv.RandomWalkClassifier]


@pytest.mark.parametrize("make", [*MODELS, gv.RandomWalkRegressor])
def test_its_fields_are_parameters_of_estimators(make):
    model = make(walk=gv.Walk(3))
    assert model.get_params()["walk__max_length"] == 3
    assert model.set_params(walk__refine=2, walk__max_length=None) is model
    assert model.walk == gv.Walk(None, refine=2) == clone(model).walk
    assert make().walk in (gv.Walk(), "auto")
    assert inspect.signature(make).parameters["walk"].default == make().walk
    assert len(inspect.signature(make).parameters) <= 10
    with pytest.raises(ParameterError, match="Walk has no parameter 'length'"):
        model.set_params(walk__length=3)
    with pytest.raises(TypeError, match=r"has no parameter refine; write set_params\(walk__refine=…\)"):
        model.set_params(refine=1)
    fitted = pickle.loads(pickle.dumps(make(walk=gv.Walk(2)).fit(BATCH, Y)))
    assert fitted.walk_.max_length == 2


@pytest.mark.parametrize("value", [4, "sketch", None, {"max_length": 4}])
@pytest.mark.parametrize(
    "call",
    [
        lambda walk: gv.profiles(BATCH, walk),
        lambda walk: gv.RandomWalkKernel(walk=walk).fit(BATCH),
        lambda walk: gv.RandomWalkFeatures(walk=walk).fit(BATCH),
        lambda walk: gv.RandomWalkClassifier(walk).fit(BATCH, Y),
        lambda walk: gv.RandomWalkRegressor(walk).fit(BATCH, Y),
        lambda walk: gv.estimate(BATCH[0], BATCH[1], gv.Geometric(0.01), walk),
        lambda walk: gv.exact_kernel(BATCH[0], BATCH[1], gv.Geometric(0.01), walk),
        lambda walk: gv.compare(BATCH[0], BATCH[1], walk=walk),
        lambda walk: gv.learn_series(BATCH, Y, walk=walk),
    ],
)
def test_what_is_no_walk(call, value):
    with pytest.raises(ParameterError, match=r"walk must be a gv.Walk, such as gv.Walk\(max_length=4\), not "):
        call(value)


def test_infinite_walks_need_a_series():
    with pytest.raises(ParameterError, match="max_length"):
        gv.profiles(BATCH, gv.Walk(None))
    for method in (Sequences(), Sketch(), Moments(), SampledWalks()):
        with pytest.raises(ParameterError, match="max_length=None is for the infinite series"):
            method.profile(BATCH, gv.Walk(None))
    with pytest.raises(UnsupportedError, match="'closed' labels nodes by walks up to max_length, which is None"):
        gv.exact_kernel(BATCH[0], BATCH[1], gv.Geometric(1e-3), gv.Walk(None, structure="closed"))


PAIR = BATCH[0], BATCH[1], gv.Geometric(0.1)
OLD = [
    (gv.RandomWalkKernel, (), {"max_length": 4, "refine": 2}, "max_length; write walk=gv.Walk(max_length=4, refine=2)"),
    (gv.RandomWalkFeatures, (), {"labels": None}, "labels; write walk=gv.Walk(labels=None)"),
    (gv.profiles, (BATCH,), {"start": "ones"}, "start; write walk=gv.Walk(start='ones')"),
    (gv.exact_kernel, PAIR, {"labels": "node"}, "labels; write walk=gv.Walk(labels='node')"),
    (gv.estimate, PAIR, {"backtrack": False, "rtol": 0.1}, "backtrack; write walk=gv.Walk(backtrack=False)"),
    (gv.estimate_on_product, PAIR, {"stop": "ones"}, "stop; write walk=gv.Walk(stop='ones')"),
    (gv.compare, ("CC", "CO"), {"max_length": 2}, "max_length; write walk=gv.Walk(max_length=2)"),
    (gv.learn_series, (BATCH, Y), {"refine": 1}, "refine; write walk=gv.Walk(refine=1)"),
    (gv.explore.explore, (BATCH, "page.html"), {"max_length": 3}, "max_length; write walk=gv.Walk(max_length=3)"),
    (gv.OneSidedVoyagers, (), {"max_length": 3}, "max_length; write walk=gv.Walk(max_length=3)"),
    (gv.GraphVoyagers, (), {"replicate": 1}, "replicate; write set_params(replicate=…) after the constructor"),
    (gv.RandomWalkClassifier, (), {"backtrack": False}, "backtrack; write walk=gv.Walk(backtrack=False)"),
    (gv.RandomWalkClassifier, (), {"n_components": 64}, "n_components; write method=gvoys.walks.Combined("),
    (gv.RandomWalkRegressor, (), {"learn": False}, "learn; write max_iterations=0 for learn=False"),
    (Parameters, (), {"refine": 1}, "refine; write walk=gv.Walk(refine=1)"),
    (gv.RandomWalkKernel, (), {"colour": 1}, "colour"),
]


@pytest.mark.parametrize(("function", "arguments", "options", "message"), OLD)
def test_what_version_02_wrote_says_how_it_is_written_now(function, arguments, options, message):
    with pytest.raises(TypeError) as raised:
        function(*arguments, **options)
    assert str(raised.value).startswith(f"{function.__name__} has no parameter {message}")
