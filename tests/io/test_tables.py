"""Tables as people have them: the same rows whatever separates columns and encodes text, or one sentence."""

import builtins
import warnings
import zipfile

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("rdkit")

from raising import raises

import gvoys as gv
from gvoys.errors import DatasetError, InputWarning, MissingDependencyError
from gvoys.io import open_graphs

ROWS = [("SMILES", "name", "y"), ("CCO", "é, 1", "1.5"), ("C1CC", "two", "2.5"), ("c1ccccc1", "three", "-3e-1")]


def text(separator, comma="."):
    quote = ('"' if separator == "," else "", '"' if separator == "," else "")
    cells = [(smiles, name if "," not in name else name.join(quote), y.replace(".", comma)) for smiles, name, y in ROWS]
    return "".join(f"{separator.join(row)}\n" for row in cells)


def facts(source):
    graphs = open_graphs(source, id="name", target="y").read()
    return graphs.ids, graphs.smiles, graphs.y.tolist(), [(each.row, each.text) for each in graphs.skipped]


EXPECTED = (["é, 1", "three"], ["CCO", "c1ccccc1"], [1.5, -0.3], [(3, "C1CC")])


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".txt"])
@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "cp1252", "utf-16", "utf-16-le", "utf-16-be"])
def test_the_same_rows_whatever_wrote_them(tmp_path, suffix, separator, encoding):
    (tmp_path / f"a{suffix}").write_bytes(text(separator).encode(encoding))
    assert facts(tmp_path / f"a{suffix}") == EXPECTED


@pytest.mark.parametrize("separator", [";", "\t", ","])
def test_the_kind_of_standard_input_does_not_depend_on_the_separator(separator):
    from gvoys.io.open import guess_suffix

    assert guess_suffix(text(separator).replace("é, ", "e").encode(), "smiles") in (".csv", ".tsv")


def test_decimal_commas_and_names_in_other_encodings(tmp_path):
    (tmp_path / "a.csv").write_text(text(";", ","), encoding="utf-8")
    assert facts(tmp_path / "a.csv") == EXPECTED
    (tmp_path / "b.csv").write_text("smiles;y;z\nC;1,5;1,5,2\nCC;2;3\n")
    graphs = open_graphs(tmp_path / "b.csv").read()
    assert graphs.columns["y"].tolist() == [1.5, 2.0]
    assert graphs.columns["z"].tolist() == ["1,5,2", "3"]


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_names_of_molecules_in_other_encodings(tmp_path, encoding):
    (tmp_path / "a.smi").write_bytes("CCO é\n".encode(encoding))
    assert open_graphs(tmp_path / "a.smi").read().ids == ["é"]


def test_encodings_that_are_guessed_or_damaged(tmp_path):
    (tmp_path / "a.csv").write_bytes("smiles,name\nC,é\nCC,\x81\n".encode("latin-1"))
    with pytest.warns(InputWarning, match=r"^a.csv is not UTF-8 and is read as Windows-1252; save it as UTF-8 if"):
        assert open_graphs(tmp_path / "a.csv", id="name").read().ids == ["é", "\x81"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (tmp_path / "b.csv").write_text("smiles,name\nC,é\n", encoding="utf-8")
        assert open_graphs(tmp_path / "b.csv", id="name").read().ids == ["é"]
    (tmp_path / "a.csv").write_bytes(text(",").encode("utf-16")[:-1])
    with pytest.raises(DatasetError, match=r"^a.csv is not UTF-16, as its first bytes say; save it as UTF-8$"):
        open_graphs(tmp_path / "a.csv")


@pytest.mark.parametrize("smiles", ["CCÿ", "éCC", "CC é"])
def test_what_rdkit_passes_over_is_no_molecule(tmp_path, smiles):
    """It takes bytes at the ends that are no ASCII for spaces."""
    (tmp_path / "a.csv").write_text(f"smiles\nC\n{smiles}\n", encoding="utf-8")
    found = open_graphs(tmp_path / "a.csv").read()
    assert [each.row for each in found.skipped] == ([] if smiles == "CC é" else [3])  # which has a name


def test_rows_are_numbered_as_the_lines_of_the_file(tmp_path):
    (tmp_path / "a.csv").write_text('smiles,note\nCC,"one\ntwo"\n\nC1CC,\nCO,\n')
    graphs = open_graphs(tmp_path / "a.csv").read()
    assert (graphs.rows, graphs.ids) == ([6], ["5"])  # ids count rows, as those of any other table do
    assert [each.row for each in graphs.skipped] == [2, 3, 5]
    assert [each.row for piece in open_graphs(tmp_path / "a.csv").batches(1) for each in piece.skipped] == [2, 3, 5]
    assert open_graphs(pd.DataFrame({"smiles": ["C1CC", "CO"]})).read().skipped[0].row == 1
    (tmp_path / "b.csv").write_text("smiles,y\nC,inf\nCC,1\n")
    assert np.isinf(open_graphs(tmp_path / "b.csv", target="y").read().y[0])
    from gvoys.apps.explore import load_collection

    (tmp_path / "a.csv").write_text("smiles\nCC\n\nC1CC\nCO\n")
    assert load_collection(tmp_path / "a.csv", names=["first", "bad", "last"]).captions == ["first", "last"]


REACTION = r"is a reaction, and reactions are not read; give its parts"


# -- workbooks
def write_workbook(path, rows):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path


def test_a_workbook_is_a_table(tmp_path):
    rows = [ROWS[0], *((smiles, name, float(y)) for smiles, name, y in ROWS[1:])]
    source = write_workbook(tmp_path / "a.xlsx", rows)
    assert facts(source) == EXPECTED
    assert str(open_graphs(source)) == "a.xlsx"
    source = write_workbook(tmp_path / "b.xlsx", [("smiles", "note"), ("CC", "one\ntwo"), (None, None), ("C1CC", 7)])
    assert [each.row for each in open_graphs(source).read().skipped] == [4]


def test_workbooks_that_cannot_be_read(tmp_path, monkeypatch):
    pytest.importorskip("openpyxl")
    (tmp_path / "a.xlsx").write_bytes(b"PK\x03\x04")
    raises(DatasetError, r"a.xlsx is not a readable workbook \(.*\); save it as CSV", open_graphs, tmp_path / "a.xlsx")
    with zipfile.ZipFile(tmp_path / "b.xlsx", "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("xl/sharedStrings.xml", bytes(1 << 27))
    raises(DatasetError, r"b.xlsx unpacks to over .* bytes; save it as CSV", open_graphs, tmp_path / "b.xlsx")

    def without(name, *args, **how):
        if name == "openpyxl":
            raise ImportError
        return real(name, *args, **how)

    real = builtins.__import__
    (tmp_path / "a.xlsx").write_bytes(b"")
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingDependencyError, match=r'a.xlsx .* save it as CSV, or .* pip install "gvoys\[excel\]"'):
        open_graphs(tmp_path / "a.xlsx")


# -- reactions


@pytest.mark.parametrize(
    ("smiles", "said"),
    [
        *((text, REACTION) for text in ("CCO>>CC=O", "CCO>[Na+]>CC=O", ">>C", "[CH3:1]O>>[CH3:1]Cl |f:0.1|")),
        *((text, "RDKit cannot read") for text in ("C>", "N->[Fe]<-X", "C1CC")),
    ],
)
def test_reactions_are_named(smiles, said):
    raises(gv.errors.GraphError, said, gv.from_smiles, [smiles])
    assert len(gv.from_smiles(["[NH3]->[Fe]<-[NH3]"])) == 1
