"""Shares of a prediction as colours and words."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

# Away from it, neither, towards it. Orange and blue stay apart for all common kinds of colour blindness, and ink is
# legible on each of them.
PALETTES = {"light": ("#f0913a", "#f1f1ee", "#5a9fdc"), "dark": ("#a9560a", "#2b303a", "#2271b8")}
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")  # XML has none of them


def largest_share(explanation: Any) -> float:
    """The largest share of a node, whatever its sign."""
    return float(np.abs(explanation.nodes).max(initial=0.0))


def share_colour(share: float, scale: float) -> str:
    """The colour of a share."""
    away, neither, towards = PALETTES["light"]
    strength = min(abs(share) / scale, 1.0) if scale > 0 else 0.0
    ends = zip(*(_channels(colour) for colour in (neither, towards if share > 0 else away)), strict=True)
    return "#" + "".join(f"{int(a + strength * (b - a) + 0.5):02x}" for a, b in ends)


def _channels(colour: str) -> list[int]:
    return [int(colour[k : k + 2], 16) for k in (1, 3, 5)]


def signed(value: float) -> str:
    """A share as people read it."""
    return number(value) if value <= 0 else f"+{number(value)}"


def number(value: float) -> str:
    """A number as people read it."""
    if not value:
        return "0"
    size = int(np.floor(np.log10(abs(value))))
    text = f"{value:,.{max(2 - size, 0)}f}" if -4 < size < 9 else f"{value:.2e}"
    return text.replace("-", "−")


def class_name(of: Any) -> str:
    """A class in a sentence."""
    whole = isinstance(of, (float, np.floating)) and float(of).is_integer()
    return str(of) if isinstance(of, str) else f"class {int(of) if whole else of}"


def legible(text: str) -> str:
    """Text without characters that nobody can read, and that XML cannot hold."""
    return _UNPRINTABLE.sub("\ufffd", text)
