"""Seconds of a piece of work on a machine that others use too."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Timing:
    """The best of several runs, and how much slower the worst was: the noise of this machine now."""

    seconds: float
    spread: float
    result: Any

    def __str__(self) -> str:
        return f"{show(self.seconds)} (worst x{self.spread:.2f})"


def measure(work: Callable[[], Any], repeats: int = 5, warm: bool = True) -> Timing:
    """Run once to warm up, then take the best of `repeats`."""
    if warm:
        work()
    seconds = []
    for _ in range(repeats):
        begin = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - begin)
    return Timing(min(seconds), max(seconds) / min(seconds), result)


def show(seconds: float) -> str:
    """Seconds with a unit that reads well."""
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f} us"
    if seconds < 1:
        return f"{seconds * 1e3:.2f} ms"
    return f"{seconds:,.1f} s"


_VERY_LONG = 10.0  # times `long`


def best_of(work: Callable[[], Any], repeats: int = 3, long: float = 1.0) -> tuple[float, Any]:
    """Time the best of several runs.

    The first run may compile, so that there is a second unless the first was very long; after that one long run is
    enough.
    """
    times: list[float] = []
    while len(times) <= repeats and not (times and times[-1] > (long if len(times) > 1 else _VERY_LONG * long)):
        begin = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - begin)
    return min(times), result
