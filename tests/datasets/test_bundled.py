"""The table that ships with the package: the same graphs with and without RDKit."""

import gzip
import subprocess
import sys

import make_freesolv
import numpy as np
import pytest

import gvoys as gv
from gvoys.datasets.loaders import FREESOLV, read_freesolv


def test_freesolv():
    batch, y = gv.datasets.freesolv()
    assert (len(batch), batch.n_nodes) == (642, 5600)
    assert y.dtype == np.float64
    assert -25.5 < y.min() < y.max() < 3.5
    found = read_freesolv()
    assert found.ids[2] == "3-methylbut-1-ene"
    assert found.columns["smiles"][2] == "CC(C)C=C"
    assert y[2] == 1.83
    code = "import sys; sys.modules['rdkit'] = None; import gvoys as gv; print(len(gv.datasets.freesolv()[1]))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "642\n"
    text = FREESOLV.with_suffix(".txt").read_text()
    assert "CC BY 4.0" in text
    assert "Mobley" in text


def test_the_graphs_are_those_of_the_smiles():
    pytest.importorskip("rdkit")
    kept = gzip.decompress(FREESOLV.with_suffix(".jsonl.gz").read_bytes()).decode().splitlines()
    assert make_freesolv.lines(FREESOLV) == kept
    batch, y = gv.datasets.freesolv()
    of_smiles, same = gv.datasets.load_smiles(FREESOLV, "expt")
    np.testing.assert_array_equal(y, same)
    for labels in ("node_labels", "edge_labels"):
        np.testing.assert_array_equal(getattr(batch, labels).hashed, getattr(of_smiles, labels).hashed)
    np.testing.assert_array_equal(batch.indices, of_smiles.indices)
