"""gvoys kernel: the matrix of the estimator's features, by blocks, and the same after an interruption."""

import numpy as np
import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("rdkit")

from input_files import write_inputs

import gvoys as gv
from gvoys.errors import ParameterError
from gvoys.scale import write_gram
from gvoys.scale.job import Parameters

SMALL = Parameters(max_length=2, n_components=128, rows_per_part=4, lengths="stacked")


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs")
    write_inputs(folder)
    return folder


@pytest.mark.parametrize("normalize", [False, True])
def test_the_matrix_of_the_features(inputs, tmp_path, normalize):
    summary = write_gram(inputs / "store", tmp_path / "K.npy", SMALL, normalize=normalize)
    batch = gv.open_store(inputs / "store")
    X = (
        gv.RandomWalkFeatures(gv.Geometric(1 / 16), max_length=2, n_components=128)
        .fit(batch)
        .transform(batch)
        .astype(float)
    )
    if normalize:
        X /= np.linalg.norm(X, axis=1, keepdims=True)
    K = np.load(tmp_path / "K.npy", mmap_mode="r")
    np.testing.assert_allclose(K, X @ X.T, rtol=1e-12)
    np.testing.assert_array_equal(K, K.T)
    assert summary.n_graphs == 30
    assert (tmp_path / "K.ids.txt").read_text().split() == [str(i + 1) for i in range(30)]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["K.ids.txt", "K.npy", "K.skipped.csv"]


def test_a_run_that_was_stopped_goes_on(inputs, tmp_path):
    write_gram(inputs / "store", tmp_path / "whole.npy", SMALL)

    def stop(done, total):
        if done > 10:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_gram(inputs / "store", tmp_path / "K.npy", SMALL, on_rows=stop)
    assert not (tmp_path / "K.npy").exists()
    with pytest.raises(ParameterError, match="other parameters"):
        write_gram(inputs / "store", tmp_path / "K.npy", SMALL, normalize=True)
    seen = []
    write_gram(inputs / "store", tmp_path / "K.npy", SMALL, on_rows=lambda done, total: seen.append(done))
    assert seen[0] == 12
    assert (tmp_path / "K.npy").read_bytes() == (tmp_path / "whole.npy").read_bytes()


def test_refusals(inputs, tmp_path):
    with pytest.raises(ParameterError, match=r"NAME\.npy"):
        write_gram(inputs / "store", tmp_path / "K.csv", SMALL)
    (tmp_path / "K.npy").write_text("")
    with pytest.raises(ParameterError, match="exists already"):
        write_gram(inputs / "store", tmp_path / "K.npy", SMALL)
