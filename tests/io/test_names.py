"""Misspelt names: the nearest one is suggested, and the case of a dataset's name does not matter."""

import pandas as pd
import pytest
from raising import raises
from test_tu import TINY, write_folder, write_zip

import gvoys as gv
from gvoys.errors import DatasetError
from gvoys.io import fetch, files, open_graphs
from gvoys.io.files import did_you_mean, names_in


@pytest.fixture
def offline(tmp_path, monkeypatch):
    """No site, and a folder of data."""
    monkeypatch.setattr(fetch, "SITE", "http://127.0.0.1:9")
    monkeypatch.setattr(fetch, "_in_packages", lambda name: None)
    monkeypatch.setenv("GVOYS_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data" / "tu").mkdir(parents=True)
    return tmp_path / "data" / "tu"


@pytest.mark.parametrize(
    ("name", "names", "told"),
    [
        ("smile", ["y", "smiles"], " (did you mean 'smiles'?)"),
        ("SMILE", ["y", " Smiles"], " (did you mean ' Smiles'?)"),
        ("z", ["y", "smiles"], ""),
        ("y", [], ""),
        ("MUTAG", ["MUTAG"], ""),  # it is there, and something else is wrong
        ("PTC_MR", ["PTC_MR", "PTC_FM"], ""),
        ("mutag", ["MUTAG"], " (did you mean 'MUTAG'?)"),
    ],
)
def test_the_nearest_name(name, names, told):
    assert did_you_mean(name, names) == told


def test_columns_and_files(tmp_path, monkeypatch):
    table = pd.DataFrame({"smiles": ["C"], "logP": [1.0], "name": ["a"]})
    for how, told in (
        ({"target": "log_p"}, "no column 'log_p' (did you mean 'logP'?); it has 'smiles', 'logP', 'name'; choose one"),
        ({"id": "nam"}, "no column 'nam' (did you mean 'name'?); it has 'smiles',"),
        ({"smiles": "SMILS"}, "no column 'SMILS' (did you mean 'smiles'?); it has 'smiles',"),
        ({"target": "xyz"}, "no column 'xyz'; it has 'smiles',"),
    ):
        assert f"the DataFrame has {told}" in raises(DatasetError, "", open_graphs, table, **how)
    (tmp_path / "molecules.csv").write_text("smiles\nC\n")
    (tmp_path / ".molecule.csv").write_text("hidden")
    assert names_in(tmp_path) == ["molecules.csv"]
    monkeypatch.chdir(tmp_path)
    said = raises(DatasetError, "", open_graphs, "molcules.csv")
    assert said == "there is no file or folder molcules.csv (did you mean 'molecules.csv'?)"
    said = raises(DatasetError, "", open_graphs, tmp_path / "molecule.csv")
    assert said.endswith(f"molecule.csv (did you mean '{tmp_path / 'molecules.csv'}'?)")
    said = raises(DatasetError, "", open_graphs, tmp_path / "none" / "molecules.csv")
    assert said == f"there is no file or folder {tmp_path / 'none' / 'molecules.csv'}"


@pytest.mark.parametrize("write", [write_zip, write_folder])
@pytest.mark.parametrize("name", ["TINY", "tiny", "Tiny"])
def test_the_case_of_a_dataset_does_not_matter(offline, write, name):
    write(offline, TINY)
    for found in (gv.datasets.load_tu(name)[0], gv.datasets.load_tu(name, offline)[0], open_graphs(name).read().batch):
        assert len(found) == 2
    assert open_graphs(name).name == "TINY"


def test_the_case_that_is_there_comes_first(offline):
    write_zip(offline, TINY)
    write_zip(offline, TINY | {"graph_labels": "5\n5\n"}, "tiny", "tiny/")
    if len(list(offline.iterdir())) == 1:
        pytest.skip("this file system ignores case")
    assert gv.datasets.load_tu("tiny")[1].tolist() == [5, 5]
    assert gv.datasets.load_tu("TINY")[1].tolist() != [5, 5]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("MUTGA", "MUTGA (did you mean 'MUTAG'?) is not in "),
        ("proteins2", "proteins2 (did you mean 'PROTEINS'?) is not in "),
        ("TINI", "TINI (did you mean 'TINY'?) is not in "),
        ("QQQQ", "QQQQ is not in "),
        ("PROTEINS", "PROTEINS is not in "),
    ],
)
def test_datasets(offline, name, told):
    write_zip(offline, TINY)
    for load in (gv.datasets.load_tu, open_graphs):
        said = raises(DatasetError, "", load, name)
        assert said.startswith(told)
        assert "ConnectionError" in said


def test_names_of_other_files(offline, tmp_path, monkeypatch):
    said = r"^MUTAG is not in .* could not be downloaded .*; put MUTAG.zip into"
    raises(DatasetError, said, gv.datasets.load_tu, "mutag")
    (tmp_path / "library.csv").write_text("smiles\nC\n")
    raises(DatasetError, r"^library \(did you mean 'library.csv'\?\) is not in", open_graphs, "library")
    write_zip(offline, TINY)
    said = r"there is neither TINYY.zip nor TINYY/ in .* \(did you mean 'TINY'\?\); it holds TINY"
    raises(DatasetError, said, gv.datasets.load_tu, "TINYY", offline)
    for k in range(20):
        (offline / f"{k}.csv").touch()
    assert len(names_in(offline)) == 21
    monkeypatch.setattr(files, "_COMPARED_NAMES", 7)
    assert len(names_in(offline)) == 7
    assert names_in(tmp_path / "none") == []
