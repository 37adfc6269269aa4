"""Models as files: the same predictions after loading; whatever is in a file, one sentence and no code that runs."""

import io
import json
import pickle
import zipfile
from dataclasses import replace

import numpy as np
import pytest
import spelling
from model_files import ModelFile
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
    return spelling.classifier(**{"refine": 1, "C": 10.0} | how)


def streamed():
    model = classifier(kernel="linear")
    for rows in (slice(0, 30), slice(30, 60)):
        model.partial_fit(BATCH[rows], THREE[rows], classes=[5, 6, 7])
    return model


MODELS = {
    "two classes": lambda: classifier().fit(BATCH, TWO),
    "everything chosen": lambda: spelling.classifier().fit(BATCH, TWO),
    "three classes": lambda: classifier(labels="both").fit(BATCH, THREE),
    "classes as objects": lambda: classifier().fit(BATCH, TWO.astype(object)),
    "weights of classes": lambda: classifier(class_weight={"large": 3.0}).fit(BATCH, TWO),
    "a random state": lambda: classifier(random_state=np.random.RandomState(3)).fit(BATCH, TWO),
    "landmarks": lambda: classifier(max_exact=10).fit(BATCH, THREE),
    "in pieces": streamed,
    "attributes": lambda: classifier(attribute_bandwidth=0.7).fit(with_attributes(BATCH), TWO),
    "numbers": lambda: spelling.regressor(3).fit(BATCH, SIZES),
    "numbers by several labels": lambda: spelling.regressor(2, labels=("node", "both", None), refine=1).fit(
        BATCH, SIZES
    ),
    "numbers by features": lambda: spelling.regressor(2, max_exact=10, n_components=64).fit(BATCH, SIZES),
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
    many = spelling.regressor(1, max_exact=5, n_components=16).fit(graphs, y)
    pieces = classifier(kernel="linear")
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
    model.set_params(kernel=lambda: 0)
    with pytest.raises(ParameterError, match="the model's kernel is a function"):
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


WRONG = {
    "an array that is not there": lambda file: file.about["content"]["fitted"].update(kernel_={"array": 10**30}),
    "an array by a flag": lambda file: file.about["content"]["fitted"].update(kernel_={"array": True}),
    "an array twice": lambda file: file.about["content"].update(more={"array": 0}),
    "an array that nobody wants": lambda file: file.arrays.append(np.zeros(3)),
    "version 0": lambda file: file.about.update(version=0),
    "version -1": lambda file: file.about.update(version=-1),
    "version true": lambda file: file.about.update(version=True),
    "version 2.0": lambda file: file.about.update(version=2.0),
    "another part of the text": lambda file: file.about.update(more=1),
    "NaN": lambda file: file.about["content"]["fitted"]["kernel_"].update(unit=float("nan")),
    "infinity": lambda file: file.about["content"]["parameters"].update(C=float("inf")),
    "a repeated key": lambda file: setattr(
        file, "change_text", lambda text: text.replace('"C": 10.0', '"C": 1.0, "C": 10.0')
    ),
    "a member twice": lambda file: setattr(file, "change_members", lambda items: [*items, *list(items)[:1]]),
    "another member": lambda file: setattr(file, "change_members", lambda items: [*items, ("more.txt", b"")]),
    "members in another order": lambda file: setattr(file, "change_members", lambda items: list(items)[::-1]),
    "an array of objects": lambda file: file.arrays.__setitem__(0, np.array([print], object)),
}


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("name", WRONG)
def test_a_file_that_we_would_not_write(name, saved, tmp_path):
    file = ModelFile(saved)
    WRONG[name](file)
    file.write(tmp_path / "m")
    with pytest.raises(ModelError, match=r"m is damaged or no model file; save the model again$"):
        gv.load_model(tmp_path / "m")


def test_a_file_of_an_older_version(saved, tmp_path):
    file = ModelFile(saved)
    file.about.update(version=1, content={"score": float("nan")})
    file.write(tmp_path / "m")
    with pytest.raises(
        ModelError, match=r"was written by gvoys 0.2; train it again, or use it with: pip install 'gvoys<0"
    ):
        gv.load_model(tmp_path / "m")


@pytest.mark.parametrize("part", ["parameters", "fitted"])
def test_every_name_must_be_there_and_no_other(part, saved, tmp_path):
    for name in ModelFile(saved).about["content"][part]:
        if name == "contributions_":  # not there past max_exact
            continue
        rewrite(saved, tmp_path / "m", lambda content: content[part].pop(name))  # noqa: B023
        with pytest.raises(ModelError, match=f"{name} of RandomWalkClassifier is missing; train it again"):
            gv.load_model(tmp_path / "m")
    rewrite(saved, tmp_path / "m", lambda content: content[part].update(other_=1))
    with pytest.raises(ModelError, match="other_ of RandomWalkClassifier is not known; train it again"):
        gv.load_model(tmp_path / "m")


def engine(content):
    return content["fitted"]["engine_"]


UNFIT = {
    "max_length of RandomWalkClassifier has another type": lambda content: content["parameters"].update(max_length="6"),
    "seen_labels_ of RandomWalkClassifier has another type": lambda content: content["fitted"].update(seen_labels_=[]),
    "similarity_floor_ of RandomWalkClassifier has another type": lambda content: content["fitted"].update(
        similarity_floor_=2.0**31
    ),
    "unit of BaseKernel has another type": lambda content: content["fitted"]["kernel_"].update(unit=None),
    "unit of BaseKernel is missing": lambda content: content["fitted"]["kernel_"].pop("unit"),
    "n_iterations of Balance has another type": lambda content: content["fitted"]["balance_"].update(n_iterations=True),
    "a number of Sketch is too large": lambda content: content["fitted"]["profiler_"]["sketch"].update(
        n_components=10**9
    ),
    "places of SupportVectors has another type": lambda content: engine(content)["machines"]["items"][0][
        "vectors"
    ].update(places=np.zeros(3)),
    "weights of SupportVectors has another shape": lambda content: engine(content)["machines"]["items"][0][
        "vectors"
    ].update(weights=np.zeros((1, 2))),
    "rounding of CombinedProfiles has another shape": lambda content: engine(content)["fitted"]["profiles"][
        "labels"
    ].update(rounding=np.zeros(5)),
    "a name is there twice": lambda content: content["fitted"].update(
        training_={"is": "dict", "items": [["ids", 1], ["ids", 2]]}
    ),
    "the ids are not those of its training graphs": lambda content: content["fitted"].update(
        training_={"is": "dict", "items": [["ids", ["a", "b"]]]}
    ),
}


@pytest.mark.parametrize("reason", UNFIT)
def test_types_and_shapes_must_fit(reason, saved, tmp_path):
    rewrite(saved, tmp_path / "m", UNFIT[reason])
    with pytest.raises(ModelError, match=f"that this version of gvoys knows: {reason}; train it again$"):
        gv.load_model(tmp_path / "m")


def test_a_model_must_predict_what_it_did(saved, tmp_path):
    def another_unit(content):
        engine(content)["kernel"].update(unit=3 * engine(content)["kernel"]["unit"])

    rewrite(saved, tmp_path / "m", another_unit)
    with pytest.raises(ModelError, match="m does not predict what it did when it was saved; train the model again"):
        gv.load_model(tmp_path / "m")


def test_models_of_a_larger_machine_are_loaded(saved, tmp_path):
    rewrite(saved, tmp_path / "m", lambda content: content["parameters"].update(n_jobs=100_000))
    model = gv.load_model(tmp_path / "m")
    assert model.n_jobs is None
    np.testing.assert_array_equal(answers(model, NEW), answers(gv.load_model(saved), NEW))


def test_a_model_that_could_not_be_loaded_is_not_saved(tmp_path):
    model = classifier().fit(BATCH, TWO).set_params(cv="many")
    with pytest.raises(ParameterError, match="the model cannot be saved: cv of RandomWalkClassifier has another type"):
        model.save(tmp_path / "m")
    assert not list(tmp_path.iterdir())


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
