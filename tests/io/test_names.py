"""Misspelt names: the nearest one is suggested, and the case of a dataset's name does not matter."""

import pandas as pd
import pytest
from test_tu import TINY, write_folder, write_zip

import gvoys as gv
from gvoys.errors import DatasetError
from gvoys.io import fetch, open_graphs
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


def test_columns():
    table = pd.DataFrame({"smiles": ["C"], "logP": [1.0], "name": ["a"]})
    for how, told in (
        (
            {"target": "log_p"},
            "no column 'log_p' (did you mean 'logP'?); it has 'smiles', 'logP', 'name'; choose one with",
        ),
        ({"id": "nam"}, "no column 'nam' (did you mean 'name'?); it has 'smiles',"),
        ({"smiles": "SMILS"}, "no column 'SMILS' (did you mean 'smiles'?); it has 'smiles',"),
        ({"target": "xyz"}, "no column 'xyz'; it has 'smiles',"),
    ):
        with pytest.raises(DatasetError) as caught:
            open_graphs(table, **how)
        assert f"the DataFrame has {told}" in str(caught.value)


def test_files(tmp_path, monkeypatch):
    (tmp_path / "molecules.csv").write_text("smiles\nC\n")
    (tmp_path / ".molecule.csv").write_text("hidden")
    assert names_in(tmp_path) == ["molecules.csv"]
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DatasetError) as caught:
        open_graphs("molcules.csv")
    assert str(caught.value) == "there is no file or folder molcules.csv (did you mean 'molecules.csv'?)"
    with pytest.raises(DatasetError) as caught:
        open_graphs(tmp_path / "molecule.csv")
    assert str(caught.value).endswith(f"molecule.csv (did you mean '{tmp_path / 'molecules.csv'}'?)")
    with pytest.raises(DatasetError) as caught:
        open_graphs(tmp_path / "none" / "molecules.csv")
    assert str(caught.value) == f"there is no file or folder {tmp_path / 'none' / 'molecules.csv'}"


def test_a_folder_of_many_files(tmp_path, monkeypatch):
    from gvoys.io import files

    for k in range(20):
        (tmp_path / f"{k}.csv").touch()
    assert len(names_in(tmp_path)) == 20
    monkeypatch.setattr(files, "_COMPARED_NAMES", 7)
    assert len(names_in(tmp_path)) == 7
    assert names_in(tmp_path / "none") == []


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


def test_a_known_dataset_is_downloaded_by_its_name_in_any_case(offline):
    with pytest.raises(DatasetError, match=r"^MUTAG is not in .* could not be downloaded .*; put MUTAG.zip into"):
        gv.datasets.load_tu("mutag")


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
        with pytest.raises(DatasetError) as caught:
            load(name)
        assert str(caught.value).startswith(told)
        assert "ConnectionError" in str(caught.value)


def test_a_file_without_its_ending(offline, tmp_path):
    (tmp_path / "library.csv").write_text("smiles\nC\n")
    with pytest.raises(DatasetError, match=r"^library \(did you mean 'library.csv'\?\) is not in"):
        open_graphs("library")


def test_datasets_of_a_folder(tmp_path):
    write_zip(tmp_path, TINY)
    with pytest.raises(DatasetError) as caught:
        gv.datasets.load_tu("TINYY", tmp_path)
    assert f"there is neither TINYY.zip nor TINYY/ in {tmp_path} (did you mean 'TINY'?); it holds TINY" in str(
        caught.value
    )
    assert "MUTAG" in fetch.ZIPS
