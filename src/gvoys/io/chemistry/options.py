"""Chemistry: what of a molecule becomes part of its graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from gvoys.errors import ParameterError

_CHOICES = {
    "fragments": ("keep", "largest"),
    "hydrogens": ("count", "ignore", "atoms"),
    "atoms": ("usual", "element", "fine"),
}


@dataclass(frozen=True)
class Chemistry:
    """What of a molecule becomes part of its graph.

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
                raise ParameterError(f"{field.name} must be {_either(choices)}, not {value!r}")

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
    """The options that were given."""
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


def _either(choices: tuple[Any, ...]) -> str:
    *first, last = map(repr, choices)
    return f"{', '.join(first)} or {last}"
