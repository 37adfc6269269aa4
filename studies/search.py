"""The most similar of a million molecules: time to build and to search, memory, and how often the true ones are found.

Beside it RDKit's bulk Tanimoto on ECFP4, in the same run.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from rich.console import Console

import gvoys as gv
from gvoys.io import open_graphs
from gvoys.search.build_index import build_index
from studies.library import write_library
from studies.timing import measure, show

N = int(os.environ.get("GVOYS_LIBRARY", 1_000_000))
N_QUERIES, N_CHECKED, K = 1000, 100, 10


def run(console: Console) -> None:
    with tempfile.TemporaryDirectory() as folder:
        library, index = Path(folder) / "library.smi", Path(folder) / "index"
        write_library(str(library), N)
        console.print(f"{N:,} molecules")
        parsing = _alone(library, None)
        console.print(f"parsing alone {parsing[0]:.0f} s, {parsing[1]:.0f} MB")
        building = _alone(library, index)
        console.print(
            f"index {building[0]:.0f} s, {building[0] / parsing[0]:.2f} times parsing, {building[1]:.0f} MB at most"
        )
        _search(console, library, index)


def _alone(library: Path, index: Path | None) -> tuple[float, float]:
    """Seconds and megabytes of parsing, or of building an index, in a process of its own."""
    program = [sys.executable, "-m", "studies.search", str(library), *([str(index)] if index else [])]
    seconds, memory = subprocess.run(program, capture_output=True, text=True, check=True).stdout.split()[-2:]
    return float(seconds), float(memory)


def _work(library: str, index: str | None) -> None:
    gv.Index().add(gv.from_smiles(["CCO", "CCN"]))  # kernels are compiled before
    begin = time.perf_counter()
    source = open_graphs(library)
    if index is None:
        for chunk in source.chunks(4096):
            source.build(source.records(chunk).items)
    else:
        build_index(source, index)
    seconds = time.perf_counter() - begin
    print(seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def _search(console: Console, library: Path, folder: Path) -> None:
    index = gv.Index.open(folder)
    rows = np.linspace(0, len(index) - 1, N_QUERIES).astype(int)
    queries = index.segments_[0].graphs[rows]
    names = [index.segments_[0].ids[row] for row in rows]
    index.nearest(queries[:2], K)
    one = measure(lambda: index.nearest(queries[0], K), 10)
    many = measure(lambda: index.nearest(queries, K), 1, warm=False)
    console.print(f"a query {one}, {N_QUERIES:,} queries {show(many.seconds)}")
    some = rows[:: N_QUERIES // N_CHECKED]
    found = many.result.similarities[:: N_QUERIES // N_CHECKED]
    truth = _exact(index, index.segments_[0].graphs[some])
    shares = [np.mean(own >= true[-1] - 1e-9) for own, true in zip(found, truth, strict=True)]
    console.print(f"of the true ten of {len(some)} queries {np.mean(shares):.2%} are found")
    _tanimoto(console, library, names, many.result.ids)


def _exact(index: gv.Index, queries: gv.GraphBatch) -> np.ndarray:
    """The largest similarities of queries with all graphs, without codes."""
    comparer, graphs = index.coder_.comparer, index.segments_[0].graphs
    wanted, best = comparer.profile(queries), np.full((len(queries), K), -1.0)
    for first in range(0, len(graphs), 1 << 14):
        values, _ = comparer.cosines(wanted, comparer.profile(graphs[first : first + (1 << 14)]))
        best = -np.sort(-np.concatenate([best, values], axis=1), axis=1)[:, :K]
    return best


def _tanimoto(console: Console, library: Path, names: list[str], hits: np.ndarray) -> None:
    """RDKit's bulk Tanimoto on ECFP4: its time for a query, and how many of the ten are ours too."""
    from rdkit import Chem, DataStructs
    from rdkit.Chem import rdFingerprintGenerator

    prints = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=2048)
    ids, made, begin = [], [], time.perf_counter()
    with library.open() as file:
        for line in file:
            smiles, name = line.split()
            molecule = Chem.MolFromSmiles(smiles)
            if molecule is not None:
                ids.append(name)
                made.append(prints.GetFingerprint(molecule))
    seconds = time.perf_counter() - begin
    place = {name: number for number, name in enumerate(ids)}
    few, shares = slice(None, None, N_QUERIES // 20), []
    begin = time.perf_counter()
    for name, own in zip(names[few], hits[few], strict=True):
        values = np.array(DataStructs.BulkTanimotoSimilarity(made[place[name]], made))
        best = {ids[number] for number in np.argsort(-values, kind="stable")[:K]}
        shares.append(len(best & set(own)) / K)
    each = (time.perf_counter() - begin) / len(shares)
    console.print(
        f"BulkTanimoto on ECFP4: fingerprints {seconds:.0f} s on one core, a query {show(each)}; "
        f"{np.mean(shares):.0%} of its ten are among ours"
    )


if __name__ == "__main__":
    _work(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None)
