"""The command line as typer sees it: what is in the file of each command, under its name."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from gvoys.apps.cli.demo_command import demo
from gvoys.apps.cli.embed_command import embed, kernel
from gvoys.apps.cli.evaluate_command import evaluate
from gvoys.apps.cli.explain_command import explain
from gvoys.apps.cli.explore_command import explore
from gvoys.apps.cli.learn_command import learn
from gvoys.apps.cli.options import flat
from gvoys.apps.cli.search_command import search
from gvoys.apps.cli.train_command import predict, train
from gvoys.errors import ParameterError

_NAMES_OF_0_1 = {"smiles-column": "smiles", "id-column": "id"}

app = typer.Typer(
    name="gvoys",
    help="Compare graphs by the walks they share: random walk kernels in linear time.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    context_settings={"token_normalize_func": lambda name: _NAMES_OF_0_1.get(name, name)},
)


@app.callback(invoke_without_command=True)
def _root(version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False) -> None:
    if version:
        from gvoys import __version__

        typer.echo(f"gvoys {__version__}")
        raise typer.Exit


class _Command(TyperCommand):
    """A command that takes no option twice whose first value would be dropped without a word."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        _, _, order = self.make_parser(ctx).parse_args([*args])
        for parameter, count in Counter(order).items():
            if count > 1 and not getattr(parameter, "is_flag", True) and not parameter.multiple:
                raise ParameterError(f"{parameter.opts[0]} takes one value and is given {count} times; give it once")
        return super().parse_args(ctx, args)


for _command in (demo, evaluate, train, predict, explain, search, learn, embed, kernel, explore):
    app.command(cls=_Command)(flat(_command))
app.command("classify", hidden=True, cls=_Command)(flat(evaluate))  # its name in 0.1
