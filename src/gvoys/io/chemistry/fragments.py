"""The largest part of a molecule of several, such as a salt."""

from __future__ import annotations

from math import fsum
from typing import Any


def largest_fragment(molecule: Any, text: str, chem: Any) -> Any:
    """The part with most heavy atoms; of several the heaviest, and of these the first by canonical SMILES."""
    parts = chem.GetMolFrags(molecule, asMols=True, sanitizeFrags=False) if "." in text else ()
    if len(parts) < 2:
        return molecule
    places = _most([part.GetNumHeavyAtoms() for part in parts], range(len(parts)))
    if len(places) > 1:
        places = _most([_weight(parts[place], chem) for place in places], places)
    if len(places) > 1:
        names = _canonical(text, chem)
        return parts[min(places, key=lambda place: (names[place], place))]
    return parts[places[0]]


def _most(values: list[Any], places: Any) -> list[int]:
    most = max(values)
    return [place for place, value in zip(places, values, strict=True) if value == most]


def _weight(part: Any, chem: Any) -> float:
    """Molecular weight; the sum does not depend on the order of the atoms."""
    table = chem.GetPeriodicTable()
    masses, hydrogens = [], 0
    for atom in part.GetAtoms():
        element, isotope = atom.GetAtomicNum(), atom.GetIsotope()
        masses.append(table.GetMassForIsotope(element, isotope) if isotope else table.GetAtomicWeight(element))
        hydrogens += atom.GetTotalNumHs()
    return fsum([*masses, hydrogens * table.GetAtomicWeight(1)])


def _canonical(text: str, chem: Any) -> list[str]:
    """Of all parts, with stereochemistry: from a molecule that has it."""
    return [chem.MolToSmiles(part) for part in chem.GetMolFrags(chem.MolFromSmiles(text), asMols=True)]
