"""The command line: gvoys …"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from gvoys.errors import GvoysError

__all__ = ["app", "main"]

app = typer.Typer(
    name="gvoys",
    help="Compare graphs by the walks they share: random walk kernels in linear time.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
)


@app.callback(invoke_without_command=True)
def _root(version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False) -> None:
    if version:
        from gvoys import __version__

        typer.echo(f"gvoys {__version__}")
        raise typer.Exit


@app.command()
def demo(
    root: Annotated[Path | None, typer.Option(help="A folder that holds MUTAG.zip or MUTAG/.")] = None,
    compare: Annotated[bool, typer.Option(help="Run GraKeL on the same graphs; about ten seconds.")] = True,
    seed: Annotated[int, typer.Option(help="Seed of the cross-validation.")] = 0,
) -> None:
    """Classify the 188 molecules of MUTAG by the walks they share, with GraKeL beside it.

    The kernel is the exact geometric random walk kernel of the graphs without labels; a support vector machine is
    cross-validated on it in ten folds.
    """
    from gvoys.cli.demo import run_demo

    run_demo(Console(), root, compare, seed)


def main() -> None:
    """Run the command line; what gvoys refuses ends in one sentence and exit status 2."""
    try:
        app()
    except GvoysError as error:
        Console(stderr=True).print(f"gvoys: {error}", style="red", highlight=False, soft_wrap=True, markup=False)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
