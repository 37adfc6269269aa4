"""Seconds of work that compiles at first."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

VERY_LONG = 10.0  # times `long`


def best_of(work: Callable[[], Any], repeats: int = 3, long: float = 1.0) -> tuple[float, Any]:
    """Time the best of several runs.

    The first run may compile, so that there is a second unless the first was very long; after that one long run is
    enough.
    """
    times: list[float] = []
    while len(times) <= repeats and not (times and times[-1] > (long if len(times) > 1 else VERY_LONG * long)):
        begin = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - begin)
    return min(times), result
