"""The benchmark of learning: results are kept by task, and splits keep apart what they must."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("rdkit")
from studies.learning import KEPT, write_tables
from studies.learning_data import Molecules, Split, places
from studies.learning_results import Results
from studies.learning_tables import SHEETS
from studies.learning_tasks import SECTIONS

from gvoys.io import from_smiles, scaffolds

SMILES = ["CCc1ccccc1", "Oc1ccccc1", "CCO", "CCN", "C1CCCC1", "C1CCCCC1", "c1ccncc1", "C1CC1", "C1CCNC1", "C1CCOC1"]
FOUND = {"n_train": 8, "n_test": 2, "n_skipped": 0, "RMSE": 0.5, "cliff RMSE": 0.6, "coverage": 0.95, "seconds": 1.0}


def test_results_are_found_again_by_version_and_parameters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = SECTIONS["moleculeace"][:2]
    Results(tmp_path / "kept.jsonl").add(first, FOUND)
    kept = Results(tmp_path / "kept.jsonl")
    assert first in kept
    assert second not in kept
    other = replace(first.method, parameters=first.method.parameters | {"max_length": 9})
    assert first._replace(method=other) not in kept
    monkeypatch.setattr("gvoys.__version__", "0.0.0")
    assert first not in kept


def test_results_of_this_release_are_kept() -> None:
    assert all(task in Results(KEPT) for task in SECTIONS["moleculeace"])


def test_results_that_are_computed_anew_replace_the_old(tmp_path: Path) -> None:
    tasks = SECTIONS["moleculeace"][:1]
    for error in (0.5, 0.25):
        Results(tmp_path / "kept.jsonl").add(tasks[0], FOUND | {"RMSE": error})
    assert [row["RMSE"] for row in Results(tmp_path / "kept.jsonl").rows(tasks)] == [0.25]


def test_tables_show_what_is_there(tmp_path: Path) -> None:
    results = Results(tmp_path / "kept.jsonl")
    for task, error in zip(SECTIONS["gauche"][:4], (0.5, 0.75, 0.25, 0.75), strict=True):
        results.add(task, FOUND | {"RMSE": error})
    row = SHEETS["gauche"](results.rows(SECTIONS["gauche"])).rows[0]
    assert row[:6] == ["ESOL", "10", "2", "0.375 ± 0.125", "0.750 ± 0.000", "-0.375 ± 0.125"]
    write_tables(tmp_path / "tables.md", results)
    assert "-0.375 ± 0.125" in (tmp_path / "tables.md").read_text()


@pytest.mark.parametrize("split", [Split("random", 1), Split("scaffold", 1), Split("own"), Split("inner")], ids=str)
def test_splits_keep_apart(split: Split) -> None:
    own = np.arange(len(SMILES)) % 5 > 0
    molecules = Molecules(from_smiles(SMILES), np.zeros(len(SMILES)), SMILES, own=own)
    train, test = places(molecules, split)
    assert len(test)
    assert not set(train) & set(test)
    assert len(train) + len(test) == (own.sum() if split.kind == "inner" else len(SMILES))
    if split.kind in ("own", "inner"):
        assert own[train].all()
    if split.kind == "inner":
        assert own[test].all()
    if split.kind == "scaffold":
        names = np.array(scaffolds(SMILES))
        assert not set(names[train]) & set(names[test])
