"""gvoys train and gvoys predict: from one table to predictions on another, in two commands."""

import csv
import json

import numpy as np
import pytest
from commands import done, rows_of, run, sentence

pytest.importorskip("rdkit")
pytest.importorskip("pyarrow")

import gvoys as gv

TRAINING = [f"{'C' * n}{end}" for n in range(1, 16) for end in ("", "O", "N", "C#N")]
NEW = ["CCCCCO", "C1CC", "CCCCCCC[Se]", "[Na+].[Cl-]", "CCN"]


@pytest.fixture
def tables(tmp_path):
    rows = [
        (f"t{k}", text, f"{len(text) + 0.1:.1f}", "acid" if "O" in text else "other") for k, text in enumerate(TRAINING)
    ]
    rows.append(("bad", "C1CC", "3", "other"))
    rows.append(("empty", "CC", "", ""))
    for name, header, content in (
        ("train.csv", ("name", "Structure", "size", "kind"), rows),
        ("new.csv", ("code", "structure"), [(f"n{k}", text) for k, text in enumerate(NEW)]),
    ):
        with (tmp_path / name).open("w", newline="") as file:
            csv.writer(file).writerows([header, *content])
    return tmp_path


def train(folder, target, *more):
    data = ("train", folder / "train.csv", "--target", target, "--smiles", "structure", "--id", "name")
    return done(*data, "-o", folder / "model.gvoys", *more)


def predict(folder, *more):
    words = ("predict", folder / "model.gvoys", folder / "new.csv", "-o", folder / "out.csv", "--id", "code")
    return done(*words, *more)


def test_numbers_from_one_table_to_another(tables):
    result = train(tables, "size", "--folds", 3)
    assert "RMSE" in result.output
    assert "over 3 folds of 60 graphs" in result.output
    assert "2 of 62 rows were skipped" in result.output
    result = predict(tables)
    assert "4 graphs" in result.output
    assert "graphs are unlike all training graphs, 2 of them with labels" in result.output
    found = rows_of(tables / "out.csv")
    assert [row["id"] for row in found] == ["n0", "n2", "n3", "n4"]
    columns = "id smiles prediction deviation lower upper nearest similarity unseen unlike"
    assert list(found[0]) == columns.split()
    exact = found[0]
    assert float(exact["prediction"]) == pytest.approx(6.1, abs=0.5)
    assert float(exact["lower"]) < float(exact["prediction"]) < float(exact["upper"])
    assert exact["nearest"] == f"t{TRAINING.index('CCCCCO')}"
    assert float(exact["similarity"]) == pytest.approx(1.0)
    assert [float(row["unseen"]) for row in found] == [0.0, 1 / 8, 1.0, 0.0]
    assert [row["unlike"] for row in found] == ["False", "True", "True", "False"]
    assert float(found[2]["deviation"]) > 2 * float(exact["deviation"])  # it shares nothing with any of them
    assert [row["row"] for row in rows_of(tables / "out.skipped.csv")] == ["3"]  # the line
    names = {"train.csv", "new.csv", "model.gvoys", "out.csv", "out.skipped.csv"}
    assert {file.name for file in tables.iterdir()} == names


def test_classes(tables):
    train(tables, "kind", "--no-cv")
    predict(tables)
    found = rows_of(tables / "out.csv")
    assert [row["prediction"] for row in found][:1] == ["acid"]
    for row in found:
        shares = [float(row["probability acid"]), float(row["probability other"])]
        assert sum(shares) == pytest.approx(1.0)
    assert found[0]["nearest"] == f"t{TRAINING.index('CCCCCO')}"


@pytest.mark.parametrize("target", ["size", "kind"])
def test_the_same_as_in_python(target, tables):
    train(tables, target, "--no-cv")
    model = gv.load_model(tables / "model.gvoys")
    read = gv.io.open_graphs(tables / "new.csv", smiles="structure").read()
    expected = model.predict_table(read.batch)
    for size in (1, 2, 4096):
        predict(tables, "--rows-per-part", size)
        found = rows_of(tables / "out.csv")
        for name, values in expected.items():
            column = [row[name] for row in found]
            if name == "nearest":
                assert column == [model.training_["ids"][k] for k in values]
            elif values.dtype.kind == "f":
                np.testing.assert_allclose(np.array(column, float), values, rtol=1e-9, atol=1e-9)
            else:
                assert column == [str(value) for value in values.tolist()]
        (tables / "out.csv").unlink()
    direct = model.predict(read.batch)
    np.testing.assert_array_equal(direct, expected["prediction"])


def test_bad_input_is_one_sentence_and_leaves_nothing(tables):
    model, new, out = (tables / name for name in ("model.gvoys", "new.csv", "out.csv"))
    before = sorted(tables.iterdir())
    data = ("train", tables / "train.csv", "--smiles", "structure", "-o", model)
    assert "has no column 'sise'" in sentence(*data, "--target", "sise")
    assert "name the column to predict with --target" in sentence(*data)
    assert "has no node attributes" in sentence(*data, "--target", "kind", "--attributes")
    assert "folds must lie between" in sentence(*data, "--target", "kind", "--folds", 1)
    assert "there is no folder" in sentence(*data[:-1], tables / "none" / "m", "--target", "kind")
    assert "there is no model file" in sentence("predict", model, new, "-o", out)
    assert "damaged or no model file" in sentence("predict", new, new, "-o", out)
    assert sorted(tables.iterdir()) == before
    train(tables, "kind", "--no-cv")
    assert "exists already" in sentence(*data, "--target", "kind")
    assert "has no column 'nothing'" in sentence("predict", model, new, "-o", out, "--smiles", "nothing")
    assert "there is no file" in sentence("predict", model, tables / "no.csv", "-o", out)
    predict(tables)
    assert "exists already" in sentence("predict", model, new, "-o", out)


def test_another_model_does_not_go_on_with_the_work(tables):
    train(tables, "kind", "--no-cv")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gvoys.apps.scale.predict._write_table", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        words = ("predict", tables / "model.gvoys", tables / "new.csv", "-o", tables / "out.csv", "--id", "code")
        assert run(*words).exit_code == 130
    assert (tables / "out.csv.work").is_dir()
    (tables / "model.gvoys").unlink()
    train(tables, "size", "--no-cv")
    result = run("predict", tables / "model.gvoys", tables / "new.csv", "-o", tables / "out.csv", "--id", "code")
    assert "holds a run with another model" in str(result.exception)


def test_graphs_without_labels_and_attributes(tmp_path):
    """A part all of whose rows are skipped has the same columns."""
    graphs = gv.datasets.erdos_renyi(30, 8, 0.4)
    gv.write_store(graphs, tmp_path / "store")
    model = gv.RandomWalkClassifier(gv.Walk(refine=1), C=1.0).fit(graphs, np.arange(30) % 3)
    assert model.predict_table(graphs[:0])["prediction"].shape == (0,)
    assert not model.unseen_labels(graphs).any()
    model.save(tmp_path / "m")
    done("predict", tmp_path / "m", tmp_path / "store", "-o", tmp_path / "p.csv")
    found = rows_of(tmp_path / "p.csv")
    assert len(found) == 30
    assert [int(row["nearest"]) for row in found] == list(range(30))


# -- several targets
def test_several_targets_from_one_command_to_another(tables):
    folder = tables / "models"
    data = ("train", tables / "train.csv", "--smiles", "structure", "--id", "name", "--no-cv", "-o", folder)
    result = done(*data, "--target", "size", "--target", "kind", "--json")
    said = json.loads(result.stdout)
    assert [each["target"] for each in said] == ["size", "kind"]
    assert sorted(file.name for file in folder.iterdir()) == ["kind.gvoys", "size.gvoys"]
    result = done("predict", folder, tables / "new.csv", "--id", "code", "-o", tables / "out.csv")
    found = rows_of(tables / "out.csv")
    assert [name for name in found[0] if name.endswith("prediction")] == ["kind prediction", "size prediction"]
    assert found[0]["kind nearest"] == found[0]["size nearest"] == f"t{TRAINING.index('CCCCCO')}"
    for target in ("size", "kind"):
        alone = tables / f"{target}.csv"
        run("predict", folder / f"{target}.gvoys", tables / "new.csv", "--id", "code", "-o", alone)
        for one, both in zip(rows_of(alone), found, strict=True):
            assert one == {"id": both["id"], "smiles": both["smiles"]} | {
                name.removeprefix(f"{target} "): value for name, value in both.items() if name.startswith(f"{target} ")
            }
    assert "exists already" in sentence(*data, "--target", "size", "--target", "kind")


def test_models_that_do_not_go_together(tables):
    folder = tables / "models"
    folder.mkdir()
    for name, options in (("a", ()), ("b", ("--charges",))):
        more = ("--smiles", "structure", "--no-cv", "-o", folder / f"{name}.gvoys", *options)
        done("train", tables / "train.csv", "--target", "size" if name == "a" else "kind", *more)
    words = sentence("predict", folder, tables / "new.csv", "-o", tables / "out.csv")
    assert "do not predict together" in words
    (tables / "empty").mkdir()
    words = sentence("predict", tables / "empty", tables / "new.csv", "-o", tables / "out.csv")
    assert "is a folder without models" in words


# -- chemistry goes with the model
def test_new_molecules_are_read_as_the_training_table_was(tmp_path):
    rows = [f"{'C' * n}{end},{n}.5" for n in range(1, 11) for end in ("[NH3+].[Cl-]", "N", "O")]
    (tmp_path / "train.csv").write_text("smiles,y\n" + "\n".join(rows) + "\n")
    (tmp_path / "new.csv").write_text("smiles\nCCCC[NH3+].[Br-]\nCCCCN\n")
    done(
        *("train", tmp_path / "train.csv", "--target", "y", "--no-cv", "--fragments", "largest", "--charges"),
        *("-o", tmp_path / "m.gvoys"),
    )
    assert gv.load_model(tmp_path / "m.gvoys").training_["chemistry"]["fragments"] == "largest"
    done("predict", tmp_path / "m.gvoys", tmp_path / "new.csv", "-o", tmp_path / "out.csv")
    salt, amine = rows_of(tmp_path / "out.csv")
    assert float(salt["similarity"]) == pytest.approx(1.0)  # the bromide is gone as the chloride was
    assert salt["unseen"] == "0.0"
    assert salt["nearest"] != amine["nearest"]  # by their charge


# -- features that compare
def test_embed_like_a_model_and_like_a_run(tables):
    train(tables, "kind", "--no-cv")
    model = gv.load_model(tables / "model.gvoys")
    data = ("embed", tables / "new.csv", "--id", "code")
    done(*data, "-o", tables / "features", "--like", tables / "model.gvoys")
    ids, found = gv.read_features(tables / "features")
    assert ids == ["n0", "n2", "n3", "n4"]
    expected = model.transform(gv.io.open_graphs(tables / "new.csv", smiles="structure").read().batch)
    np.testing.assert_array_equal(found, expected)

    plain = (*data, "--smiles", "structure", "--max-length", 3, "--components", 64)
    assert json.loads(done(*plain, "-o", tables / "first", "--json").stdout)["n_skipped"] == 1
    done(*data, "--smiles", "structure", "-o", tables / "second", "--like", tables / "first")
    np.testing.assert_array_equal(gv.read_features(tables / "first")[1], gv.read_features(tables / "second")[1])
    words = sentence(*plain[:-1], 128, "-o", tables / "third", "--like", tables / "first")
    assert "n_components is 128, and 64 in" in words
    words = sentence(*data, "--smiles", "structure", "--charges", "-o", tables / "third", "--like", tables / "first")
    assert "the other molecules were read with the chemistry the defaults" in words
    assert not (tables / "third").exists()


# -- standard input
@pytest.mark.parametrize(
    "command",
    [
        ("train", "-", "--target", "size", "--no-cv", "-o", "m.gvoys"),
        ("evaluate", "-", "--target", "kind", "--folds", 2, "--seed", 0, "--no-baselines"),
        ("learn", "-", "--target", "size", "--max-length", 1),
        ("embed", "-", "-o", "features"),
        ("kernel", "-", "-o", "K.npy"),
        ("explore", "-", "-o", "page.html"),
    ],
    ids=lambda command: command[0],
)
def test_standard_input(tables, command, monkeypatch):
    monkeypatch.chdir(tables)
    text = (tables / "train.csv").read_bytes()
    done(*command, "--smiles", "structure", input=text)


def test_predict_from_standard_input(tables):
    train(tables, "size", "--no-cv")
    predict(tables)
    expected = (tables / "out.csv").read_bytes()
    (tables / "out.csv").unlink()
    arguments = ("predict", tables / "model.gvoys", "-", "-o", tables / "out.csv", "--id", "code")
    done(*arguments, input=(tables / "new.csv").read_bytes())
    assert (tables / "out.csv").read_bytes() == expected
