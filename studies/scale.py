"""gvoys embed on 200,000 molecules: rate beside RDKit's parsing alone, memory, and the same by workers."""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

import gvoys as gv

N_MOLECULES = 200_000
SMILES = "Data/NCI/first_5K.smi"  # as RDKit carries it
RUNS = {"embed, 512 components, length 6": None, "the same by two workers": 2}

# in processes of their own, which begin alike; they tell how long the work took once all was imported
PARSING = """
import sys, time
from rdkit import Chem, rdBase
rdBase.DisableLog("rdApp.*")
begin = time.perf_counter()
with open(sys.argv[1]) as file:
    for line in file:
        Chem.MolFromSmiles(line.split()[0])
print(time.perf_counter() - begin, 0)
"""
EMBEDDING = """
import resource, sys, time
from contextlib import nullcontext
from pathlib import Path
from gvoys.apps.scale import embed_file
from gvoys.apps.scale.cluster import open_cluster
if __name__ == "__main__":
    begin = time.perf_counter()
    workers = int(sys.argv[3])
    with open_cluster(workers, None) if workers else nullcontext() as cluster:
        embed_file(sys.argv[1], Path(sys.argv[2]), worker=cluster and cluster.run)
    print(time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""


def run(console: Console) -> None:
    try:
        import pyarrow  # noqa: F401
        import rdkit
    except ImportError:
        console.print('embedding is skipped: it needs RDKit, PyArrow and Dask; pip install "gvoys[chem,cluster]"\n')
        return
    lines = (Path(rdkit.__file__).parent / SMILES).read_text().splitlines()
    with tempfile.TemporaryDirectory(prefix="gvoys-scale-") as name:
        folder = Path(name)
        molecules, few = folder / "many.smi", folder / "few.smi"
        molecules.write_text("".join(f"{lines[k % len(lines)]}\n" for k in range(N_MOLECULES)))
        few.write_text("\n".join(lines[:500]))
        _timed(folder, EMBEDDING, few, folder / "warm", 0)  # compiles the kernels
        parsing, _, parsing_all = _timed(folder, PARSING, molecules)
        columns = ("work", "seconds", "molecules a second", "of RDKit's rate", "with starting Python", "memory")
        table = Table(*columns, title=f"{N_MOLECULES:,} molecules")
        table.add_row(
            "RDKit parses, one process",
            f"{parsing:.1f}",
            f"{N_MOLECULES / parsing:,.0f}",
            "",
            f"{parsing_all:.1f} s",
            "",
        )
        for place, (label, workers) in enumerate(RUNS.items()):
            work, memory, whole = _timed(folder, EMBEDDING, molecules, folder / f"out{place}", workers or 0)
            table.add_row(
                label,
                f"{work:.1f}",
                f"{N_MOLECULES / work:,.0f}",
                f"{parsing / work:.0%}",
                f"{whole:.1f} s, {parsing_all / whole:.0%}",
                f"{memory / 1e6:,.0f} MB" if workers is None else "",
            )
        console.print(table)
        console.print("60 % of RDKit's rate and under 700 MB are wanted of the first row\n")
        _rates(console, molecules)


def _timed(folder: Path, script: str, *arguments: object) -> tuple[float, float, float]:
    """Seconds of the work, the most memory of the process in bytes, and seconds with starting and ending Python."""
    file = folder / "script.py"
    file.write_text(script)
    begin = time.perf_counter()
    done = subprocess.run([sys.executable, file, *map(str, arguments)], capture_output=True, check=True)
    whole = time.perf_counter() - begin
    work, memory = map(float, done.stdout.split())
    return work, memory, whole


def _rates(console: Console, molecules: Path) -> None:
    """What each stage takes per molecule on one core."""
    from gvoys.io.smiles import read_smiles

    smiles = [line.split()[0] for line in molecules.read_text().splitlines()[:20_000]]
    begin = time.perf_counter()
    batch, _ = read_smiles(smiles)
    reading = time.perf_counter() - begin
    model = gv.RandomWalkFeatures(walk=gv.Walk(6), n_components=512, lengths="summed", n_jobs=1).fit(batch[:4096])
    begin = time.perf_counter()
    for first in range(0, len(batch), 4096):
        model.transform(batch[first : first + 4096])
    walking = time.perf_counter() - begin
    console.print(
        f"one core: SMILES to graphs {1e6 * reading / len(batch):.0f} us a molecule, "
        f"walks {1e6 * walking / len(batch):.0f} us\n"
    )
