"""Damaged inputs: every one gives a clean run or one sentence, never a traceback, a hang or output that looks whole."""

import json
import os
import shutil

import numpy as np
import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("rdkit")

from input_files import write_inputs

from gvoys.errors import GvoysError
from gvoys.scale import embed_file
from gvoys.scale.job import Parameters
from gvoys.scale.parts import part_path, read_features

PARAMETERS = Parameters(max_length=2, n_components=16, rows_per_part=11)
NAMES = ("a.smi", "a.csv", "a.tsv", "a.parquet", "a.g6", "a.s6", "a.jsonl", "TINY.zip", "TINY", "store")


def mutate(content, rng):
    """Flip bits, cut, swap two stretches, repeat one, or write noise."""
    data = bytearray(content)
    for _ in range(rng.integers(1, 4)):
        if len(data) < 4:
            return bytes(data)
        a, b = sorted(rng.integers(len(data), size=2).tolist())
        match rng.integers(6):
            case 0 | 1:
                data[a] ^= 1 << rng.integers(8)
            case 2:
                del data[a : min(b, a + 50)]
            case 3:
                data = data[:b]
            case 4:
                size = min(20, b - a, len(data) - b)
                data[a : a + size], data[b : b + size] = data[b : b + size], data[a : a + size]
            case 5:
                data[a : a + 6] = rng.bytes(6)
    return bytes(data)


def embed_or_refuse(path, out):
    try:
        return embed_file(path, out, PARAMETERS), ""
    except GvoysError as error:
        return None, str(error)


def run_mutations(folder, inputs, n_mutations, seed):
    """Counts of clean runs and of refusals; anything else raises."""
    rng = np.random.default_rng(seed)
    shutil.make_archive(str(inputs / "TINY"), "zip", inputs, "TINY")
    clean = refused = 0
    for k in range(n_mutations):
        name = NAMES[k % len(NAMES)]
        target, out = folder / name, folder / "out"
        source = inputs / name
        if source.is_dir():
            shutil.copytree(source, target)
            files = sorted(target.iterdir())
            file = files[rng.integers(len(files))]
            file.write_bytes(mutate(file.read_bytes(), rng))
        else:
            target.write_bytes(mutate(source.read_bytes(), rng))
        summary, sentence = embed_or_refuse(target, out)
        if summary is None:
            refused += 1
            assert sentence
            assert "\n" not in sentence
            assert not (out / "summary.json").exists()
        else:
            clean += 1
            assert json.loads((out / "summary.json").read_text())["graphs"] == summary.n_graphs
            for index in range(summary.n_parts):
                assert np.isfinite(read_features(part_path(out, index))).all()
        for path in (target, out):
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    return clean, refused


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_damaged_inputs_are_read_or_refused(tmp_path):
    inputs, work = tmp_path / "inputs", tmp_path / "work"
    write_inputs(inputs)
    work.mkdir()
    count = int(os.environ.get("GVOYS_MUTATIONS", "400"))  # make fuzz tries 10,000
    clean, refused = run_mutations(work, inputs, count, seed=0)
    print(f"{count} damaged inputs: {clean} clean runs, {refused} refused in one sentence")
    assert clean > 0.3 * count
    assert refused > 0.2 * count
