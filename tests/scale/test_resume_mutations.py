"""Folders of unfinished and finished runs, changed at random: the bytes of a fresh run, or one sentence.

GVOYS_RESUME_MUTATIONS is the number of changes, of four kinds of folders together; with -s, outcomes are counted by the
file that was changed.
"""

import os
import shutil
from collections import Counter

import numpy as np
import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("rdkit")

from input_files import write_inputs
from processes import content

from gvoys.errors import GvoysError
from gvoys.scale import embed_file, gram, write_gram
from gvoys.scale.job import Parameters

CHANGES = int(os.environ.get("GVOYS_RESUME_MUTATIONS", "60"))
SMALL = Parameters(max_length=3, n_components=16, rows_per_part=7)
SPARSE = Parameters(max_length=3, method="sequences", rows_per_part=7)


@pytest.fixture(scope="module")
def molecules(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs")
    write_inputs(folder)
    return folder / "a.smi"


def stop_after(n_calls):
    calls = []

    def stop(*_):
        calls.append(1)
        if len(calls) > n_calls:
            raise KeyboardInterrupt

    return stop


# -- changes


def flip(data, rng):
    place = rng.integers(len(data))
    return data[:place] + bytes([data[place] ^ 1 << rng.integers(8)]) + data[place + 1 :]


def another_byte(data, rng):
    place = rng.integers(len(data))
    return data[:place] + rng.bytes(1) + data[place + 1 :]


def truncate(data, rng):
    return data[: rng.integers(len(data))]


def extend(data, rng):
    return data + rng.bytes(rng.integers(1, 40))


def cut_out(data, rng):
    begin = rng.integers(len(data))
    return data[:begin] + data[begin + rng.integers(1, 20) :]


def repeat(data, rng):
    begin, end = sorted(rng.integers(len(data) + 1, size=2))
    return data[:end] + data[begin:]


def zeros(data, rng):
    begin, end = sorted(rng.integers(len(data) + 1, size=2))
    return data[:begin] + bytes(end - begin) + data[end:]


def digits(data, rng):
    """What a text may say as well."""
    place = rng.integers(len(data))
    return data[:place] + b'0123456789abcdef \n"[{tf,'[rng.integers(24) :][:1] + data[place + 1 :]


BYTES = [flip, another_byte, truncate, extend, cut_out, repeat, zeros, digits]


def change(folder, rng):
    """Change one file; gives its kind."""
    files = [file for file in sorted(folder.rglob("*")) if file.is_file()]
    file = files[rng.integers(len(files))]
    data, how = file.read_bytes(), rng.integers(len(BYTES) + 2)
    if how == len(BYTES):
        file.unlink()
    elif how > len(BYTES):
        other = files[rng.integers(len(files))]  # often a part for another part
        file.write_bytes(other.read_bytes())
    elif data:
        file.write_bytes(BYTES[how](data, rng))
    return "part" if file.name.startswith("part-") else file.name


def outcome(run, folder, expected):
    said = ""
    try:
        run()
    except GvoysError as error:
        said = str(error)
    assert "\n" not in said
    assert len(said) < 600
    assert said or content(folder) == expected
    return "sentence" if said else "same bytes"


def count(name, run, prepared, folder, expected, seed):
    rng, counts = np.random.default_rng(seed), Counter()
    for _ in range(CHANGES // 4):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(prepared, folder)
        counts[change(folder, rng), outcome(run, folder, expected)] += 1
    for (kind, what), times in sorted(counts.items()):
        print(f"{name}: {kind}: {what}: {times}")


# -- folders


@pytest.mark.parametrize("parameters", [SMALL, SPARSE], ids=["dense", "sparse"])
@pytest.mark.parametrize("calls", [3, 100], ids=["stopped", "finished"])
def test_embed_goes_on_in_a_damaged_folder(molecules, tmp_path, calls, parameters):
    embed_file(molecules, tmp_path / "whole", parameters)
    try:
        embed_file(molecules, tmp_path / "prepared", parameters, on_progress=stop_after(calls))
    except KeyboardInterrupt:
        assert calls == 3
    out = tmp_path / "out"
    name, expected = "stopped" if calls == 3 else "finished", content(tmp_path / "whole")
    count(f"embed, {name}", lambda: embed_file(molecules, out, parameters), tmp_path / "prepared", out, expected, calls)


@pytest.mark.parametrize("stage", ["filling", "moving"])
def test_kernel_goes_on_in_a_damaged_folder(molecules, tmp_path, monkeypatch, stage):
    for name in ("whole", "prepared"):
        (tmp_path / name).mkdir()
    write_gram(molecules, tmp_path / "whole" / "K.npy", SMALL)
    if stage == "moving":
        monkeypatch.setattr(gram, "_move", _move_two)
    on_rows = stop_after(3 if stage == "filling" else 100)
    with pytest.raises(KeyboardInterrupt):
        write_gram(molecules, tmp_path / "prepared" / "K.npy", SMALL, on_rows=on_rows)
    monkeypatch.undo()
    out = tmp_path / "out"
    run, expected = (lambda: write_gram(molecules, out / "K.npy", SMALL)), content(tmp_path / "whole")
    count(f"kernel, {stage}", run, tmp_path / "prepared", out, expected, len(stage))


def _move_two(work, out):
    (work / "ids.txt").replace(out.with_suffix(".ids.txt"))
    (work / "features.skipped.csv").replace(out.with_suffix(".skipped.csv"))
    raise KeyboardInterrupt
