"""What the pages share: their base style, and how files beside a module are read."""

from __future__ import annotations

from importlib.resources import files

from gvoys.report.shares import PALETTES

__all__ = ["BASE_STYLE", "read_asset", "share_colours"]


def read_asset(package: str, name: str) -> str:
    """Read a file from the folder assets of a package."""
    return (files(package) / "assets" / name).read_text(encoding="utf-8")


def share_colours(palette: str) -> str:
    """The colours of shares, as variables of a style sheet."""
    names = ("--away", "--neither", "--towards")
    return " ".join(f"{name}: {colour};" for name, colour in zip(names, PALETTES[palette], strict=True))


BASE_STYLE = read_asset("gvoys.report", "base.css")
