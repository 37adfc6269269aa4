"""The commands: their options and help. What a command does is in the file of its name."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gvoys.cli.messages import begin
from gvoys.defaults import DECAY_OF_FILES, FILES, LEARNED_SERIES, PAGE

__all__ = ["app"]

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

    run_demo(begin(), root, compare, seed)


_KINDS = "SMILES (.smi, .csv, .tsv, .parquet), .g6, .s6, .jsonl, a store, or a TU name, zip or folder."
_DATA = Annotated[str, typer.Argument(help=_KINDS)]
_ROOT = Annotated[Path | None, typer.Option(help="A folder that holds the TU datasets, as NAME.zip or NAME/.")]
_TARGET = Annotated[str | None, typer.Option(help="The column to predict; of TU datasets the class.")]
_SMILES = Annotated[str, typer.Option(help="The column of a table that holds the SMILES.")]
_ID = Annotated[str | None, typer.Option(help="The column that holds the ids; else rows are numbered.")]
_FOLDS = Annotated[int, typer.Option(help="Folds of the outer cross-validation.")]
_SEED = Annotated[list[int] | None, typer.Option(help="Seed of the split; give it again for more. Default: 0.")]
_OUT = Annotated[Path | None, typer.Option(help="A folder for the results and plots.")]


_PART = Annotated[int, typer.Option(help="Rows of the input in a part.")]
_WORKERS = Annotated[int | None, typer.Option(help="Processes on this machine (a local Dask cluster).")]
_SCHEDULER = Annotated[str | None, typer.Option(help="The address of a Dask scheduler, as in tcp://host:8786.")]
_JOBS = Annotated[int | None, typer.Option(help="Threads; all by default.")]
_ATTRIBUTES = Annotated[bool, typer.Option("--attributes", help="Use node attributes too.")]


@app.command()
@app.command("classify", hidden=True)  # its name in 0.1
def evaluate(
    data: Annotated[list[str], typer.Argument(help=_KINDS)],
    root: _ROOT = None,
    target: _TARGET = None,
    smiles: _SMILES = "smiles",
    folds: _FOLDS = 10,
    seed: Annotated[
        list[int] | None,
        typer.Option(help="Seed of the split; give it again for more. Default: 0, and 0 1 2 for under 1000 graphs."),
    ] = None,
    attributes: _ATTRIBUTES = False,
    out: _OUT = None,
    n_jobs: _JOBS = None,
) -> None:
    """See how well a learner classifies your graphs, or predicts a number, in nested cross-validation.

    Kernel, refinement and C are chosen inside every training fold; the figures are what new graphs would get.
    """
    from gvoys.cli.evaluate import Options, run_evaluate

    seeds = tuple(seed) if seed else None
    run_evaluate(begin(), data, Options(root, target, smiles, folds, seeds, attributes, out, n_jobs))


@app.command()
def train(
    data: _DATA,
    out: Annotated[Path, typer.Option("--out", "-o", help="The model, such as model.gvoys.")],
    target: _TARGET = None,
    smiles: _SMILES = "smiles",
    id: _ID = None,
    root: _ROOT = None,
    cv: Annotated[bool, typer.Option(help="Cross-validate first, for a figure of what new graphs would get.")] = True,
    folds: Annotated[int, typer.Option(help="Folds of that cross-validation.")] = 5,
    seed: Annotated[int, typer.Option(help="Seed of its split.")] = 0,
    attributes: _ATTRIBUTES = False,
    n_jobs: _JOBS = None,
) -> None:
    """Train a model that predicts a column, and keep it in a file for `gvoys predict`.

    A column of numbers gets a Gaussian process, classes a support vector machine; settings are chosen by the training
    graphs alone.
    """
    from gvoys.cli.train import Options, run_train

    options = Options(out, root, target, smiles, id, folds if cv else None, seed, attributes, n_jobs)
    run_train(begin(), data, options)


@app.command()
def predict(
    model: Annotated[Path, typer.Argument(help="The file that `gvoys train` wrote.")],
    data: _DATA,
    out: Annotated[Path, typer.Option("--out", "-o", help="NAME.csv for the predictions.")],
    smiles: Annotated[
        str | None, typer.Option(help="The column that holds the SMILES; that of the training table by default.")
    ] = None,
    id: _ID = None,
    root: _ROOT = None,
    rows_per_part: _PART = 4096,
    workers: _WORKERS = None,
    scheduler: _SCHEDULER = None,
) -> None:
    """Predict with a trained model: a table of ids, predictions and how sure they are.

    Classes come with their probabilities, numbers with a deviation and a 95 % interval. Where the model keeps its
    training graphs, the nearest of them is named; *unseen* is the share of nodes whose label no training graph has. A
    run that was stopped or killed goes on where it was when the command is given again.
    """
    from gvoys.cli.stream import Data, Where, run_predict

    run_predict(begin(), model, Data(data, smiles, id, root), out, rows_per_part, Where(workers, scheduler))


@app.command()
def learn(
    data: _DATA,
    root: _ROOT = None,
    target: _TARGET = None,
    smiles: _SMILES = "smiles",
    objective: Annotated[
        str | None, typer.Option(help="svm, layer, alignment or likelihood; svm, for real targets likelihood.")
    ] = None,
    labels: Annotated[str, typer.Option(help="auto, node, edge, both or none.")] = "auto",
    max_length: Annotated[
        int, typer.Option(help="The longest walk; one coefficient more than that.")
    ] = LEARNED_SERIES.max_length,
    refine: Annotated[
        int, typer.Option(help="Weisfeiler–Lehman iterations; each has its own coefficients.")
    ] = LEARNED_SERIES.refine,
    folds: _FOLDS = 10,
    seed: _SEED = None,
    out: _OUT = None,
) -> None:
    """Learn the coefficients mu of the walk kernel, and see the gain in nested cross-validation."""
    from gvoys.cli.learn import Options, run_learn

    chosen = None if labels == "none" else labels
    seeds = tuple(seed or [0])
    options = Options(root, target, smiles, objective, chosen, max_length, refine, folds, seeds, out)
    run_learn(begin(), data, options)


_SERIES = Annotated[str, typer.Option(help="geometric or exponential.")]
_DECAY = Annotated[float, typer.Option(help="Of the series; whatever the graphs, so that any two runs compare.")]
_LENGTH = Annotated[int, typer.Option(help="The longest walk.")]
_METHOD = Annotated[str, typer.Option(help="auto, moments, sketch or voyagers.")]
_COMPONENTS = Annotated[int, typer.Option(help="Width of the sketch.")]
_LENGTHS = Annotated[
    str, typer.Option(help="summed or stacked over walk lengths; auto sums sketches up and keeps moments apart.")
]
_LABELS = Annotated[str, typer.Option(help="auto (of nodes, where there are any), node, edge, both or none.")]
_REFINE = Annotated[int, typer.Option(help="Weisfeiler–Lehman iterations.")]
_BACKTRACK = Annotated[bool, typer.Option(help="Whether walks may backtrack.")]
_RANDOM = Annotated[int, typer.Option(help="Seed of the sketch.")]
_DEVICE = Annotated[str, typer.Option(help="cpu or cuda.")]


@app.command()
def embed(
    data: _DATA,
    out: Annotated[Path, typer.Option("--out", "-o", help="A folder for the features.")],
    root: _ROOT = None,
    smiles: _SMILES = "smiles",
    id: _ID = None,
    series: _SERIES = "geometric",
    decay: _DECAY = DECAY_OF_FILES,
    max_length: _LENGTH = FILES.max_length,
    method: _METHOD = "auto",
    components: _COMPONENTS = FILES.n_components,
    lengths: _LENGTHS = "auto",
    labels: _LABELS = "auto",
    refine: _REFINE = FILES.refine,
    backtrack: _BACKTRACK = FILES.backtrack,
    seed: _RANDOM = 0,
    rows_per_part: _PART = 4096,
    device: _DEVICE = "cpu",
    workers: _WORKERS = None,
    scheduler: _SCHEDULER = None,
) -> None:
    """Turn a file of graphs into features, whose dot products are the kernel: a Parquet dataset in numbered parts.

    Memory does not grow with the input. A run that was stopped or killed goes on where it was when the command is given
    again, and ends with the same bytes. Rows that cannot be read are listed in skipped.csv.
    """
    from gvoys.cli.stream import Data, Where, run_embed
    from gvoys.scale.job import Parameters

    chosen = None if labels == "none" else labels
    walks = Parameters(
        series, decay, max_length, method, components, lengths, chosen, refine, backtrack, seed, rows_per_part, device
    )
    run_embed(begin(), Data(data, smiles, id, root), out, walks, Where(workers, scheduler))


@app.command()
def kernel(
    data: _DATA,
    out: Annotated[Path, typer.Option("--out", "-o", help="NAME.npy for the matrix; NAME.ids.txt goes beside it.")],
    normalize: Annotated[bool, typer.Option("--normalize", help="Divide by sqrt(K(G,G) K(H,H)).")] = False,
    root: _ROOT = None,
    smiles: _SMILES = "smiles",
    id: _ID = None,
    series: _SERIES = "geometric",
    decay: _DECAY = DECAY_OF_FILES,
    max_length: _LENGTH = FILES.max_length,
    method: _METHOD = "auto",
    components: _COMPONENTS = FILES.n_components,
    lengths: _LENGTHS = "stacked",
    labels: _LABELS = "auto",
    refine: _REFINE = FILES.refine,
    backtrack: _BACKTRACK = FILES.backtrack,
    seed: _RANDOM = 0,
    rows_per_part: _PART = 4096,
    device: _DEVICE = "cpu",
    workers: _WORKERS = None,
    scheduler: _SCHEDULER = None,
) -> None:
    """Write the Gram matrix of a file of graphs, block by block, to a .npy file that NumPy can map into memory.

    A run that was stopped or killed goes on where it was when the command is given again.
    """
    from gvoys.cli.stream import Data, Where, run_kernel
    from gvoys.scale.job import Parameters

    chosen = None if labels == "none" else labels
    walks = Parameters(
        series, decay, max_length, method, components, lengths, chosen, refine, backtrack, seed, rows_per_part, device
    )
    run_kernel(begin(), Data(data, smiles, id, root), out, walks, normalize, Where(workers, scheduler))


@app.command()
def explore(
    data: _DATA,
    out: Annotated[Path, typer.Option("--out", "-o", help="The page, an .html file.")],
    root: _ROOT = None,
    smiles: _SMILES = "smiles",
    id: _ID = None,
    series: Annotated[
        str | None, typer.Option(help="geometric or exponential; by default all lengths have the same share.")
    ] = None,
    decay: Annotated[float | None, typer.Option(help="Of the series; by default 1 / d_max².")] = None,
    max_length: _LENGTH = PAGE.max_length,
    labels: _LABELS = "auto",
    graphs: Annotated[int, typer.Option(help="The most graphs on the page; of more, some are drawn at random.")] = 5000,
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 0,
) -> None:
    """Write a page to look at graphs: a map, drawings, nearest graphs, and a slider for the weight of each walk length.

    The page needs no network and no other file. Molecules are drawn as molecules where RDKit is installed, and UMAP
    gives a second map where umap-learn is.
    """
    from gvoys.cli.explore import Options, run_explore

    chosen = None if labels == "none" else labels
    run_explore(begin(), data, Options(out, root, smiles, id, series, decay, max_length, chosen, graphs, seed))
