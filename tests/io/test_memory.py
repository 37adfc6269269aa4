"""Small inputs that claim much: read or refused in less than a gigabyte, the program included, and 25 s of CPU time."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("rdkit")

EXPECTED = {
    "s6 of 10^7 nodes each": "1 graphs, 100 skipped",
    "s6 of 10^6 nodes each": "nodes together, most of which have no edges; read fewer rows at a time",
    "s6 of 64 nodes each": "50001 graphs, 0 skipped",
    "s6 of parallel edges": "1 graphs, 1 skipped",
    "g6 of too many edges": "1 graphs, 1 skipped",
    "g6 of many edges": "2 graphs, 0 skipped",
    "g6 of many graphs": "16001 graphs, 0 skipped",
    "zip of 2 GiB": "times its size and 32 MiB; unpack it and pass the folder",
    "zip of 32 MiB": "1 graphs, 0 skipped",
    "zip of few nodes and many graphs": "1,000,000,000,000 graphs with 2 nodes",
    "smi nested": "1 graphs, 1 skipped",
    "smi long": "1 graphs, 1 skipped",
    "smi with hydrogens": "2 graphs, 0 skipped",
    "smi of one line": "has a line of over 64 MiB, at byte 3",
    "csv of one line": "has a line of over 64 MiB, at byte 10",
    "jsonl nested": "row 1: the line has over 3,000,000 values; a store takes larger graphs",
    "jsonl of empty nodes": "row 1: the line has over 3,000,000 values",
    "jsonl of fewer empty nodes": "1 graphs, 0 skipped",
    "jsonl of empty lists": "row 1: the line has over 3,000,000 values",
    "jsonl of huge ids": "1 graphs, 1 skipped",
    "store that claims terabytes": "has 164 bytes and should have",
    "array that claims terabytes": "its header does not fit",
    "parquet of many rows": "has a row group of 30,000,000 rows in a file of",
    "parquet of one text": "the SMILES has 100,000 characters, and at most 10,000 are read",
}


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="the system keeps no count of memory")
def test_hostile_inputs_take_less_than_a_gigabyte(tmp_path):
    program = Path(__file__).with_name("hostile.py")
    done = subprocess.run(
        [sys.executable, str(program), str(tmp_path)], capture_output=True, text=True, env=os.environ, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["name"] for line in lines] == list(EXPECTED)
    for line in lines:
        print(f"{line['name']:36} {line['MiB']:5} MiB {line['seconds']:5.1f} s")
        assert EXPECTED[line["name"]] in line["said"][0]
        assert line["MiB"] < 1000
        assert line["seconds"] < 25
        assert all("\n" not in said and len(said) < 600 for said in line["said"])
