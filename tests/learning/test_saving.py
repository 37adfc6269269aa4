"""Models as files: the same predictions after loading; whatever is in a file, one sentence and no code that runs."""

import pickle
import zipfile
from dataclasses import replace

import numpy as np
import pytest
import spelling
from model_files import ModelFile
from mutations import mutate
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
    np.testing.assert_array_equal(model.unseen_labels(with_attributes(BATCH)), 0.0)  # of all fitted graphs
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


def test_what_cannot_be_saved(tmp_path):
    with pytest.raises(NotFittedError):
        classifier().save(tmp_path / "m")
    model = classifier().fit(BATCH, TWO)
    with pytest.raises(ParameterError, match="there is no folder"):
        model.save(tmp_path / "none" / "m")
    for wrong, message in (
        ({"max_exact": "many"}, "the model cannot be saved: max_exact of RandomWalkClassifier has another type"),
        ({"kernel": lambda: 0}, "the model's kernel is a function"),
    ):
        model.set_params(**wrong)
        with pytest.raises(ParameterError, match=message):
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
        (tmp_path / "m").write_bytes(mutate(whole, rng))
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


WRONG = {
    **{
        f"{where} {value}": lambda file, where=where, value=value: put(file.about, where, value)
        for where, value in (
            *(("content fitted kernel_", {"array": place}) for place in (10**30, True)),  # which is not there
            *(("version", value) for value in (0, -1, True, 2.0)),
            *(("content more", {"array": 0}), ("more", 1), ("content fitted kernel_ unit", float("nan"))),
            ("content parameters C", float("inf")),
        )
    },
    "an array that nobody wants": lambda file: file.arrays.append(np.zeros(3)),
    "a repeated key": lambda file: setattr(
        file, "change_text", lambda text: text.replace('"C": 10.0', '"C": 1.0, "C": 10.0')
    ),
    "a member twice": lambda file: setattr(file, "change_members", lambda items: [*items, *list(items)[:1]]),
    "another member": lambda file: setattr(file, "change_members", lambda items: [*items, ("more.txt", b"")]),
    "members in another order": lambda file: setattr(file, "change_members", lambda items: list(items)[::-1]),
    "compressed": lambda file: setattr(file, "compression", zipfile.ZIP_DEFLATED),
    "an array of objects": lambda file: file.arrays.__setitem__(0, np.array([print], object)),
}


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


UNKNOWN = "holds no model that this version of gvoys knows"
GONE, VECTORS = object(), "fitted engine_ machines items 0 vectors"
FITTED = [  # where in the content, what stands there, and the reason
    ("model", "SVC", ""),
    ("model", GONE, ""),
    ("fitted balance_ is", "Popen", ""),
    ("fitted balance_ args", ["true"], ""),
    ("fitted predict", "x", ""),
    ("fitted __class__", "x", ""),
    ("parameters shell", True, ""),
    ("parameters max_exact", "6", ": max_exact of RandomWalkClassifier has another type"),
    ("fitted seen_labels_", [], ": seen_labels_ of RandomWalkClassifier has another type"),
    ("fitted similarity_floor_", 2.0**31, ": similarity_floor_ of RandomWalkClassifier has another type"),
    ("fitted kernel_ unit", None, ": unit of BaseKernel has another type"),
    ("fitted kernel_ unit", GONE, ": unit of BaseKernel is missing"),
    ("fitted balance_ n_iterations", True, ": n_iterations of Balance has another type"),
    ("fitted profiler_ sketch n_components", 10**9, ": n_components of Sketch is too large"),
    (f"{VECTORS} places", np.zeros(3), ": places of SupportVectors has another type"),
    (f"{VECTORS} weights", np.zeros((1, 2)), ": weights of SupportVectors has another shape"),
    ("fitted engine_ fitted profiles labels rounding", np.zeros(5), ": rounding of CombinedProfiles has another shape"),
    ("fitted training_", [["ids", 1], ["ids", 2]], ": a name is there twice"),
    ("fitted training_", [["ids", ["a", "b"]]], ": the ids are not those of its training graphs"),
]


def put(content, where, value):
    *way, last = where.split()
    for key in way:
        content = content[int(key) if key.isdigit() else key]
    content[last] = {"is": "dict", "items": value} if last == "training_" else value
    if value is GONE:
        del content[last]


@pytest.mark.parametrize(("where", "value", "reason"), FITTED, ids=[f"{where}{reason}" for where, _, reason in FITTED])
def test_content_that_does_not_fit(where, value, reason, saved, tmp_path):
    rewrite(saved, tmp_path / "m", lambda content: put(content, where, value))
    with pytest.raises(ModelError, match=UNKNOWN + (f"{reason}; train it again$" if reason else "")):
        gv.load_model(tmp_path / "m")


OLD = {"version": 1, "content": {"score": float("nan")}}
FILES = {
    **{name: (change, "m is damaged or no model file; save the model again$") for name, change in WRONG.items()},
    "older": (lambda file: file.about.update(OLD), "written by gvoys 0.2; train it again, or use it with: pip install"),
    "newer": (lambda file: file.about.update(version=99), "written by a newer version"),
}


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("name", FILES)
def test_files_that_we_would_not_write(name, saved, tmp_path):
    change, message = FILES[name]
    file = ModelFile(saved)
    change(file)
    file.write(tmp_path / "m")
    with pytest.raises(ModelError, match=message):
        gv.load_model(tmp_path / "m")


def test_no_model_file_and_a_larger_machine(saved, tmp_path):
    for content in (b"", b"PK", b"no zip at all"):
        (tmp_path / "m").write_bytes(content)
        with pytest.raises(ModelError, match="damaged or no model file"):
            gv.load_model(tmp_path / "m")
    with pytest.raises(ModelError, match="there is no model file"):
        gv.load_model(tmp_path / "none")
    unit = read_container(saved)["fitted"]["engine_"]["kernel"]["unit"]
    rewrite(saved, tmp_path / "m", lambda content: put(content, "fitted engine_ kernel unit", 3 * unit))
    with pytest.raises(ModelError, match="m does not predict what it did when it was saved; train the model again"):
        gv.load_model(tmp_path / "m")
    rewrite(saved, tmp_path / "m", lambda content: put(content, "parameters n_jobs", 100_000))
    model = gv.load_model(tmp_path / "m")
    assert model.n_jobs is None
    np.testing.assert_array_equal(answers(model, NEW), answers(gv.load_model(saved), NEW))


def test_a_member_that_says_it_is_encrypted(saved, tmp_path):
    data = bytearray(saved.read_bytes())
    data[data.rindex(b"PK\x01\x02") + 8] |= 1  # in the last entry of the directory
    (tmp_path / "m").write_bytes(data)
    with pytest.raises(ModelError, match="damaged or no model file"):
        gv.load_model(tmp_path / "m")
