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


_ROOT = Annotated[Path | None, typer.Option(help="A folder that holds the TU datasets, as NAME.zip or NAME/.")]
_TARGET = Annotated[str | None, typer.Option(help="The column to predict, where DATA is a table of SMILES.")]
_SMILES = Annotated[str, typer.Option(help="The column that holds the SMILES.")]
_FOLDS = Annotated[int, typer.Option(help="Folds of the outer cross-validation.")]
_SEED = Annotated[list[int] | None, typer.Option(help="Seed of the split; give it again for more. Default: 0.")]
_OUT = Annotated[Path | None, typer.Option(help="A folder for the results and plots.")]


@app.command()
def classify(
    data: Annotated[list[str], typer.Argument(help="TU names, zips or folders, or tables of SMILES.")],
    root: _ROOT = None,
    target: _TARGET = None,
    smiles: _SMILES = "smiles",
    folds: _FOLDS = 10,
    seed: Annotated[
        list[int] | None,
        typer.Option(help="Seed of the split; give it again for more. Default: 0, and 0 1 2 for under 1000 graphs."),
    ] = None,
    attributes: Annotated[bool, typer.Option("--attributes", help="Let node attributes count.")] = False,
    out: _OUT = None,
    n_jobs: Annotated[int | None, typer.Option(help="Threads; all by default.")] = None,
) -> None:
    """Classify graphs (or predict a number, where the target is real) in nested cross-validation.

    Kernel, refinement and C are chosen inside every training fold; the figures are what new graphs would get.
    """
    from gvoys.cli.classify import Options, run_classify

    seeds = tuple(seed) if seed else None
    run_classify(Console(), data, Options(root, target, smiles, folds, seeds, attributes, out, n_jobs))


@app.command()
def learn(
    data: Annotated[str, typer.Argument(help="A TU name, zip or folder, or a table of SMILES.")],
    root: _ROOT = None,
    target: _TARGET = None,
    smiles: _SMILES = "smiles",
    objective: Annotated[
        str | None, typer.Option(help="svm, layer, alignment or likelihood; svm, for real targets likelihood.")
    ] = None,
    labels: Annotated[str, typer.Option(help="auto, node, edge, both or none.")] = "auto",
    max_length: Annotated[int, typer.Option(help="The longest walk; one coefficient more than that.")] = 7,
    refine: Annotated[int, typer.Option(help="Rounds of label refinement; each has its own coefficients.")] = 0,
    folds: _FOLDS = 10,
    seed: _SEED = None,
    out: _OUT = None,
) -> None:
    """Learn the coefficients mu of the walk kernel, and see in nested cross-validation what they are worth."""
    from gvoys.cli.learn import Options, run_learn

    chosen = None if labels == "none" else labels
    seeds = tuple(seed or [0])
    options = Options(root, target, smiles, objective, chosen, max_length, refine, folds, seeds, out)
    run_learn(Console(), data, options)


def main() -> None:
    """Run the command line; what gvoys refuses ends in one sentence and exit status 2."""
    try:
        app()
    except GvoysError as error:
        Console(stderr=True).print(f"gvoys: {error}", style="red", highlight=False, soft_wrap=True, markup=False)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
