"""Parse SMILES with RDKit, without any step that the labels do not need."""

from __future__ import annotations

import gc
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import partial
from math import fsum
from typing import Any

from gvoys.errors import GraphError, MissingDependencyError, ParameterError

_HYDROGEN = re.compile(r"\[\d*(H|#0*1(?!\d))")
_ISOTOPE = re.compile(r"\[\d")
_MARKS = re.compile(r"[@/\\|]")  # of configurations; those behind | are extensions
_REACTION = re.compile(r"[^\s>]*(?<!-)>[^\s>]*(?<!-)>[^\s>]*(\s.*)?", re.DOTALL)  # an arrow -> is a bond
_SHOWN_CHARACTERS = 100  # of a SMILES in a message
_SMILES_CHARACTERS = 10_000  # RDKit's time grows with their square, and is below a second so far
_CIP_STEPS = 1_250_000  # to find CIP labels, about a second; most molecules take less than 10,000
_CHOICES = {
    "fragments": ("keep", "largest"),
    "hydrogens": ("count", "ignore", "atoms"),
    "atoms": ("usual", "element", "fine"),
}


@dataclass(frozen=True)
class Chemistry:
    """Choice of what a molecule's graph contains.

    An atom's label is (symbol, aromatic, number of hydrogens), followed by what else you ask for and the atom has: its
    charge as in "+1", its isotope as in "13", its configuration as in "R". A bond's label is its order, or (order, "E")
    and (order, "Z") with `stereo=True`.

    Parameters
    ----------
    fragments : {"keep", "largest"}, default="keep"
        Whether a molecule of several parts, such as a salt, keeps them all, or only the one with most heavy atoms; of
        several the heaviest, and of several of these the one whose canonical SMILES comes first.
    charges : bool, default=False
        Whether formal charges are part of the labels of atoms.
    isotopes : bool, default=False
        Whether isotopes that the SMILES names are part of the labels of atoms.
    stereo : bool, default=False
        Whether the CIP labels R, S (or r, s) are part of the labels of atoms, and E, Z of the labels of bonds.
    hydrogens : {"count", "ignore", "atoms"}, default="count"
        Whether an atom's label holds the number of its hydrogens, does not, or every hydrogen is a node.
    atoms : {"usual", "element", "fine"}, default="usual"
        Whether an atom's label is as above, its symbol alone in place of the three, or the three with its charge, its
        degree as in "D3" and the sizes of its rings as in "R5,6". `RandomWalkRegressor` has layers like these of its
        own, whatever the labels.

    Raises
    ------
    ParameterError
        If a value is none of these.

    Examples
    --------
    >>> from gvoys import from_smiles
    >>> from_smiles(["[NH3+]C"], Chemistry(charges=True)).node_labels.decode()
    [('N', False, 3, '+1'), ('C', False, 3)]
    >>> Chemistry(charges=True, fragments="largest").as_dict()
    {'fragments': 'largest', 'charges': True}
    """

    fragments: str = "keep"
    charges: bool = False
    isotopes: bool = False
    stereo: bool = False
    hydrogens: str = "count"
    atoms: str = "usual"

    def __post_init__(self) -> None:
        for field in fields(self):
            value, choices = getattr(self, field.name), _CHOICES.get(field.name, (True, False))
            if not any(type(value) is type(choice) and value == choice for choice in choices):
                *first, last = map(repr, choices)
                raise ParameterError(f"{field.name} must be {', '.join(first)} or {last}, not {value!r}")

    def as_dict(self) -> dict[str, Any]:
        """The options that differ from the defaults, for JSON; ``Chemistry(**options)`` is the way back.

        Returns
        -------
        dict
            Value by name; empty for the defaults.
        """
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {field.name: values[field.name] for field in fields(self) if values[field.name] != field.default}


def as_chemistry(given: Any) -> Chemistry:
    """Return options that are given as a Chemistry, a dictionary or None."""
    if given is None:
        return Chemistry()
    if isinstance(given, Chemistry):
        return given
    if not isinstance(given, Mapping):
        raise ParameterError(f"chemistry must be a Chemistry or a dictionary of its options, not {given!r}")
    names = [field.name for field in fields(Chemistry)]
    for name in given:
        if name not in names:
            raise ParameterError(f"chemistry has no option {name!r}; it has {', '.join(names)}")
    return Chemistry(**given)


Parser = Callable[[str], Any]


def rdkit() -> Any:
    """Return RDKit's Chem, where it is installed."""
    try:
        from rdkit import Chem, rdBase
    except ImportError:
        raise MissingDependencyError('SMILES need RDKit; install it with: pip install "gvoys[chem]"') from None
    rdBase.DisableLog("rdApp.*")  # the error or the reason of a skipped row says what RDKit cannot read
    return Chem


def parse_text(text: Any, parse: Parser) -> Any:
    """Return the molecule of a SMILES."""
    molecule = None
    if isinstance(text, str):
        if len(text) > _SMILES_CHARACTERS:
            raise GraphError(f"the SMILES has {len(text):,} characters, and at most {_SMILES_CHARACTERS:,} are read")
        if text.isascii() or text.split(None, 1)[0].isascii():  # RDKit passes over other characters at the ends
            molecule = parse(text)
        if molecule is None and _REACTION.fullmatch(text):
            what = f"{_shorten(text)} is a reaction"
            raise GraphError(f"{what}, and reactions are not read; give its parts as columns of SMILES")
    if molecule is None:
        raise GraphError(f"RDKit cannot read the SMILES {_shorten(text)}")
    return molecule


def _shorten(text: Any) -> str:
    shown = repr(text)
    return shown if len(shown) <= _SHOWN_CHARACTERS else f"{shown[:_SHOWN_CHARACTERS]}… ({len(shown):,} characters)"


def has_marks(text: str) -> bool:
    """Return whether a SMILES may tell of configurations."""
    return _MARKS.search(text) is not None


def has_isotopes(text: str) -> bool:
    """Return whether a SMILES names isotopes."""
    return _ISOTOPE.search(text) is not None


def molecule_parser(chemistry: Chemistry, chem: Any, cip: bool = True) -> Parser:
    """Return a function from SMILES to the molecule whose atoms are the nodes, or None if RDKit cannot read it."""
    parse = fast_parser(chem, chemistry.stereo)
    stages: list[Callable[[Any, str], Any]] = []
    if chemistry.fragments == "largest":
        stages.append(partial(largest_fragment, chem=chem))
    if chemistry.stereo and not chemistry.isotopes:  # which would make configurations that no label explains
        stages.append(partial(without_isotopes, chem=chem))
    if chemistry.stereo and cip:
        stages.append(_label_stereo)
    if chemistry.hydrogens == "atoms":
        stages.append(lambda molecule, _: chem.AddHs(molecule))

    def parse_and_change(text: str) -> Any:
        molecule = parse(text)
        for stage in () if molecule is None else stages:
            molecule = stage(molecule, text)
        return molecule

    return parse_and_change if stages else parse


def fast_parser(chem: Any, stereo: bool = False) -> Parser:
    """Return a parser like `MolFromSmiles` that skips the stereochemistry no label uses, in a third of the time."""
    # what remains is all that atoms, bonds, hydrogens and aromaticity depend on, and every check; hydrogens that are
    # written as atoms are left to RDKit, which knows which of them to remove
    flags = chem.SanitizeFlags
    needed = flags.SANITIZE_CLEANUP | flags.SANITIZE_CLEANUP_ORGANOMETALLICS | flags.SANITIZE_PROPERTIES
    needed |= flags.SANITIZE_SYMMRINGS | flags.SANITIZE_KEKULIZE | flags.SANITIZE_SETAROMATICITY
    needed |= flags.SANITIZE_ADJUSTHS

    def parse(text: str) -> Any:
        try:
            if _HYDROGEN.search(text) or (stereo and has_marks(text)):
                return chem.MolFromSmiles(text)
            molecule = chem.MolFromSmiles(text, sanitize=False)
        except UnicodeEncodeError:  # half a character, which cannot be passed on
            return None
        if molecule is None or chem.SanitizeMol(molecule, needed, catchErrors=True) != flags.SANITIZE_NONE:
            return None
        return molecule

    return parse


def without_isotopes(molecule: Any, text: str, chem: Any) -> Any:
    """Remove isotopes, and configurations that only isotopes make."""
    if has_isotopes(text):
        for atom in molecule.GetAtoms():
            atom.SetIsotope(0)
        chem.AssignStereochemistry(molecule, cleanIt=True, force=True)
    return molecule


def _label_stereo(molecule: Any, text: str) -> Any:
    """Replace the parser's CIP labels by those of RDKit's accurate algorithm."""
    if not has_marks(text):
        return molecule
    from rdkit.Chem import rdCIPLabeler

    for atom in molecule.GetAtoms():
        atom.ClearProp("_CIPCode")  # older versions of RDKit keep what they find
    try:
        rdCIPLabeler.AssignCIPLabels(molecule, maxRecursiveIterations=_CIP_STEPS)
    except RuntimeError:
        raise GraphError(f"RDKit cannot find the CIP labels of {_shorten(text)} in {_CIP_STEPS:,} steps") from None
    return molecule


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """Pause garbage collection: many atoms come and go without cycles, and a search takes a tenth of the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


# -- the largest fragment


def largest_fragment(molecule: Any, text: str, chem: Any) -> Any:
    """Return the part with most heavy atoms; of several the heaviest, and of these the first by canonical SMILES."""
    parts = chem.GetMolFrags(molecule, asMols=True, sanitizeFrags=False) if "." in text else ()
    if len(parts) < 2:
        return molecule
    largest = _keep_maximal([part.GetNumHeavyAtoms() for part in parts], range(len(parts)))
    if len(largest) > 1:
        largest = _keep_maximal([_weight(parts[index], chem) for index in largest], largest)
    if len(largest) > 1:  # canonical SMILES have stereochemistry if the molecule has it
        whole = chem.GetMolFrags(chem.MolFromSmiles(text), asMols=True)
        names = [chem.MolToSmiles(part) for part in whole]
        return parts[min(largest, key=lambda index: (names[index], index))]
    return parts[largest[0]]


def _keep_maximal(values: list[Any], indices: Iterable[int]) -> list[int]:
    maximum = max(values)
    return [index for index, value in zip(indices, values, strict=True) if value == maximum]


def _weight(part: Any, chem: Any) -> float:
    """Return the molecular weight, whose sum does not depend on the order of the atoms."""
    table = chem.GetPeriodicTable()
    masses, hydrogens = [], 0
    for atom in part.GetAtoms():
        element, isotope = atom.GetAtomicNum(), atom.GetIsotope()
        masses.append(table.GetMassForIsotope(element, isotope) if isotope else table.GetAtomicWeight(element))
        hydrogens += atom.GetTotalNumHs()
    return fsum([*masses, hydrogens * table.GetAtomicWeight(1)])
