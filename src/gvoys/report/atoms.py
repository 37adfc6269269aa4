"""Atoms and bonds as chemists draw them, and their coordinates by RDKit."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["ELEMENTS", "Chemist", "atom_text", "bond_order", "coordinates_by_rdkit", "is_atom"]

ELEMENTS = frozenset(
    re.findall(
        "[A-Z][a-z]?",
        "HHeLiBeBCNOFNeNaMgAlSiPSClArKCaScTiVCrMnFeCoNiCuZnGaGeAsSeBrKrRbSrYZrNbMoTcRuRhPdAgCdInSnSbTeIXeCsBaLaCePrNd"
        "PmSmEuGdTbDyHoErTmYbLuHfTaWReOsIrPtAuHgTlPbBiPoAtRnFrRaAcThPaUNpPuAmCmBkCfEsFmMdNoLrRfDbSgBhHsMtDsRgCnNhFlMcLv"
        "TsOg",
    )
)
_DUMMY = "*"  # SMILES for any atom

Chemist = Callable[[Sequence[str], NDArray[Any], NDArray[Any]], NDArray[Any]]  # symbols, ends, orders -> places


def is_atom(symbol: Any) -> bool:
    """Whether something is the symbol of an atom.

    Parameters
    ----------
    symbol : object
        The first part of a label.

    Returns
    -------
    bool
        True for the chemical elements, and for "*", which stands for any of them in SMILES.
    """
    return isinstance(symbol, str) and (symbol in ELEMENTS or symbol == _DUMMY)


def atom_text(symbol: str, *more: Any) -> str:
    """An atom as chemists write it: OH, NH2; carbon is a corner without a name, so that its hydrogens do not matter.

    Parameters
    ----------
    symbol : str
        The chemical element.
    *more : object
        The rest of its label: whether it is aromatic, the number of hydrogens, and what else there is.

    Returns
    -------
    str
        The text.
    """
    # charge and stereo are strings, and whether it is aromatic is a bool
    hydrogens = next((each for each in more if isinstance(each, int) and not isinstance(each, bool)), 0)
    if symbol == "C" or not hydrogens:
        return symbol
    return f"{symbol}H{hydrogens if hydrogens > 1 else ''}"


def bond_order(label: Any) -> float:
    """The order of a bond from its label.

    Parameters
    ----------
    label : float or tuple
        The order, or a tuple that begins with it.

    Returns
    -------
    float
        1, 1.5, 2 or 3; and 1 if the label says no number.
    """
    value = label[0] if isinstance(label, tuple) and label else label
    return float(value) if isinstance(value, (int, float)) else 1.0


def coordinates_by_rdkit() -> Chemist | None:
    """RDKit's drawing of molecules.

    Returns
    -------
    callable or None
        From symbols, ends and bond orders to coordinates, y upwards; None if RDKit is not installed.
    """
    try:
        from rdkit import Chem, rdBase
        from rdkit.Chem import rdDepictor
    except ImportError:
        return None
    rdBase.DisableLog("rdApp.*")
    kinds = {1.5: Chem.BondType.AROMATIC, 2.0: Chem.BondType.DOUBLE, 3.0: Chem.BondType.TRIPLE}

    def coordinates(symbols: Sequence[str], ends: NDArray[Any], orders: NDArray[Any]) -> NDArray[Any]:
        molecule = Chem.RWMol()  # which takes atoms and bonds one by one
        for symbol in symbols:
            molecule.AddAtom(Chem.Atom(symbol))
        for (a, b), order in zip(ends.tolist(), orders.tolist(), strict=True):
            if a != b and molecule.GetBondBetweenAtoms(a, b) is None:
                molecule.AddBond(a, b, kinds.get(order, Chem.BondType.SINGLE))
        Chem.FastFindRings(molecule)
        rdDepictor.Compute2DCoords(molecule)
        return np.asarray(molecule.GetConformer().GetPositions())[:, :2]

    return coordinates
