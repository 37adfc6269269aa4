"""Small inputs that ask for much memory or time; run as a program, it reads each and prints what that took.

python hostile.py FOLDER [NAME …] prints one JSON object per line: name, MiB at the peak, seconds, and what came of it.
"""

import json
import sys
import time
import zipfile
from pathlib import Path

import numpy as np

from gvoys import Walk


def sparse6(n, body=b""):
    digits = [n >> shift & 63 for shift in (30, 24, 18, 12, 6, 0)]
    return b":~~" + bytes(digit + 63 for digit in digits) + body


def complete(n):
    size = bytes([126, *(63 + (n >> shift & 63) for shift in (12, 6, 0))]) if n > 62 else bytes([63 + n])
    return size + b"~" * -(-n * (n - 1) // 12)


def write(path, *pieces):
    with path.open("wb") as file:
        for piece in pieces:
            file.write(piece)
    return path


def write_tu(path, **parts):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for part, text in parts.items():
            with out.open(f"{path.stem}_{part}.txt", "w", force_zip64=True) as file:
                for piece in text:
                    file.write(piece)
    return path


def constant_parquet(path):
    """30 million rows in some kilobytes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    column = pa.DictionaryArray.from_arrays(np.zeros(30_000_000, np.int8), ["CC"])
    pq.write_table(pa.table({"smiles": column}), path, row_group_size=1 << 30)
    return path


def repeated_parquet(path):
    """One long text in each of many rows, stored once."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    column = pa.DictionaryArray.from_arrays(np.zeros(20_000, np.int32), ["C" * 100_000])
    pq.write_table(pa.table({"smiles": column}), path)
    return path


def huge_store(path):
    """A store whose manifest claims arrays of terabytes."""
    from gvoys.io.store import write_store
    from gvoys.io.store.store_reader import MANIFEST, write_manifest

    write_store([np.ones((3, 3))], path)
    body = json.loads((path / MANIFEST).read_text())
    body["arrays"]["indices"].update(shape=[2**40], bytes=128 + 4 * 2**40)
    write_manifest(path, {key: body[key] for key in ("directed", "arrays", "values")})
    return path


def huge_header(path):
    """A store whose array says in its own header to have terabytes."""
    from gvoys.io.store import write_store
    from gvoys.io.store.store_reader import npy_header

    write_store([np.ones((3, 3))], path)
    raw = (path / "indices.npy").read_bytes()
    (path / "indices.npy").write_bytes(npy_header(np.dtype(np.int32), (2**40,)) + raw[128:])
    return path


NODES = b'{"nodes": [' + b"{}," * 5_000_000 + b'{}], "links": []}\n'
INPUTS = {
    "s6 of 10^7 nodes each": lambda d: write(d / "a.s6", b"A_\n", (sparse6(10**7) + b"\n") * 100),
    "s6 of 10^6 nodes each": lambda d: write(d / "a.s6", b"A_\n", (sparse6(10**6) + b"\n") * 2000),
    "s6 of 64 nodes each": lambda d: write(d / "a.s6", b"A_\n", (sparse6(64) + b"\n") * 50_000),
    "s6 of parallel edges": lambda d: write(d / "a.s6", b"A_\n", b":A", b"?" * (1 << 24), b"\n"),
    "g6 of too many edges": lambda d: write(d / "a.g6", b"A_\n", complete(3000), b"\n"),
    "g6 of many edges": lambda d: write(d / "a.g6", b"A_\n", complete(1200), b"\n"),
    "g6 of many graphs": lambda d: write(d / "a.g6", b"A_\n", (complete(20) + b"\n") * 16_000),
    "zip of 2 GiB": lambda d: write_tu(d / "Z.zip", A=[b"1, 1\n"], graph_indicator=[b"1\n" * 2**20] * 1024),
    "zip of 32 MiB": lambda d: write_tu(
        d / "Z.zip", A=[b"1, 1\n"], graph_indicator=[b"1\n" * 2**20] * 4, node_labels=[b"0\n" * 2**20] * 4
    ),
    "zip of few nodes and many graphs": lambda d: write_tu(
        d / "Z.zip", A=[b"1, 1\n"], graph_indicator=[b"1\n1000000000000\n"]
    ),
    "smi nested": lambda d: write(d / "a.smi", b"CC\n", b"C(" * 300_000, b"C", b")" * 300_000, b"\n"),
    "smi long": lambda d: write(d / "a.smi", b"CC\n", b"c1ccccc1" * 200_000, b"\n"),
    "smi with hydrogens": lambda d: write(d / "a.smi", b"CC\n", b"C([H])" * 1_600, b"\n"),
    "smi of one line": lambda d: write(d / "a.smi", b"CC\n", "😀".encode(), b"C" * (200 << 20)),
    "csv of one line": lambda d: write(d / "a.csv", b"smiles\nCC\n", b"C," * (100 << 20)),
    "jsonl nested": lambda d: write(d / "a.jsonl", b"[" * (1 << 24), b"\n", b'{"nodes":' * (1 << 20), b"\n"),
    "jsonl of empty nodes": lambda d: write(d / "a.jsonl", NODES),
    "jsonl of fewer empty nodes": lambda d: write(
        d / "a.jsonl", b'{"nodes": [' + b"{}," * 1_400_000 + b'{}], "links": []}\n'
    ),
    "jsonl of empty lists": lambda d: write(d / "a.jsonl", b'{"nodes": [' + b"[]," * 20_000_000 + b"[]]}\n"),
    "jsonl of huge ids": lambda d: write(
        d / "a.jsonl", b'{"nodes": [{"id": 1' + b"0" * 4000 + b'}, {"id": 1e400}], "links": []}\n', NODES[:100] + b"\n"
    ),
    "store that claims terabytes": lambda d: huge_store(d / "store"),
    "array that claims terabytes": lambda d: huge_header(d / "store"),
    "parquet of many rows": lambda d: constant_parquet(d / "a.parquet"),
    "parquet of one text": lambda d: repeated_parquet(d / "a.parquet"),
}


def peak():
    """MiB at the peak, of which the system keeps count."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) // 1024


def read_all(path):
    """All at once, and in pieces; what came of the first."""
    from gvoys.errors import GvoysError
    from gvoys.io import open_graphs

    said = []
    for read in (lambda source: [source.read()], lambda source: source.batches()):
        try:
            found = [(len(each.batch), len(each.skipped)) for each in read(open_graphs(path))]
            said.append("{} graphs, {} skipped".format(*np.sum(found, axis=0)))
        except GvoysError as error:
            said.append(str(error))
    return said


def embed(path, out):
    from gvoys.apps.scale import embed_file
    from gvoys.apps.scale.job import Parameters
    from gvoys.errors import GvoysError

    try:
        done = embed_file(path, out, Parameters(walk=Walk(1), n_components=8))
        return f"{done.n_graphs} graphs, {done.n_skipped} skipped"
    except GvoysError as error:
        return str(error)


def main(folder, names):
    read_all(write(folder / "warm.smi", b"CC\n"))
    read_all(write(folder / "warm.s6", b"A_\n:An\n"))
    for place, name in enumerate(names or INPUTS):
        path = INPUTS[name](_new(folder / str(place)))
        Path("/proc/self/clear_refs").write_text("5")  # the peak from here on
        begin = time.process_time()
        said = read_all(path)
        if path.suffix in (".s6", ".g6", ".smi"):
            said.append(embed(path, folder / f"out-{place}"))
        took = time.process_time() - begin
        print(json.dumps({"name": name, "MiB": peak(), "seconds": round(took, 1), "said": said}), flush=True)


def _new(folder):
    folder.mkdir()
    return folder


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
