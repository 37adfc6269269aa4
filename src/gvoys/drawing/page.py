"""Parts that pages share: style, colours, words for shares, and the machine."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import os
import platform
import re
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

# Away from it, neither, towards it. Orange and blue stay apart for all common kinds of colour blindness, and ink is
# legible on each of them.
PALETTES = {"light": ("#f0913a", "#f1f1ee", "#5a9fdc"), "dark": ("#a9560a", "#2b303a", "#2271b8")}
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")  # XML has none of them


def largest_share(explanation: Any) -> float:
    """Return the largest share of a node, whatever its sign."""
    return float(np.abs(explanation.nodes).max(initial=0.0))


def share_colour(share: float, scale: float) -> str:
    """Mix the colour of a share."""
    away, neither, towards = PALETTES["light"]
    strength = min(abs(share) / scale, 1.0) if scale > 0 else 0.0
    ends = (bytes.fromhex(colour[1:]) for colour in (neither, towards if share > 0 else away))
    return "#" + "".join(f"{int(a + strength * (b - a) + 0.5):02x}" for a, b in zip(*ends, strict=True))


def signed(value: float) -> str:
    """Write a share as people read it."""
    return number(value) if value <= 0 else f"+{number(value)}"


def number(value: float) -> str:
    """Write a number as people read it."""
    if not value:
        return "0"
    size = int(np.floor(np.log10(abs(value))))
    text = f"{value:,.{max(2 - size, 0)}f}" if -4 < size < 9 else f"{value:.2e}"
    return text.replace("-", "−")


def class_name(of: Any) -> str:
    """Name a class in a sentence."""
    whole = isinstance(of, (float, np.floating)) and float(of).is_integer()
    return str(of) if isinstance(of, str) else f"class {int(of) if whole else of}"


def legible(text: str) -> str:
    """Replace characters that nobody can read, and that XML cannot hold."""
    return _UNPRINTABLE.sub("\ufffd", text)


def read_asset(package: str, name: str) -> str:
    """Read a file from the folder assets of a package."""
    return (files(package) / "assets" / name).read_text(encoding="utf-8")


def content_policy(*scripts: str, compiles: bool = False) -> str:
    """Make a meta element for a page that loads nothing and runs these scripts alone; they may compile others."""
    digests = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join([*(f"'sha256-{digest}'" for digest in digests), *["'unsafe-eval'"] * compiles]) or "'none'"
    return (
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; img-src data:; '
        f"style-src 'unsafe-inline'; script-src {allowed}; base-uri 'none'; form-action 'none'\">"
    )


def share_colours(palette: str) -> str:
    """Return the colours of shares, as variables of a style sheet."""
    names = ("--away", "--neither", "--towards")
    return " ".join(f"{name}: {colour};" for name, colour in zip(names, PALETTES[palette], strict=True))


BASE_STYLE = read_asset("gvoys.drawing", "base.css")


_PACKAGES = ("gvoys", "numpy", "scipy", "numba", "scikit-learn", "rdkit", "grakel", "graphkit-learn")


def describe_machine() -> dict[str, str]:
    """Describe the processor, the cores, Python, the versions of packages that matter, and the day."""
    facts = {
        "date": datetime.now(UTC).date().isoformat(),
        "processor": _processor(),
        "cores": str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }
    for name in _PACKAGES:
        try:
            facts[name] = version(name)
        except PackageNotFoundError:
            continue
    return facts


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or "unknown"
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")


def as_json(result: Any) -> str:
    """Write a result as JSON."""
    return json.dumps(_plain(result), indent=1, ensure_ascii=False)


def _plain(value: Any) -> Any:
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, dict):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)
