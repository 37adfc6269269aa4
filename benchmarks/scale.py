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
RUNS: dict[str, list[str]] = {
    "embed, 512 components, length 6, all told": [],
    "the same by two workers": ["--workers", "2"],
}

# in a process of its own, as embed is, so that both begin alike
PARSING = """
import sys, time
from rdkit import Chem, rdBase
rdBase.DisableLog("rdApp.*")
begin = time.perf_counter()
with open(sys.argv[1]) as file:
    for line in file:
        Chem.MolFromSmiles(line.split()[0])
print(time.perf_counter() - begin)
"""


def run(console: Console) -> None:
    try:
        import pyarrow  # noqa: F401
        import rdkit
    except ImportError:
        console.print('embedding is left out: pip install "gvoys[chem,cluster]" brings RDKit, PyArrow and Dask\n')
        return
    lines = (Path(rdkit.__file__).parent / SMILES).read_text().splitlines()
    with tempfile.TemporaryDirectory(prefix="gvoys-scale-") as name:
        folder = Path(name)
        molecules, few = folder / "many.smi", folder / "few.smi"
        molecules.write_text("".join(f"{lines[k % len(lines)]}\n" for k in range(N_MOLECULES)))
        few.write_text("\n".join(lines[:500]))
        _embed(few, folder / "warm")  # compiles the kernels
        parsed = subprocess.run([sys.executable, "-c", PARSING, molecules], capture_output=True, check=True)
        parsing = float(parsed.stdout)
        table = Table("work", "seconds", "molecules a second", "of RDKit's rate", "memory", title="200,000 molecules")
        table.add_row("RDKit parses, one process", f"{parsing:.1f}", f"{N_MOLECULES / parsing:,.0f}", "", "")
        for place, (label, options) in enumerate(RUNS.items()):
            seconds, memory = _embed(molecules, folder / f"out{place}", *options)
            shown = f"{memory / 1e6:,.0f} MB" if not options else ""
            table.add_row(label, f"{seconds:.1f}", f"{N_MOLECULES / seconds:,.0f}", f"{parsing / seconds:.0%}", shown)
        console.print(table)
        console.print("60 % of RDKit's rate and under 700 MB are wanted of the first row\n")
        _rates(console, molecules)


def _embed(path: Path, out: Path, *options: str) -> tuple[float, float]:
    """Seconds, and the most memory of the process in bytes."""
    command = [sys.executable, "-m", "gvoys.cli", "embed", str(path), "-o", str(out), *options]
    watch = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL); "
    watch += "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)"
    begin = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", watch, *command], capture_output=True, check=True)
    return time.perf_counter() - begin, float(done.stdout)


def _rates(console: Console, molecules: Path) -> None:
    """What each stage takes per molecule on one core."""
    from gvoys.graphs.smiles import read_smiles

    smiles = [line.split()[0] for line in molecules.read_text().splitlines()[:20_000]]
    begin = time.perf_counter()
    batch, _ = read_smiles(smiles)
    reading = time.perf_counter() - begin
    model = gv.RandomWalkFeatures(max_length=6, n_components=512, lengths="summed", n_jobs=1).fit(batch[:4096])
    begin = time.perf_counter()
    for first in range(0, len(batch), 4096):
        model.transform(batch[first : first + 4096])
    walking = time.perf_counter() - begin
    console.print(
        f"one core: SMILES to graphs {1e6 * reading / len(batch):.0f} us a molecule, "
        f"walks {1e6 * walking / len(batch):.0f} us\n"
    )
