"""The base style of all pages, and files beside a module."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files

from gvoys.drawing.shares import PALETTES


def read_asset(package: str, name: str) -> str:
    """Read a file from the folder assets of a package."""
    return (files(package) / "assets" / name).read_text(encoding="utf-8")


def content_policy(*scripts: str, compiles: bool = False) -> str:
    """A meta element for a page that runs these scripts alone and loads nothing; they may compile others or not."""
    digests = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join([*(f"'sha256-{digest}'" for digest in digests), *["'unsafe-eval'"] * compiles]) or "'none'"
    return (
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; img-src data:; '
        f"style-src 'unsafe-inline'; script-src {allowed}; base-uri 'none'; form-action 'none'\">"
    )


def share_colours(palette: str) -> str:
    """The colours of shares, as variables of a style sheet."""
    names = ("--away", "--neither", "--towards")
    return " ".join(f"{name}: {colour};" for name, colour in zip(names, PALETTES[palette], strict=True))


BASE_STYLE = read_asset("gvoys.drawing", "base.css")
