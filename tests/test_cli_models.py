"""gvoys train and gvoys predict: from one table to predictions on another, in two commands."""

import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

pytest.importorskip("rdkit")
pytest.importorskip("pyarrow")

import gvoys as gv
from gvoys.apps.cli import app
from gvoys.apps.cli.messages import in_one_sentence

TRAINING = [f"{'C' * n}{end}" for n in range(1, 16) for end in ("", "O", "N", "C#N")]
NEW = ["CCCCCO", "C1CC", "CCCCCCC[Se]", "[Na+].[Cl-]", "CCN"]


def run(*arguments):
    return CliRunner(env={"COLUMNS": "160"}).invoke(app, [str(argument) for argument in arguments])


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
    return run(
        *("train", folder / "train.csv", "--target", target, "--smiles", "structure", "--id", "name"),
        *("-o", folder / "model.gvoys", *more),
    )


def predict(folder, *more):
    return run("predict", folder / "model.gvoys", folder / "new.csv", "-o", folder / "out.csv", "--id", "code", *more)


def rows_of(file):
    with file.open(newline="") as held:
        return list(csv.DictReader(held))


def test_numbers_from_one_table_to_another(tables):
    result = train(tables, "size", "--folds", 3)
    assert result.exit_code == 0, result.output
    assert "RMSE" in result.output
    assert "over 3 folds of 60 graphs" in result.output
    assert "2 of 62 rows were skipped" in result.output
    result = predict(tables)
    assert result.exit_code == 0, result.output
    assert "4 graphs" in result.output
    found = rows_of(tables / "out.csv")
    assert [row["id"] for row in found] == ["n0", "n2", "n3", "n4"]
    assert list(found[0]) == [
        "id",
        "smiles",
        "prediction",
        "deviation",
        "lower",
        "upper",
        "nearest",
        "similarity",
        "unseen",
        "unlike",
    ]
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
    assert train(tables, "kind", "--no-cv").exit_code == 0
    assert predict(tables).exit_code == 0
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
        result = predict(tables, "--rows-per-part", size)
        assert result.exit_code == 0, repr(result.exception)
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


def refused(*arguments):
    """The one sentence that a command ends with."""
    result = run(*arguments)
    assert result.exit_code != 0
    with pytest.raises(SystemExit), in_one_sentence():
        raise result.exception
    return str(result.exception)


def test_bad_input_is_one_sentence_and_leaves_nothing(tables):
    model, new, out = (tables / name for name in ("model.gvoys", "new.csv", "out.csv"))
    before = sorted(tables.iterdir())
    data = ("train", tables / "train.csv", "--smiles", "structure", "-o", model)
    assert "has no column 'sise'" in refused(*data, "--target", "sise")
    assert "name the column to predict with --target" in refused(*data)
    assert "has no node attributes" in refused(*data, "--target", "kind", "--attributes")
    assert "folds must lie between" in refused(*data, "--target", "kind", "--folds", 1)
    assert "there is no folder" in refused(*data[:-1], tables / "none" / "m", "--target", "kind")
    assert "there is no model file" in refused("predict", model, new, "-o", out)
    assert "damaged or no model file" in refused("predict", new, new, "-o", out)
    assert sorted(tables.iterdir()) == before
    assert train(tables, "kind", "--no-cv").exit_code == 0
    assert "exists already" in refused(*data, "--target", "kind")
    assert "has no column 'nothing'" in refused("predict", model, new, "-o", out, "--smiles", "nothing")
    assert "there is no file" in refused("predict", model, tables / "no.csv", "-o", out)
    assert predict(tables).exit_code == 0
    assert "exists already" in refused("predict", model, new, "-o", out)


def test_another_model_does_not_go_on_with_the_work(tables):
    assert train(tables, "kind", "--no-cv").exit_code == 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gvoys.apps.scale.predict._write_table", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        assert predict(tables).exit_code == 130
    assert (tables / "out.csv.work").is_dir()
    (tables / "model.gvoys").unlink()
    assert train(tables, "size", "--no-cv").exit_code == 0
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
    result = run("predict", tmp_path / "m", tmp_path / "store", "-o", tmp_path / "p.csv")
    assert result.exit_code == 0, result.output
    found = rows_of(tmp_path / "p.csv")
    assert len(found) == 30
    assert [int(row["nearest"]) for row in found] == list(range(30))


# -- several targets


def test_several_targets_from_one_command_to_another(tables):
    folder = tables / "models"
    data = ("train", tables / "train.csv", "--smiles", "structure", "--id", "name", "--no-cv", "-o", folder)
    result = run(*data, "--target", "size", "--target", "kind", "--json")
    assert result.exit_code == 0, result.output
    said = json.loads(result.stdout)
    assert [each["target"] for each in said] == ["size", "kind"]
    assert sorted(file.name for file in folder.iterdir()) == ["kind.gvoys", "size.gvoys"]
    result = run("predict", folder, tables / "new.csv", "--id", "code", "-o", tables / "out.csv")
    assert result.exit_code == 0, result.output
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
    assert "exists already" in refused(*data, "--target", "size", "--target", "kind")


def test_a_folder_without_models_is_told(tables):
    (tables / "empty").mkdir()
    words = refused("predict", tables / "empty", tables / "new.csv", "-o", tables / "out.csv")
    assert "is a folder without models" in words


def test_models_that_do_not_go_together(tables):
    folder = tables / "models"
    folder.mkdir()
    for name, options in (("a", ()), ("b", ("--charges",))):
        more = ("--smiles", "structure", "--no-cv", "-o", folder / f"{name}.gvoys", *options)
        assert run("train", tables / "train.csv", "--target", "size" if name == "a" else "kind", *more).exit_code == 0
    words = refused("predict", folder, tables / "new.csv", "-o", tables / "out.csv")
    assert "do not predict together" in words


# -- chemistry goes with the model


def test_new_molecules_are_read_as_the_training_table_was(tmp_path):
    rows = [f"{'C' * n}{end},{n}.5" for n in range(1, 11) for end in ("[NH3+].[Cl-]", "N", "O")]
    (tmp_path / "train.csv").write_text("smiles,y\n" + "\n".join(rows) + "\n")
    (tmp_path / "new.csv").write_text("smiles\nCCCC[NH3+].[Br-]\nCCCCN\n")
    result = run(
        *("train", tmp_path / "train.csv", "--target", "y", "--no-cv", "--fragments", "largest", "--charges"),
        *("-o", tmp_path / "m.gvoys"),
    )
    assert result.exit_code == 0, result.output
    assert gv.load_model(tmp_path / "m.gvoys").training_["chemistry"]["fragments"] == "largest"
    assert run("predict", tmp_path / "m.gvoys", tmp_path / "new.csv", "-o", tmp_path / "out.csv").exit_code == 0
    salt, amine = rows_of(tmp_path / "out.csv")
    assert float(salt["similarity"]) == pytest.approx(1.0)  # the bromide is gone as the chloride was
    assert salt["unseen"] == "0.0"
    assert salt["nearest"] != amine["nearest"]  # by their charge


# -- features that compare


def test_embed_like_a_model_and_like_a_run(tables):
    assert train(tables, "kind", "--no-cv").exit_code == 0
    model = gv.load_model(tables / "model.gvoys")
    data = ("embed", tables / "new.csv", "--id", "code")
    result = run(*data, "-o", tables / "features", "--like", tables / "model.gvoys")
    assert result.exit_code == 0, repr(result.exception)
    ids, found = gv.read_features(tables / "features")
    assert ids == ["n0", "n2", "n3", "n4"]
    expected = model.transform(gv.io.open_graphs(tables / "new.csv", smiles="structure").read().batch)
    np.testing.assert_array_equal(found, expected)

    plain = (*data, "--smiles", "structure", "--max-length", 3, "--components", 64)
    assert run(*plain, "-o", tables / "first").exit_code == 0
    assert run(*data, "--smiles", "structure", "-o", tables / "second", "--like", tables / "first").exit_code == 0
    np.testing.assert_array_equal(gv.read_features(tables / "first")[1], gv.read_features(tables / "second")[1])
    words = refused(*plain[:-1], 128, "-o", tables / "third", "--like", tables / "first")
    assert "n_components is 128, and 64 in" in words
    words = refused(*data, "--smiles", "structure", "--charges", "-o", tables / "third", "--like", tables / "first")
    assert "the other molecules were read with the chemistry the defaults" in words
    assert not (tables / "third").exists()


def test_pandas_reads_what_embed_wrote(tables):
    pandas = pytest.importorskip("pandas")
    data = ("embed", tables / "new.csv", "--smiles", "structure", "--components", 16, "--json")
    result = run(*data, "-o", tables / "features")
    assert json.loads(result.stdout)["n_skipped"] == 1
    table = pandas.read_parquet(tables / "features")
    assert table["id"].tolist() == ["1", "3", "4", "5"]
    np.testing.assert_array_equal(np.stack(table["features"]), gv.read_features(tables / "features")[1])
    assert [row["row"] for row in rows_of(tables / "features.skipped.csv")] == ["3"]


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
    runner = CliRunner(env={"COLUMNS": "160"})
    result = runner.invoke(app, [*map(str, command), "--smiles", "structure"], input=text)
    assert result.exit_code == 0, repr(result.exception)


def test_predict_from_standard_input(tables):
    assert train(tables, "size", "--no-cv").exit_code == 0
    assert predict(tables).exit_code == 0
    expected = (tables / "out.csv").read_bytes()
    (tables / "out.csv").unlink()
    text = (tables / "new.csv").read_bytes()
    arguments = ["predict", str(tables / "model.gvoys"), "-", "-o", str(tables / "out.csv"), "--id", "code"]
    result = CliRunner().invoke(app, arguments, input=text)
    assert result.exit_code == 0, repr(result.exception)
    assert (tables / "out.csv").read_bytes() == expected


def test_graphs_that_are_unlike_are_said(tables):
    assert train(tables, "size", "--no-cv").exit_code == 0
    result = predict(tables)
    assert "graphs are unlike all training graphs, 2 of them with labels" in result.output
    found = rows_of(tables / "out.csv")
    assert [row["unlike"] for row in found][:3] == ["False", "True", "True"]
