"""What a misspelt name may have meant."""

from __future__ import annotations

import os
from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice
from pathlib import Path

_ALIKE = 0.6  # share of characters that two names must have in common
_MOST = 10_000  # names in a folder that are compared


def did_you_mean(name: str, names: Iterable[str], folder: str = "") -> str:
    """What to add to a message about a name that is not there."""
    by_name = {each.strip().lower(): each for each in reversed(list(names))}
    found = get_close_matches(name.strip().lower(), by_name, 1, _ALIKE)
    if not found or name in by_name.values():
        return ""
    return f" (did you mean {folder + by_name[found[0]]!r}?)"


def names_in(folder: Path) -> list[str]:
    """Names of the files and folders in a folder, hidden ones aside."""
    try:
        with os.scandir(folder) as found:
            return sorted(each.name for each in islice(found, _MOST) if not each.name.startswith("."))
    except OSError:
        return []
