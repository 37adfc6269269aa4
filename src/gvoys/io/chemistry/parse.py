"""From a SMILES to a molecule of RDKit, with no step that its labels do not need."""

from __future__ import annotations

import gc
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from gvoys.errors import GraphError, MissingDependencyError
from gvoys.io.chemistry.fragments import largest_fragment
from gvoys.io.chemistry.options import Chemistry

_HYDROGEN = re.compile(r"\[\d*(H|#0*1(?!\d))")
_ISOTOPE = re.compile(r"\[\d")
_MARKS = re.compile(r"[@/\\|]")  # of configurations; those behind | are extensions
_REACTION = re.compile(r"[^\s>]*(?<!-)>[^\s>]*(?<!-)>[^\s>]*(\s.*)?", re.DOTALL)  # an arrow -> is a bond
_LONGEST = 100  # characters of a SMILES in a reason
_MOST = 10_000  # characters of a SMILES; RDKit's time grows with their square, and is below a second so far
_COMPARISONS = 1_250_000  # to find CIP labels, about a second; most molecules take less than 10,000

Parser = Callable[[str], Any]
Stage = Callable[[Any, str], Any]


def rdkit() -> Any:
    """RDKit's Chem, where it is installed."""
    try:
        from rdkit import Chem, rdBase
    except ImportError:
        raise MissingDependencyError('SMILES need RDKit; install it with: pip install "gvoys[chem]"') from None
    rdBase.DisableLog("rdApp.*")  # the error or the reason of a skipped row says what RDKit cannot read
    return Chem


def parse_text(text: Any, parse: Parser) -> Any:
    """The molecule of a SMILES."""
    can_be = isinstance(text, str) and len(text) <= _MOST and (text.isascii() or text.split(None, 1)[0].isascii())
    molecule = parse(text) if can_be else None  # RDKit passes over other characters at the ends
    if molecule is None:
        raise GraphError(_unread(text))
    return molecule


def _unread(text: Any) -> str:
    if isinstance(text, str) and len(text) > _MOST:
        return f"the SMILES has {len(text):,} characters, and at most {_MOST:,} are read"
    if isinstance(text, str) and _REACTION.fullmatch(text):
        return f"{_shown(text)} is a reaction, and reactions are not read; give its parts as columns of SMILES"
    return f"RDKit cannot read the SMILES {_shown(text)}"


def _shown(text: Any) -> str:
    """A string as it was given, or its beginning."""
    shown = repr(text)
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}… ({len(shown):,} characters)"


def has_marks(text: str) -> bool:
    """Whether a SMILES may tell of configurations."""
    return _MARKS.search(text) is not None


def has_isotopes(text: str) -> bool:
    """Whether a SMILES names isotopes."""
    return _ISOTOPE.search(text) is not None


def molecule_parser(chemistry: Chemistry, chem: Any, cip: bool = True) -> Parser:
    """From a SMILES to the molecule whose atoms are the nodes, or None if RDKit cannot read it."""
    parse, stages = fast_parser(chem, chemistry.stereo), list(_stages(chemistry, chem, cip))
    if not stages:
        return parse

    def parse_and_change(text: str) -> Any:
        molecule = parse(text)
        for stage in () if molecule is None else stages:
            molecule = stage(molecule, text)
        return molecule

    return parse_and_change


def _stages(chemistry: Chemistry, chem: Any, cip: bool) -> Iterator[Stage]:
    if chemistry.fragments == "largest":
        yield lambda molecule, text: largest_fragment(molecule, text, chem)
    if chemistry.stereo and not chemistry.isotopes:  # which would make configurations that no label explains
        yield lambda molecule, text: without_isotopes(molecule, text, chem)
    if chemistry.stereo and cip:
        yield _label_stereo
    if chemistry.hydrogens == "atoms":
        yield lambda molecule, text: chem.AddHs(molecule)


def fast_parser(chem: Any, stereo: bool = False) -> Parser:
    """From a SMILES to the molecule of `MolFromSmiles`, or None, without the stereochemistry that no label tells of.

    That takes a third of the time. What remains is all that atoms, bonds, hydrogens and aromaticity depend on, and
    every check. Hydrogens that are written as atoms are left to RDKit, which knows which of them to remove.
    """
    flags = chem.SanitizeFlags
    needed = (
        flags.SANITIZE_CLEANUP
        | flags.SANITIZE_CLEANUP_ORGANOMETALLICS
        | flags.SANITIZE_PROPERTIES
        | flags.SANITIZE_SYMMRINGS
        | flags.SANITIZE_KEKULIZE
        | flags.SANITIZE_SETAROMATICITY
        | flags.SANITIZE_ADJUSTHS
    )

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
    """The molecule with no isotope, and no configuration that only isotopes make."""
    if has_isotopes(text):
        for atom in molecule.GetAtoms():
            atom.SetIsotope(0)
        chem.AssignStereochemistry(molecule, cleanIt=True, force=True)
    return molecule


def _label_stereo(molecule: Any, text: str) -> Any:
    """CIP labels by RDKit's accurate algorithm, in place of those of the parser."""
    if not has_marks(text):
        return molecule
    from rdkit.Chem import rdCIPLabeler

    for atom in molecule.GetAtoms():
        atom.ClearProp("_CIPCode")  # older versions of RDKit keep what they find
    try:
        rdCIPLabeler.AssignCIPLabels(molecule, maxRecursiveIterations=_COMPARISONS)
    except RuntimeError:
        raise GraphError(f"RDKit cannot find the CIP labels of {_shown(text)} in {_COMPARISONS:,} steps") from None
    return molecule


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """Many atoms come and go without cycles; looking for some would take a tenth of the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
