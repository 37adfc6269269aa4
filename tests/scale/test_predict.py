"""predict_file: one table, and one summary of what is unlike the fitted graphs, however many parts there are."""

import csv
import warnings

import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("rdkit")

import gvoys as gv
from gvoys.errors import InputWarning, ParameterError
from gvoys.scale import predict_file
from gvoys.scale.run import Summary

TRAINING = [f"{'C' * n}{end}" for n in range(2, 16) for end in ("", "O", "N", "C#N")]
NEW = ["CCCCCO", "C1CC", "CCCCCCC[Se]", "[Na+].[Cl-]", "CCN", "OO"]


@pytest.fixture
def model(tmp_path):
    graphs = gv.from_smiles(TRAINING)
    gv.RandomWalkRegressor(3).fit(graphs, graphs.graph_sizes).save(tmp_path / "m")
    return tmp_path / "m"


@pytest.mark.parametrize("rows", [1, 2, 100])
def test_the_summary_counts_what_is_unlike(model, tmp_path, rows):
    (tmp_path / "new.smi").write_text("\n".join(NEW))
    summary = predict_file(model, tmp_path / "new.smi", tmp_path / "p.csv", rows_per_part=rows)
    expected = gv.load_model(model).predict_table(gv.from_smiles([text for text in NEW if text != "C1CC"]))
    assert expected["unlike"].tolist() == [False, True, True, False, True]
    n_parts = -(-len(NEW) // rows)
    assert summary == Summary(5, 1, n_parts, n_unseen=2, n_unlike=3)
    with (tmp_path / "p.csv").open(newline="") as file:
        found = list(csv.DictReader(file))
    assert [row["unlike"] for row in found] == [str(flag) for flag in expected["unlike"].tolist()]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["m", "new.smi", "p.csv", "p.skipped.csv"]


def test_parts_do_not_warn_one_by_one(model, tmp_path, monkeypatch):
    real = gv.RandomWalkRegressor.predict_table

    def warning(self, X):
        warnings.warn("2 graphs have unseen labels", InputWarning, stacklevel=2)
        warnings.warn("something else", UserWarning, stacklevel=2)
        return real(self, X)

    monkeypatch.setattr(gv.RandomWalkRegressor, "predict_table", warning)
    (tmp_path / "new.smi").write_text("\n".join(NEW))
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

    (tmp_path / "new.smi").write_text("\n".join(NEW))
    monkeypatch.setattr("gvoys.scale.predict.shutil.rmtree", killed)
    with pytest.raises(KeyboardInterrupt):
        predict_file(model, tmp_path / "new.smi", tmp_path / "p.csv")
    monkeypatch.undo()
    assert not (tmp_path / "p.csv.work").exists()
    with pytest.raises(ParameterError, match=r"p.csv exists already"):
        predict_file(model, tmp_path / "new.smi", tmp_path / "p.csv")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["m", "new.smi", "p.csv", "p.skipped.csv"]
