"""The directive `commands`: every command of gvoys with its help, as it is printed in a terminal."""

import inspect
from collections.abc import Iterator
from typing import Any, ClassVar, get_args

import typer
from docutils import nodes
from docutils.parsers.rst import Directive

from gvoys.apps.cli import app


def _first(text: str | None) -> str:
    return " ".join((text or "").split())


def _kind(annotation: Any) -> str:
    """What a user gives: the name of the type, whatever Typer and its help add to it."""
    while get_args(annotation):  # Annotated[…], list[…] and … | None
        annotation = get_args(annotation)[0]
    return {"str": "text"}.get(annotation.__name__, annotation.__name__).upper()


def rows(command: Any) -> Iterator[tuple[str, str]]:
    """Names and explanations of a command's arguments and options."""
    parameters = inspect.signature(command.callback, eval_str=True).parameters
    for option in command.params:
        if option.name == "help" or getattr(option, "hidden", False):
            continue
        names, text = ", ".join([*option.opts, *option.secondary_opts]), _first(option.help)
        if option.param_type_name == "argument":
            yield option.name.upper(), text
            continue
        kind = "" if option.is_flag else f" {_kind(parameters[option.name].annotation)}"
        default = option.default
        is_said = default in (None, False, True, "") or callable(default)
        yield names + kind, text if is_said else f"{text} [default: {default}]"


class Commands(Directive):
    """A section for each command, with a list of its options."""

    has_content: ClassVar[bool] = False

    def run(self) -> list[nodes.Node]:
        """The sections."""
        group = typer.main.get_command(app)
        return [
            node for name, command in group.commands.items() if not command.hidden for node in _shown(name, command)
        ]


def _shown(name: str, command: Any) -> list[nodes.Node]:
    section = nodes.section(ids=[f"gvoys-{name}"], names=[f"gvoys {name}"])
    section += nodes.title(text=f"gvoys {name}")
    for paragraph in (command.help or "").split("\n\n"):
        section += nodes.paragraph(text=_first(paragraph))
    options = nodes.definition_list()
    for shown, text in rows(command):
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
