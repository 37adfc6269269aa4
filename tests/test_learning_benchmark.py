"""The benchmark of learning: results are kept by task, and splits keep apart what they must."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("rdkit")
from studies.learning import KEPT
from studies.learning_data import Molecules, Split, places
from studies.learning_results import Results
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
