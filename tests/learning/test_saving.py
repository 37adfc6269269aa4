"""Models as files: the same predictions after loading; whatever is in a file, one sentence and no code that runs."""

import io
import json
import pickle
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import gvoys as gv
from gvoys.errors import ModelError, ParameterError
from gvoys.io.container import read_container, write_container

BATCH = gv.datasets.molecules(60, mean_nodes=12, random_state=5)
NEW = gv.datasets.molecules(20, mean_nodes=12, random_state=6)
SIZES = BATCH.graph_sizes
TWO = np.where(np.median(SIZES) < SIZES, "large", "small")
THREE = np.digitize(SIZES, np.quantile(SIZES, [0.33, 0.66])) + 5


def with_attributes(batch):
    return replace(batch, node_attributes=np.random.default_rng(3).normal(size=(batch.n_nodes, 2)))


def classifier(**how):
    return gv.RandomWalkClassifier(**{"refine": 1, "C": 10.0, "n_components": 128} | how)


def streamed():
    model = classifier(kernel="linear", n_landmarks=30)
    for rows in (slice(0, 30), slice(30, 60)):
        model.partial_fit(BATCH[rows], THREE[rows], classes=[5, 6, 7])
    return model


MODELS = {
    "two classes": lambda: classifier().fit(BATCH, TWO),
    "everything chosen": lambda: gv.RandomWalkClassifier(n_components=128, cv=2).fit(BATCH, TWO),
    "three classes": lambda: classifier(labels="both").fit(BATCH, THREE),
    "classes as objects": lambda: classifier().fit(BATCH, TWO.astype(object)),
    "weights of classes": lambda: classifier(class_weight={"large": 3.0}).fit(BATCH, TWO),
    "a random state": lambda: classifier(random_state=np.random.RandomState(3)).fit(BATCH, TWO),
    "landmarks": lambda: classifier(max_exact=10, n_landmarks=30).fit(BATCH, THREE),
    "in pieces": streamed,
    "attributes": lambda: classifier(attribute_bandwidth=0.7).fit(with_attributes(BATCH), TWO),
    "numbers": lambda: gv.RandomWalkRegressor(3).fit(BATCH, SIZES),
    "numbers by several labels": lambda: gv.RandomWalkRegressor(2, labels=("node", "both", None), refine=1).fit(
        BATCH, SIZES
    ),
    "numbers by features": lambda: gv.RandomWalkRegressor(2, max_exact=10, n_components=64).fit(BATCH, SIZES),
}


def answers(model, graphs):
    if isinstance(model, gv.RandomWalkRegressor):
        return np.column_stack(model.predict(graphs, return_std=True))
    return np.column_stack([model.decision_function(graphs), model.predict_proba(graphs)])


@pytest.mark.parametrize("name", MODELS)
def test_the_same_predictions(name, tmp_path):
    model, file = MODELS[name](), tmp_path / "model.gvoys"
    new = with_attributes(NEW) if name == "attributes" else NEW
    model.save(file)
    loaded = gv.load_model(file)
    np.testing.assert_allclose(answers(loaded, new), answers(model, new), rtol=1e-12)
    alone = np.concatenate([answers(loaded, new[[i]]) for i in range(len(new))])
    np.testing.assert_allclose(alone, answers(model, new), rtol=1e-10, atol=1e-10)
    np.testing.assert_array_equal(loaded.predict(new), model.predict(new))
    if isinstance(model, gv.RandomWalkClassifier):
        assert loaded.classes_.tolist() == model.classes_.tolist()
        assert loaded.chosen_.kernel == model.chosen_.kernel
    assert repr(loaded) == repr(model) or name == "a random state"
    again = tmp_path / "again.gvoys"
    loaded.save(again)
    assert again.read_bytes() == file.read_bytes()


@pytest.mark.parametrize("name", ["landmarks", "in pieces", "numbers", "numbers by features"])
def test_labels_of_all_fitted_graphs_are_known(name):
    """Also those that only the last of many graphs has."""
    found = MODELS[name]().unseen_labels(BATCH)
    np.testing.assert_array_equal(found, 0.0)


def test_labels_that_only_a_late_graph_has(monkeypatch):
    odd = gv.GraphBatch.from_arrays([[0, 1]], [2], node_labels=["odd", "odd"])
    plain = gv.GraphBatch.from_arrays([[0, 1]] * 1, [2], node_labels=["C", "O"])
    graphs, y = gv.GraphBatch.concatenate([plain] * 20 + [odd]), np.arange(21.0)
    monkeypatch.setattr("gvoys.estimators.regressor._BLOCK", 10)
    many = gv.RandomWalkRegressor(1, max_exact=5, n_components=16).fit(graphs, y)
    pieces = classifier(kernel="linear", n_landmarks=10)
    for rows in (slice(0, 12), slice(12, 21)):
        pieces.partial_fit(graphs[rows], y[rows] % 2, classes=[0, 1])
    new = gv.GraphBatch.from_arrays([[0, 1]], [2], node_labels=["odd", "new"])
    for model in (many, pieces):
        assert model.unseen_labels(new).tolist() == [0.5]
    fewer = pieces.fit(graphs[:20], np.arange(20) % 2)  # what an earlier fit had seen is forgotten
    assert fewer.unseen_labels(new).tolist() == [1.0]


def test_a_loaded_model_can_be_fitted_again_and_pickled(tmp_path):
    streamed().save(tmp_path / "m")
    loaded = gv.load_model(tmp_path / "m")
    with pytest.raises(ParameterError, match="needs all classes"):  # it predicts, and begins anew
        loaded.partial_fit(BATCH[:5], THREE[:5])
    loaded.partial_fit(BATCH, THREE, classes=[5, 6, 7])
    assert isinstance(pickle.loads(pickle.dumps(loaded)).predict(NEW), np.ndarray)


def test_what_stands_in_a_file(tmp_path):
    classifier().fit(BATCH, TWO).save(tmp_path / "m")
    content = read_container(tmp_path / "m")
    assert content["model"] == "RandomWalkClassifier"
    assert content["packages"].keys() == {"python", "gvoys", "numpy", "scipy", "numba", "scikit-learn"}
    assert content["parameters"]["C"] == 10.0


def test_what_cannot_be_saved(tmp_path):
    with pytest.raises(NotFittedError):
        classifier().save(tmp_path / "m")
    model = classifier().fit(BATCH, TWO)
    with pytest.raises(ParameterError, match="there is no folder"):
        model.save(tmp_path / "none" / "m")
    model.set_params(labels=lambda: 0)
    with pytest.raises(ParameterError, match="the model's labels is a function"):
        model.save(tmp_path / "m")
    assert not list(tmp_path.iterdir())


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    file = tmp_path_factory.mktemp("models") / "m.gvoys"
    classifier(n_components=16).fit(BATCH, TWO).save(file)
    return file


def test_any_damage_is_noticed(saved, tmp_path):
    whole, expected = saved.read_bytes(), answers(gv.load_model(saved), NEW)
    rng, refused = np.random.default_rng(0), 0
    for _ in range(200):
        data = bytearray(whole)
        place = rng.integers(len(data))
        match rng.integers(4):
            case 0:
                data[place] ^= 1 << rng.integers(8)
            case 1:
                del data[place : place + rng.integers(1, 50)]
            case 2:
                data = data[:place]
            case 3:
                data[place : place + 8] = rng.bytes(8)
        (tmp_path / "m").write_bytes(data)
        try:
            found = answers(gv.load_model(tmp_path / "m"), NEW)
        except ModelError as error:
            refused += "\n" not in str(error)
            continue
        np.testing.assert_array_equal(found, expected)  # what changed was no part of the model
    assert refused > 150


def rewrite(saved, path, change):
    """The same file with other content, and digests that fit."""
    content = read_container(saved)
    change(content)
    write_container(path, content)


HOSTILE = {
    "another model": lambda content: content.update(model="SVC"),
    "no model": lambda content: content.pop("model"),
    "another class": lambda content: content["fitted"]["balance_"].update({"is": "Popen"}),
    "another part": lambda content: content["fitted"]["balance_"].update(args=["true"]),
    "a method": lambda content: content["fitted"].update(predict="x"),
    "a private name": lambda content: content["fitted"].update(__class__="x"),
    "a parameter": lambda content: content["parameters"].update(shell=True),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_file_that_says_something_else(name, saved, tmp_path):
    rewrite(saved, tmp_path / "m", HOSTILE[name])
    with pytest.raises(ModelError, match="holds no model that this version of gvoys knows"):
        gv.load_model(tmp_path / "m")


def remade(saved, path, **members):
    """A zip with some members replaced, by bytes or by what a function makes of them."""
    with zipfile.ZipFile(saved) as old, zipfile.ZipFile(path, "w", members.pop("how", zipfile.ZIP_STORED)) as new:
        for name in old.namelist():
            made = members.get(name.split(".")[0])
            new.writestr(name, old.read(name) if made is None else made(old.read(name)))


def test_newer_compressed_or_pickled(saved, tmp_path):
    def newer(text):
        return json.dumps(json.loads(text) | {"version": 99}).encode()

    import hashlib

    with zipfile.ZipFile(saved) as file:
        digest = hashlib.sha256(newer(file.read("model.json"))).hexdigest().encode()
    remade(saved, tmp_path / "m", model=newer, sha256=lambda _: digest)
    with pytest.raises(ModelError, match="written by a newer version"):
        gv.load_model(tmp_path / "m")
    remade(saved, tmp_path / "m", how=zipfile.ZIP_DEFLATED)
    with pytest.raises(ModelError, match="damaged or no model file"):
        gv.load_model(tmp_path / "m")
    for name in ("arrays/0", "model"):  # with the zip's own checksums made to fit
        remade(saved, tmp_path / "m", **{name: lambda data: data[:-3] + bytes([data[-3] ^ 1]) + data[-2:]})
        with pytest.raises(ModelError, match="damaged or no model file"):
            gv.load_model(tmp_path / "m")
    held = io.BytesIO()
    np.lib.format.write_array(held, np.array([print], object), allow_pickle=True)
    rewrite(saved, tmp_path / "n", lambda content: None)
    remade(tmp_path / "n", tmp_path / "m", **{"arrays/0": lambda _: held.getvalue()})
    with pytest.raises(ModelError, match="damaged or no model file"):
        gv.load_model(tmp_path / "m")


@pytest.mark.parametrize("content", [b"", b"PK", b"no zip at all"])
def test_no_model_file(content, tmp_path):
    (tmp_path / "m").write_bytes(content)
    with pytest.raises(ModelError, match="damaged or no model file"):
        gv.load_model(tmp_path / "m")
    with pytest.raises(ModelError, match="there is no model file"):
        gv.load_model(tmp_path / "none")
