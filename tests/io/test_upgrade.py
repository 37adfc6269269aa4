"""What 0.1.1 wrote can be used, or one sentence says what to do.

made_by_0.1.1.zip was written by that version, the baseline of `python -m studies against`: a store with all that a
store could hold, and features of three molecules with four components.
"""

import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest

import gvoys as gv
from gvoys.apps.scale import embed_file
from gvoys.errors import ModelError, ParameterError

MADE = Path(__file__).parent / "made_by_0.1.1.zip"


@pytest.fixture
def old(tmp_path):
    with zipfile.ZipFile(MADE) as file:
        file.extractall(tmp_path)
    return tmp_path


def test_a_store_is_opened_and_would_be_written_alike(old):
    batch = gv.open_store(old / "store")
    assert repr(batch) == (
        "GraphBatch(2 graphs, 7 nodes, 5 edges, directed, weighted, 7 node labels, 5 edge labels, 2 attributes)"
    )
    assert batch.node_labels.decode() == [("C", False, 3), b"x", None, 1.5, "é", True, 2]
    assert batch.edge_labels.decode() == ["a", "b", 1, 2, (1, "z")]
    np.testing.assert_array_equal(batch.edge_weights, np.arange(5) + 0.5)
    np.testing.assert_array_equal(batch.node_attributes, np.arange(14.0).reshape(7, 2) / 8)
    gv.write_store(batch, old / "again")
    for file in (old / "store").iterdir():
        assert (old / "again" / file.name).read_bytes() == file.read_bytes()


def test_features_are_read_but_not_continued_nor_compared_with(old):
    pytest.importorskip("pyarrow")
    ids, features = gv.read_features(old / "features")
    assert ids == ["ethanol", "benzene", "3"]
    np.testing.assert_allclose(features[0], [0.0607639, 0.06250001, 0.05609809, -0.09711372], rtol=1e-6)
    pytest.importorskip("pyarrow")
    pytest.importorskip("rdkit")
    with pytest.raises(ParameterError, match="holds a run of another version of gvoys; choose another folder"):
        embed_file(old / "molecules.smi", old / "features")
    with pytest.raises(ParameterError, match="whose features may differ; embed it again"):
        embed_file(old / "molecules.smi", old / "new", like=old / "features")


def test_a_pickled_model_says_what_to_do(tmp_path):
    """0.1 had no files of models, so that they were pickled, if kept at all."""
    (tmp_path / "model.pickle").write_bytes(pickle.dumps({"of": "0.1"}))
    with pytest.raises(ModelError, match=r"is a pickle, .* fit the model again and keep it with model.save"):
        gv.load_model(tmp_path / "model.pickle")
