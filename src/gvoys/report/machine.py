"""The machine that a measurement was taken on."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_PACKAGES = ("gvoys", "numpy", "scipy", "numba", "scikit-learn", "rdkit", "grakel", "graphkit-learn")


def describe_machine() -> dict[str, str]:
    """Describe the processor, the cores, Python, the versions of packages that matter, and the day."""
    facts = {
        "date": datetime.now(UTC).date().isoformat(),
        "processor": _processor(),
        "cores": str(_cores()),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }
    for name in _PACKAGES:
        try:
            facts[name] = version(name)
        except PackageNotFoundError:
            continue
    return facts


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or "unknown"
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")
