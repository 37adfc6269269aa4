"""Output of commands, and how they end."""

from __future__ import annotations

import errno
import os
import re
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

_SMALLER = "take fewer graphs, or a smaller --max-length, --components or --rows-per-part where the command has them"
_WRITING = {  # errors that happen where files are written, and what to do
    errno.ENOSPC: "the disk is full; make room, and give the same command again",
    errno.EDQUOT: "the disk quota is used up; make room, and give the same command again",
    errno.EFBIG: "it is larger than files may be here; choose another disk, or ask for a higher limit",
    errno.EROFS: "the file system is read-only; choose another folder",
}
_PARTIAL = re.compile(r"\.(.+)\.[^.]+\.partial")  # of files that appear when they are complete


def printable(text: str) -> str:
    """Escape control characters, so that a file name or an id cannot steer the terminal."""
    steering = ("Cc", "Cf", "Cs")
    return "".join(ascii(c)[1:-1] if c != "\n" and unicodedata.category(c) in steering else c for c in text)


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
    """Make the console of a command, off standard output where that is for JSON; from here on Ctrl-C closes files."""
    from gvoys.apps.cli import _leave

    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return Terminal(stderr=json)


def answer(result: Any) -> None:
    """Print what a command found, for machines."""
    from gvoys.drawing.page import as_json

    sys.stdout.write(f"{as_json(result)}\n")


@contextmanager
def in_one_sentence() -> Iterator[None]:
    """End the process as a command ends: bad input and warnings are sentences, and nothing follows Ctrl-C."""
    try:
        try:
            with warnings.catch_warnings():
                warnings.showwarning = lambda message, *_, **__: _say(f"{message}", "yellow")
                yield
        finally:
            sys.stdout.flush()  # here, since a pipe that is closed at exit makes Python complain
    except BrokenPipeError:  # the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except MemoryError as error:
        _say(f"there is not enough memory ({error or 'no size is given'}); {_SMALLER}")
        sys.exit(2)
    except (GvoysError, OSError) as error:
        _say(_describe_error(error) if isinstance(error, OSError) else str(error))
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)


@contextmanager
def naming(output: Any) -> Iterator[None]:
    """Name the output of a command in an error of the system that names no file, as where a disk becomes full."""
    try:
        yield
    except OSError as error:
        is_of_file = error.strerror and not isinstance(error, (ConnectionError, TimeoutError))
        if is_of_file and error.filename is None and output is not None:
            error.filename = str(output)
        raise


def _describe_error(error: OSError) -> str:
    """Say which file an error of the system concerns, and what to do."""
    if not error.strerror:
        return str(error)
    folder, name = os.path.split(os.fsdecode(error.filename or "the output"))
    file = os.path.join(folder, _PARTIAL.sub(r"\1", name))
    if error.errno in _WRITING:
        return f"cannot write {file}: {_WRITING[error.errno]}"
    if error.errno == errno.EEXIST:
        return f"{file} exists already; choose another name, or give --overwrite"
    remedy = "change its permissions, or choose" if isinstance(error, PermissionError) else "choose"
    return f"cannot open {file}: {error.strerror.lower()}; {remedy} another file"


def _say(sentence: str, style: str = "red") -> None:
    Terminal(stderr=True).print(f"gvoys: {sentence}", style=style, highlight=False, soft_wrap=True, markup=False)
