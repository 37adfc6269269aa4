"""Canonical SMILES and scaffolds: which molecules are the same, and which are alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any

from gvoys.errors import GraphError
from gvoys.io.chemistry.parse import (
    Chemistry,
    as_chemistry,
    has_isotopes,
    molecule_parser,
    no_garbage_collection,
    parse_text,
    rdkit,
    without_isotopes,
)


def canonical_smiles(smiles: Iterable[str], chemistry: Chemistry | dict[str, Any] | None = None) -> list[str]:
    """Canonical SMILES of what becomes part of the graph: molecules that have the same one have the same graph.

    Stereochemistry, isotopes and small fragments are dropped unless `chemistry` uses them, and atom map numbers
    always. Charges stay, also where they are no part of the labels.

    Parameters
    ----------
    smiles : iterable of str
        SMILES strings.
    chemistry : Chemistry, dict or None, default=None
        What becomes part of the graph; None means the defaults.

    Returns
    -------
    list of str
        One canonical SMILES per string.

    Raises
    ------
    GraphError
        If RDKit cannot read a string; the message names its place.
    MissingDependencyError
        If RDKit is not installed.

    Examples
    --------
    >>> canonical_smiles(["OCC", "C[C@H](N)O", "C[C@@H](N)O"])
    ['CCO', 'CC(N)O', 'CC(N)O']
    >>> canonical_smiles(["CC(=O)[O-].[Na+]"], {"fragments": "largest"})
    ['CC(=O)[O-]']
    """
    chem, options = rdkit(), as_chemistry(chemistry)
    parse = molecule_parser(replace(options, hydrogens="count"), chem, cip=False)
    write = partial(_canonical_name, options=options, chem=chem)
    return _write_each(smiles, "canonical_smiles", parse, write)


def scaffolds(smiles: Iterable[str], chemistry: Chemistry | dict[str, Any] | None = None) -> list[str]:
    """Bemis–Murcko scaffolds: rings and what links them, without stereochemistry, as canonical SMILES.

    All molecules without a ring have the empty string, as in chemprop and DeepChem: they are one group of a split.

    Parameters
    ----------
    smiles : iterable of str
        SMILES strings.
    chemistry : Chemistry, dict or None, default=None
        Whether scaffolds are those of the largest fragment, or of all. Its other options change nothing.

    Returns
    -------
    list of str
        One scaffold per string.

    Raises
    ------
    GraphError
        If RDKit cannot read a string; the message names its place.
    MissingDependencyError
        If RDKit is not installed.

    Examples
    --------
    >>> scaffolds(["CCc1ccccc1", "O=C(O)c1ccccc1", "CCO"])
    ['c1ccccc1', 'c1ccccc1', '']
    """
    chem = rdkit()
    parse = molecule_parser(Chemistry(fragments=as_chemistry(chemistry).fragments), chem)
    return _write_each(smiles, "scaffolds", parse, partial(_scaffold, chem=chem))


def as_smiles_list(smiles: Any, function: str) -> list[Any]:
    """Return the strings of a list, or of anything like one."""
    if isinstance(smiles, str):
        raise GraphError(f"{function} takes a list of SMILES strings and was given a single one; wrap it in a list")
    if hasattr(smiles, "iloc") and hasattr(smiles, "columns"):
        raise GraphError(f"{function} takes a list of SMILES strings, not a DataFrame; pass a column: table['smiles']")
    if not isinstance(smiles, Iterable) or getattr(smiles, "ndim", 1) == 0:
        raise GraphError(f"{function} takes a list of SMILES strings, not {type(smiles).__name__!r}")
    return list(smiles)


def _write_each(smiles: Any, function: str, parse: Callable[[str], Any], write: Callable[[Any, str], str]) -> list[str]:
    strings = []
    with no_garbage_collection():
        for index, text in enumerate(as_smiles_list(smiles, function)):
            try:
                strings.append(write(parse_text(text, parse), text))
            except GraphError as error:
                raise GraphError(f"molecule {index}: {error}; correct it or remove it") from None
    return strings


def _canonical_name(molecule: Any, text: str, options: Chemistry, chem: Any) -> str:
    if ":" in text:
        for atom in molecule.GetAtoms():
            atom.SetAtomMapNum(0)
    if options.hydrogens == "atoms" and not options.isotopes and has_isotopes(text):
        how = chem.RemoveHsParameters()
        how.removeDefiningBondStereo = True  # there is none between a double bond's two hydrogens
        molecule = chem.RemoveHs(without_isotopes(molecule, text, chem), how)  # deuterium is one like all others
    if options.isotopes and not options.stereo:
        chem.RemoveStereochemistry(molecule)
    chem.AssignRadicals(molecule)  # which tells [Cl] and Cl apart, and which no label needs
    return str(chem.MolToSmiles(molecule, isomericSmiles=options.stereo or options.isotopes))


def _scaffold(molecule: Any, text: str, chem: Any) -> str:
    chem.AssignRadicals(molecule)
    if "." in text:
        chem.FastFindRings(molecule)  # which one of several fragments does not know
    return str(chem.MolToSmiles(chem.MurckoDecompose(molecule), isomericSmiles=False))
