"""The directive `commands`: every command of gvoys with its help, as it is printed in a terminal."""

from collections.abc import Iterator
from typing import ClassVar

import click
import typer
from docutils import nodes
from docutils.parsers.rst import Directive

from gvoys.cli import app


def _first(text: str | None) -> str:
    return " ".join((text or "").split())


def _values(option: click.Parameter) -> str:
    names = ", ".join([*option.opts, *option.secondary_opts])
    return names if getattr(option, "is_flag", False) else f"{names} {option.type.name.upper()}"


def _rows(command: click.Command) -> Iterator[tuple[str, str]]:
    for option in command.params:
        text = _first(getattr(option, "help", ""))
        if option.name == "help" or getattr(option, "hidden", False):
            continue
        shown = option.human_readable_name.upper() if isinstance(option, click.Argument) else _values(option)
        default = getattr(option, "default", None)
        is_said = default in (None, False, True, "") or callable(default) or isinstance(option, click.Argument)
        yield shown, text if is_said else f"{text} [default: {default}]"


class Commands(Directive):
    """A section for each command, with a list of its options."""

    has_content: ClassVar[bool] = False

    def run(self) -> list[nodes.Node]:
        """The sections."""
        group = typer.main.get_command(app)
        return [
            node for name, command in group.commands.items() if not command.hidden for node in _shown(name, command)
        ]


def _shown(name: str, command: click.Command) -> list[nodes.Node]:
    section = nodes.section(ids=[f"gvoys-{name}"], names=[f"gvoys {name}"])
    section += nodes.title(text=f"gvoys {name}")
    for paragraph in (command.help or "").split("\n\n"):
        section += nodes.paragraph(text=_first(paragraph))
    options = nodes.definition_list()
    for shown, text in _rows(command):
        item = nodes.definition_list_item()
        item += nodes.term("", "", nodes.literal(text=shown))
        item += nodes.definition("", nodes.paragraph(text=text))
        options += item
    section += options
    return [section]


def setup(app_) -> dict[str, bool]:
    """Makes the directive known."""
    app_.add_directive("commands", Commands)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
