"""What commands print, and how they end."""

from __future__ import annotations

import os
import signal
import sys
import unicodedata
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.segment import Segment
from rich.text import Text

from gvoys.errors import GvoysError

__all__ = ["Terminal", "answer", "begin", "in_one_sentence", "printable"]

_SMALLER = "take fewer graphs, or a smaller --max-length, --components or --rows-per-part where the command has them"


def printable(text: str) -> str:
    """Text whose control characters are escaped, so that a file name or an id cannot steer the terminal.

    Parameters
    ----------
    text : str
        What to print.

    Returns
    -------
    str
        The text, in which only ends of lines are left of all characters that are not written.
    """
    return "".join(_escaped(c) if unicodedata.category(c) in ("Cc", "Cf", "Cs") else c for c in text)


def _escaped(character: str) -> str:
    return character if character == "\n" else ascii(character)[1:-1]


class Terminal(Console):
    """Rich's console, which prints no control character but its own."""

    def render_str(self, text: str, *args: Any, **options: Any) -> Text:
        """Escape before Rich drops some control characters and keeps others."""
        return super().render_str(printable(text), *args, **options)

    def render(self, *args: Any, **options: Any) -> Iterable[Segment]:
        """Escape what did not come as a string: status lines and progress bars."""
        for segment in super().render(*args, **options):
            yield segment if segment.control else Segment(printable(segment.text), segment.style)


def begin(json: bool = False) -> Terminal:
    """The console of a command, whose work begins now.

    From here on Ctrl-C raises KeyboardInterrupt, so that files are closed and workers stopped.

    Parameters
    ----------
    json : bool, default=False
        Whether standard output is kept for the answer.

    Returns
    -------
    Terminal
        Where the command prints.
    """
    from gvoys.cli import _leave

    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return Terminal(stderr=json)


def _show_warning(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    """One line, without the place in the code."""
    _say(f"{message}", "yellow")


def answer(result: Any) -> None:
    """Print what a command found, for machines.

    Parameters
    ----------
    result : object
        What JSON can hold; numbers that are not finite become null.
    """
    from gvoys.report.plain import as_json

    sys.stdout.write(f"{as_json(result)}\n")


@contextmanager
def in_one_sentence() -> Iterator[None]:
    """End the process as a command ends: what the user can mend in one sentence, and nothing after Ctrl-C.

    Warnings are sentences as well.

    Yields
    ------
    None
        While the command runs.
    """
    try:
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _show_warning
                yield
        finally:
            sys.stdout.flush()  # here, since a pipe that is closed at exit makes Python complain
    except BrokenPipeError:  # the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except MemoryError as error:
        _say(f"there is not enough memory ({error or 'no size is given'}); {_SMALLER}")
        sys.exit(2)
    except (GvoysError, OSError) as error:  # the latter: a folder that cannot be written, a disk that is full
        _say(str(error))
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)


def _say(sentence: str, style: str = "red") -> None:
    Terminal(stderr=True).print(f"gvoys: {sentence}", style=style, highlight=False, soft_wrap=True, markup=False)
