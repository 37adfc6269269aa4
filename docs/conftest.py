"""The folder that the examples of these pages are in: a table and a library of molecules, and features of it."""

import pytest

# fmt: off
SMILES = [
    "CN(C)C(=O)c1ccc(cc1)OC", "CS(=O)(=O)Cl", "CC(C)C=C", "CCc1cnccn1", "CCCCCCCO", "Cc1cc(cnc1)C",
    "COC(C(OC)(F)F)Cl", "C1CCNC1", "CCOC=O", "CCCCCCN", "c1ccccc1", "CCO", "CC(=O)O", "CCN", "CCCl",
    "Cc1ccccc1", "Oc1ccccc1", "CC#N", "C1CCCCC1", "CC=O", "CCCCC", "CCCCO", "CC(C)O", "c1ccncc1", "CCS",
    "CBr", "CCOCC", "CC(C)=O", "CCCC=O", "COC", "Nc1ccccc1", "Clc1ccccc1", "CCC#N", "C=CC=C", "CCCCCl",
    "CC(=O)OC", "OCCO", "CNC", "c1ccsc1", "CCI",
]
# fmt: on


@pytest.fixture(autouse=True)
def folder(request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"molecule {i},{smiles},{-0.3 * len(smiles):.2f}" for i, smiles in enumerate(SMILES)]
    (tmp_path / "freesolv.csv").write_text("\n".join(["name,smiles,expt", *rows]) + "\n")
    (tmp_path / "library.smi").write_text("\n".join(SMILES) + "\n")
    if request.node.path.name == "molecules.md":
        from typer.testing import CliRunner

        from gvoys.apps.cli import app

        done = CliRunner().invoke(app, ["embed", "library.smi", "-o", "features/"])
        assert done.exit_code == 0, done.output
