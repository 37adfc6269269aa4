"""The commands of docs/newcomer.md, one after the other on the tables that it speaks of, each with its time."""

import re
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

PAGE = Path(__file__).parents[1] / "docs" / "newcomer.md"
MOLECULES = Path("Data") / "NCI" / "first_5K.smi"  # in RDKit's package
NEW = 300  # molecules without a measurement
_NOISE = 0.2


def run(console: Console) -> None:
    """Each command in a process of its own, as a user would give it."""
    table = Table("command", "seconds", title="docs/newcomer.md")
    with tempfile.TemporaryDirectory(prefix="gvoys-newcomer-") as name:
        write_tables(Path(name), 1000)
        for words, _ in transcript(PAGE):
            if words[0] == "gvoys":
                begin = time.perf_counter()
                done = subprocess.run([sys.executable, "-m", *words], cwd=name, capture_output=True, text=True)
                table.add_row(" ".join(words), f"{time.perf_counter() - begin:.1f}")
                console.print(f"$ {' '.join(words)}\n{done.stdout}{done.stderr}", highlight=False, markup=False)
                if done.returncode:
                    raise SystemExit(f"it ended with status {done.returncode}")
    console.print(table)


def transcript(page: Path) -> list[tuple[list[str], list[str]]]:
    """The commands of a page, as words, and the lines that it shows after each."""
    found: list[tuple[list[str], list[str]]] = []
    for block in re.findall(r"```console\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((shlex.split(line[2:], comments=True), []))
            else:
                found[-1][1].append(line)
    return found


def write_tables(folder: Path, n_measured: int) -> None:
    """measured.csv and library.csv: molecules of the NCI with logP as RDKit estimates it, and noise.

    As in real tables some SMILES cannot be read, some molecules are salts, some come twice, and some have no value.
    """
    import numpy as np
    import rdkit
    from rdkit import Chem
    from rdkit.Chem.Crippen import MolLogP

    lines = (Path(rdkit.__file__).parent / MOLECULES).read_text().splitlines()
    texts = [line.split()[0] for line in lines[: n_measured + NEW]]
    noise = np.random.default_rng(0).normal(0.0, _NOISE, len(texts))
    rows = []
    for k, text in enumerate(texts[:n_measured]):
        kind = k % 40
        shown = texts[k - 1] if kind == 26 else text
        molecule = Chem.MolFromSmiles(shown)
        value = MolLogP(molecule) + noise[k]
        written = f"{value:.2f}" if kind != 36 else ""
        shown = Chem.MolToSmiles(molecule) if kind == 26 else f"{shown}(" if kind == 6 else shown
        shown = f"{shown}.Cl" if kind == 16 else shown
        rows.append(f"NCI-{k + 1},{shown},{written},{'yes' if value < 2 else 'no'}")
    (folder / "measured.csv").write_text("\n".join(["name,smiles,logP,soluble", *rows]) + "\n")
    new = [f"new-{k + 1},{text}" for k, text in enumerate(texts[n_measured:])]
    new[10] = "new-11,"
    (folder / "library.csv").write_text("\n".join(["name,smiles", *new]) + "\n")
