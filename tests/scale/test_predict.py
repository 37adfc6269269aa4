"""predict_file: one table, and one summary of what is unlike the fitted graphs, however many parts there are."""

import warnings

import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("rdkit")

from commands import done, rows_of, run
from raising import raises

import gvoys as gv
from gvoys.apps.scale import predict_file
from gvoys.apps.scale.run import Summary
from gvoys.errors import InputWarning, ParameterError

TRAINING = [f"{'C' * n}{end}" for n in range(2, 16) for end in ("", "O", "N", "C#N")]
NEW = ["CCCCCO", "C1CC", "CCCCCCC[Se]", "[Na+].[Cl-]", "CCN", "OO"]


@pytest.fixture
def model(tmp_path):
    graphs = gv.from_smiles(TRAINING)
    gv.RandomWalkRegressor(gv.Walk(3)).fit(graphs, graphs.graph_sizes).save(tmp_path / "m")
    (tmp_path / "new.smi").write_text("\n".join(NEW))
    return tmp_path / "m"


@pytest.mark.parametrize("rows", [1, 2, 100])
def test_the_summary_counts_what_is_unlike(model, tmp_path, rows):

    summary = predict_file(model, tmp_path / "new.smi", tmp_path / "p.csv", rows_per_part=rows)
    expected = gv.load_model(model).predict_table(gv.from_smiles([text for text in NEW if text != "C1CC"]))
    assert expected["unlike"].tolist() == [False, True, True, False, True]
    n_parts = -(-len(NEW) // rows)
    assert summary == Summary(5, 1, n_parts, n_unseen=2, n_unlike=3)
    found = rows_of(tmp_path / "p.csv")
    assert [row["unlike"] for row in found] == [str(flag) for flag in expected["unlike"].tolist()]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["m", "new.smi", "p.csv", "p.skipped.csv"]


@pytest.mark.parametrize("rows", [2, 100])
def test_the_nearest_graph_of_an_index(model, tmp_path, rows):

    gv.Index().add(gv.from_smiles(TRAINING), ids=TRAINING).save(tmp_path / "index")
    for out in ("p.csv", "again.csv"):
        predict_file(model, tmp_path / "new.smi", tmp_path / out, index=tmp_path / "index", rows_per_part=rows)
    found = rows_of(tmp_path / "p.csv")
    hits = gv.Index.open(tmp_path / "index").nearest(gv.from_smiles([text for text in NEW if text != "C1CC"]), 1)
    assert [row["library nearest"] for row in found] == hits.ids[:, 0].tolist()
    similarities = [float(row["library similarity"]) for row in found]
    assert similarities == pytest.approx(hits.similarities[:, 0].tolist(), abs=1e-12)
    assert found[0]["library nearest"] == "CCCCCO"
    assert (tmp_path / "p.csv").read_bytes() == (tmp_path / "again.csv").read_bytes()


def test_an_index_of_molecules_that_were_read_otherwise(model, tmp_path):

    words = ("search", *[tmp_path / "new.smi"] * 2, "--index", tmp_path / "index", "-o", tmp_path / "h.csv")
    done(*words, "--hydrogens", "ignore")
    with pytest.raises(ParameterError, match=r"were read with the chemistry \{'hydrogens': 'ignore'\}, and those of"):
        predict_file(model, tmp_path / "new.smi", tmp_path / "p.csv", index=tmp_path / "index")
    page = ("explore", tmp_path / "new.smi", "-o", tmp_path / "page.html", "--index", tmp_path / "index")
    assert "build an index with the same options" in str(run(*page).exception)
    assert not (tmp_path / "p.csv").exists()


def test_an_index_like_a_model_reads_molecules_as_the_model_did(tmp_path):
    rows = "".join(f"m{k},{smiles},{k + 0.5}\n" for k, smiles in enumerate(TRAINING))
    (tmp_path / "t.csv").write_text("id,smiles,y\n" + rows)
    model = tmp_path / "m.gvoys"
    done("train", tmp_path / "t.csv", "--target", "y", "--no-cv", "-o", model, "--hydrogens", "ignore")
    words = ("search", *[tmp_path / "t.csv"] * 2, "--like", model, "--library-id", "id", "--index", tmp_path / "index")
    done(*words, "-o", tmp_path / "h.csv")
    predict_file(model, tmp_path / "t.csv", tmp_path / "p.csv", index=tmp_path / "index", id="id")
    found = rows_of(tmp_path / "p.csv")
    assert min(float(row["library similarity"]) for row in found) > 0.999999


def test_parts_do_not_warn_one_by_one(model, tmp_path, monkeypatch):
    real = gv.RandomWalkRegressor.predict_table

    def warning(self, X):
        warnings.warn("2 graphs have unseen labels", InputWarning, stacklevel=2)
        warnings.warn("something else", UserWarning, stacklevel=2)
        return real(self, X)

    monkeypatch.setattr(gv.RandomWalkRegressor, "predict_table", warning)

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        predict_file(model, tmp_path / "new.smi", tmp_path / "p.csv", rows_per_part=2)
    kinds = {one.category for one in said}
    assert InputWarning not in kinds
    assert UserWarning in kinds


def test_a_kill_while_the_work_is_removed(model, tmp_path, monkeypatch):
    """The table is there: whatever is left of the work goes with the next run, which has nothing to do."""

    def killed(folder):
        next(iter(folder.glob("_job.json"))).unlink()
        raise KeyboardInterrupt

    monkeypatch.setattr("gvoys.apps.scale.predict.shutil.rmtree", killed)
    with pytest.raises(KeyboardInterrupt):
        predict_file(model, tmp_path / "new.smi", tmp_path / "p.csv")
    monkeypatch.undo()
    assert not (tmp_path / "p.csv.work").exists()
    raises(ParameterError, r"p.csv exists already", predict_file, model, tmp_path / "new.smi", tmp_path / "p.csv")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["m", "new.smi", "p.csv", "p.skipped.csv"]
