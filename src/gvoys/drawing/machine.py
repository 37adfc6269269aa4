"""The machine that a measurement was taken on."""

from __future__ import annotations

import json
import math
import os
import platform
import time
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

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


_VERY = 10.0


def best_of(work: Callable[[], Any], repeats: int = 3, long: float = 1.0) -> tuple[float, Any]:
    """Time the best of several runs.

    The first run may compile, so that there is a second unless the first was very long; after that one long run is
    enough.
    """
    times: list[float] = []
    while len(times) <= repeats and not (times and times[-1] > (long if len(times) > 1 else _VERY * long)):
        begin = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - begin)
    return min(times), result


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
