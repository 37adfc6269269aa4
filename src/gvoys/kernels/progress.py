"""Progress bars of a fit, on stderr, and nothing at all where none were asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from gvoys.errors import ParameterError


class Progress:
    """Bars for the steps of a fit."""

    def __init__(self, bars: Any = None) -> None:
        self._bars = bars

    def track(self, items: Iterable[Any], step: str, total: int) -> Iterable[Any]:
        """The items, with a bar that grows with them."""
        return items if self._bars is None else self._bars.track(items, total=total, description=step)

    @contextmanager
    def running(self, step: str) -> Iterator[None]:
        """A bar for a step in one piece."""
        advance = self.counter(step, 1)
        yield
        advance()

    def counter(self, step: str, total: int) -> Callable[[], None]:
        """Return a function to call after each part of a step; there may be fewer than `total`."""
        if self._bars is None:
            return _nothing
        bars, bar = self._bars, self._bars.add_task(step, total=total)
        return lambda: bars.advance(bar)


def _nothing() -> None:
    pass


SILENT = Progress()


@contextmanager
def progress_bars(verbose: Any) -> Iterator[Progress]:
    """Bars on stderr while the block runs, where they are asked for."""
    if not wants_progress(verbose):
        yield SILENT
        return
    from rich.console import Console
    from rich.progress import Progress as Bars

    with Bars(console=Console(stderr=True)) as bars:
        yield Progress(bars)
        for task in bars.tasks:  # a step that needed fewer parts than it might is done too
            bars.update(task.id, total=task.completed)


def wants_progress(verbose: Any) -> bool:
    """Check the parameter `verbose`; scikit-learn's own estimators take numbers too."""
    if not isinstance(verbose, (bool, np.bool_, int, np.integer)):
        raise ParameterError(f"verbose must be True or False, not {verbose!r}")
    return bool(verbose)
