"""The command line: gvoys …

Little is imported here: all other modules of a command are imported inside `main`, where Ctrl-C is already heeded.
"""

from __future__ import annotations

import gc
import os
import signal

TYPE_CHECKING = False  # as in typing, whose import takes longer than all else here
if TYPE_CHECKING:
    from typing import Any

    from gvoys.apps.cli.commands import app

__all__ = ["app", "main"]

# New objects after which Python looks for cycles. The default is 700; imports make hundreds of thousands of objects
# that stay, and to look through them again and again takes a tenth of the time of a short command.
_OBJECTS = 50_000


def __getattr__(name: str) -> Any:
    if name != "app":
        raise AttributeError(f"module 'gvoys.apps.cli' has no attribute {name!r}")
    from gvoys.apps.cli.commands import app

    return app


def main() -> None:
    """Run the command line; bad input ends in one sentence and exit status 2, Ctrl-C in exit status 130."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not where it is ignored, as under nohup
        signal.signal(signal.SIGINT, _leave)
    gc.set_threshold(_OBJECTS)
    from gvoys.apps.cli.commands import app
    from gvoys.apps.cli.messages import in_one_sentence

    with in_one_sentence():
        app()


def _leave(*_: object) -> None:
    """End at once: while modules are imported there is nothing to tidy up, and half a module would raise anything."""
    os._exit(130)
