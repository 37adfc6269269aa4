"""The most memory that a piece of work holds at once."""

import ctypes
import gc
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

_STATUS, _RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def peak_memory(work: Callable[[], Any], beyond: bool = True) -> tuple[float, float]:
    """Bytes, beyond what was held before or in all (nan where the system does not tell), and seconds of one run."""
    if not _RESET.exists():
        begin = time.perf_counter()
        work()
        return float("nan"), time.perf_counter() - begin
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # what is freed but not returned would hide what the work takes
    _RESET.write_text("5")  # forget the peak so far
    before = field("VmRSS")
    begin = time.perf_counter()
    work()
    return field("VmHWM") - (before if beyond else 0.0), time.perf_counter() - begin


def field(name: str) -> float:
    """Bytes that the system counts for this process, by the name of the field."""
    lines = _STATUS.read_text().splitlines()
    return 1024.0 * next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))
