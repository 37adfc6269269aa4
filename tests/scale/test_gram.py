"""gvoys kernel: the matrix of the estimator's features, by blocks, and the same after an interruption."""

import contextlib
import errno
import os
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("rdkit")

from processes import content
from raising import raises

import gvoys as gv
from gvoys.apps.scale import gram, write_gram
from gvoys.apps.scale.job import Parameters
from gvoys.errors import ParameterError

SMALL = Parameters(decay=1 / 16, walk=gv.Walk(2), method="sketch", n_components=128, rows_per_part=4, lengths="stacked")


@pytest.mark.parametrize("normalize", [False, True])
def test_the_matrix_of_the_features(inputs, tmp_path, normalize):
    summary = write_gram(inputs / "store", tmp_path / "K.npy", SMALL, normalize=normalize)
    batch = gv.open_store(inputs / "store")
    X = gv.RandomWalkFeatures(gv.Geometric(1 / 16), gv.Walk(2), n_components=128).fit_transform(batch).astype(float)
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
    raises(ParameterError, "other parameters", write_gram, inputs / "store", tmp_path / "K.npy", SMALL, normalize=True)
    seen = []
    write_gram(inputs / "store", tmp_path / "K.npy", SMALL, on_rows=lambda done, total: seen.append(done))
    assert seen[0] == 12
    assert (tmp_path / "K.npy").read_bytes() == (tmp_path / "whole.npy").read_bytes()


@pytest.mark.parametrize("after", range(42))
def test_a_run_that_is_stopped_at_its_end_goes_on(inputs, tmp_path, monkeypatch, after):
    """An interrupt before every step, from the first result outside its folder to the last file that goes."""
    (tmp_path / "whole").mkdir()
    write_gram(inputs / "store", tmp_path / "whole" / "K.npy", SMALL)
    steps, out = iter(range(100)), tmp_path / "part" / "K.npy"

    def counted(step):
        def then(*arguments, **named):
            if next(steps) == after:
                raise KeyboardInterrupt
            return step(*arguments, **named)

        return then

    with monkeypatch.context() as patched:
        real = gram._fill

        def fill(*arguments):
            real(*arguments)
            for module, name in ((os, "replace"), (os, "rename"), (os, "unlink"), (os, "rmdir"), (os, "open")):
                patched.setattr(module, name, counted(getattr(module, name)))
            for name in ("replace", "unlink", "rmdir"):
                patched.setattr(Path, name, counted(getattr(Path, name)))

        patched.setattr(gram, "_fill", fill)
        with contextlib.suppress(KeyboardInterrupt):
            write_gram(inputs / "store", out, SMALL)
    done = out.exists() and not content(out.with_name("K.npy.work"))  # the folder may be there, and be empty
    with pytest.raises(ParameterError, match="exists already") if done else contextlib.nullcontext():
        write_gram(inputs / "store", out, SMALL)
    assert content(tmp_path / "part") == content(tmp_path / "whole")


def test_a_second_run_at_the_same_time_is_kept_out(inputs, tmp_path):
    def second(done, total):
        raises(ParameterError, "another run is at work", write_gram, inputs / "store", tmp_path / "K.npy", SMALL)

    write_gram(inputs / "store", tmp_path / "K.npy", SMALL, on_rows=second)
    assert sorted(content(tmp_path)) == ["K.ids.txt", "K.npy", "K.skipped.csv"]


@pytest.mark.parametrize("place", [3, 200, -1], ids=["header", "row", "end"])
def test_a_damaged_matrix_is_filled_again(inputs, tmp_path, place):
    write_gram(inputs / "store", tmp_path / "whole.npy", SMALL)

    def stop(done, total):
        if done == total:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_gram(inputs / "store", tmp_path / "K.npy", SMALL, on_rows=stop)
    file = tmp_path / "K.npy.work" / "matrix.npy"
    damaged = bytearray(file.read_bytes())
    damaged[place] ^= 1
    file.write_bytes(damaged)
    write_gram(inputs / "store", tmp_path / "K.npy", SMALL)
    assert (tmp_path / "K.npy").read_bytes() == (tmp_path / "whole.npy").read_bytes()


def test_a_matrix_that_has_no_space_is_one_sentence(inputs, tmp_path, monkeypatch):
    def full(descriptor, offset, length):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "posix_fallocate", full, raising=False)
        with pytest.raises(
            OSError, match=r"^the matrix needs 7.2 kB and .* are free in .*same command again$"
        ) as caught:
            write_gram(inputs / "store", tmp_path / "K.npy", SMALL)
    assert caught.value.errno == errno.ENOSPC
    assert not (tmp_path / "K.npy.work" / "matrix.npy").exists()
    write_gram(inputs / "store", tmp_path / "K.npy", SMALL)
    write_gram(inputs / "store", tmp_path / "whole.npy", SMALL)
    assert (tmp_path / "K.npy").read_bytes() == (tmp_path / "whole.npy").read_bytes()


def test_refusals(inputs, tmp_path):
    raises(ParameterError, r"NAME\.npy", write_gram, inputs / "store", tmp_path / "K.csv", SMALL)
    (tmp_path / "K.ids.txt").write_text("mine")  # a run that was stopped at its end takes such files for its own
    raises(ParameterError, r"K.ids.txt exists already", write_gram, inputs / "store", tmp_path / "K.npy", SMALL)
    assert (tmp_path / "K.ids.txt").read_text() == "mine"
    (tmp_path / "K.npy").write_text("")
    raises(ParameterError, "exists already", write_gram, inputs / "store", tmp_path / "K.npy", SMALL)
