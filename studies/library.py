"""A library of molecules that differ, of any size: fragments attached to the atoms of RDKit's own molecules."""

import os
import random
from collections.abc import Iterator

_FRAGMENTS = """
F Cl Br C N O CC OC NC CN CO C(=O) OC(=O) C(=O)N NC(=O) S CS S(=O)(=O) FC(F)(F) N#C C=C CC(C) C1CC1 C1CCCC1 C1CCNCC1
C1COCCN1 c1ccccc1 c1ccncc1 Cc1ccccc1 Fc1ccccc1 Clc1ccccc1 c1ccsc1 c1ccoc1 CC(=O)N COC(=O) CN(C) OCC NCC CCC CC(C)C
OCCO CC(C)(C) c1ccc2ccccc2c1
"""


def write_library(path: str, count: int, seed: int = 0) -> None:
    """Write SMILES, one a line, each with its number; a few cannot be read, as in any library."""
    with open(path, "w") as file:
        for number, smiles in enumerate(_molecules(count, seed)):
            file.write(f"{smiles} M{number}\n")


def _molecules(count: int, seed: int) -> Iterator[str]:
    """A fragment before a SMILES that begins with an atom that has a hydrogen to spare."""
    from rdkit import Chem, RDConfig, RDLogger

    RDLogger.DisableLog("rdApp.*")
    with open(os.path.join(RDConfig.RDDataDir, "NCI", "first_5K.smi")) as file:
        molecules = [Chem.MolFromSmiles(line.split()[0]) for line in file]
    atoms = [
        (molecule, atom.GetIdx())
        for molecule in molecules
        if molecule is not None and 5 < molecule.GetNumAtoms() < 40 and "." not in Chem.MolToSmiles(molecule)
        for atom in molecule.GetAtoms()
        if atom.GetTotalNumHs() and atom.GetSymbol() in ("C", "N", "O")
    ]
    rng = random.Random(seed)
    rng.shuffle(atoms)
    seen: set[str] = set()
    for molecule, atom in atoms:
        rooted = Chem.MolToSmiles(molecule, rootedAtAtom=atom)
        for fragment in _FRAGMENTS.split():
            made = fragment + rooted
            if made not in seen:
                seen.add(made)
                yield made
            if len(seen) == count:
                return
