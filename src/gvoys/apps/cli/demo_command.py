"""gvoys demo: the main job on molecules that ship with the package, from a table to predictions and their reasons."""

from __future__ import annotations

import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gvoys.apps.cli.messages import begin
from gvoys.apps.cli.options import Jobs, Overwrite

if TYPE_CHECKING:
    from rich.console import Console

    from gvoys.apps.evaluation import Evaluation
    from gvoys.io import Graphs


INSTALL = 'pip install "gvoys[chem,explore]"'
_FOLDS = 5  # one of which is held out
_FIRST = 50  # molecules whose fit compiles, so that the times below are those of learning
_SHOWN = 5  # predictions, and shares of atoms


def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="The page to write, NAME.html.")] = Path("gvoys-demo.html"),
    kernel: Annotated[
        bool, typer.Option("--kernel", help="The kernel of MUTAG instead, exact, with GraKeL beside it.")
    ] = False,
    root: Annotated[Path | None, typer.Option(help="For --kernel: a folder that holds MUTAG.zip or MUTAG/.")] = None,
    compare: Annotated[bool, typer.Option(help="For --kernel: run GraKeL too; about ten seconds.")] = True,
    seed: Annotated[int, typer.Option(help="Seed of the split.")] = 0,
    overwrite: Overwrite = False,
    n_jobs: Jobs = None,
) -> None:
    """Predict how well molecules dissolve in water: train, evaluate, predict, explain, and look at the result.

    The data is FreeSolv, 642 molecules with measured hydration free energies, which ships with gvoys. A fifth of it is
    held out; a Weisfeiler–Lehman kernel stands beside the model. You get a page with the molecules that were held out.
    """
    console = begin()
    if kernel:
        from gvoys.apps.cli.demo_kernel import compare_kernels

        compare_kernels(console, root, compare, seed)
        return
    from gvoys.apps.cli.outputs import check_outputs

    check_outputs(out, ".html", ".htm", overwrite=overwrite)
    start = time.perf_counter()
    graphs, evaluation, model = _learn(console, seed, n_jobs)
    _show_errors(console, evaluation)
    _show_predictions(console, graphs, evaluation)
    _explain(console, graphs, evaluation, model)
    _write(console, graphs, evaluation, model, out)
    console.print(
        f"{time.perf_counter() - start:.0f} s in all. Your own table: [bold]gvoys --help[/bold]", highlight=False
    )


def _learn(console: Console, seed: int, n_jobs: int | None) -> tuple[Graphs, Evaluation, Any]:
    """The molecules, what all methods predict of those that are held out, and the model."""
    with console.status("reading …") as status:
        from gvoys.apps.evaluation import LearnerMethod, baselines_for, evaluate, make_folds
        from gvoys.datasets.loaders import read_freesolv
        from gvoys.estimators.regressor import RandomWalkRegressor
        from gvoys.threads import threads

        graphs = read_freesolv()
        y: Any = graphs.y
        fold = make_folds(y, False, _FOLDS, (seed,))[0]
        console.print(
            f"\n[bold]FreeSolv[/bold]: hydration free energies of {len(y)} molecules, in kcal/mol "
            f"(Mobley and Guthrie 2014, CC BY 4.0)\n{len(fold.train)} to learn from, {len(fold.test)} held out\n",
            highlight=False,
        )
        status.update("preparing the baseline …")
        with threads(n_jobs):
            others = baselines_for(graphs.batch, y, None, None, n_jobs)
            method = LearnerMethod(RandomWalkRegressor(n_jobs=n_jobs), graphs.batch, y, None, lambda model: model)
            named = {"gvoys": method, "Weisfeiler–Lehman": others["WL + GP"], "mean of all": others["mean"]}

            status.update("compiling kernels: half a minute the first time, then nothing …")
            first = fold.train[:_FIRST]
            RandomWalkRegressor(n_jobs=n_jobs).fit(graphs.batch[first], y[first])

            def shown(steps: Any) -> Any:
                for step in steps:
                    status.update(f"{step[1]} learns from {len(fold.train)} molecules …")
                    yield step

            evaluation = evaluate(named, y, None, [fold], shown)
    model = method.kept[0]
    names = [graphs.ids[row] for row in fold.train.tolist()]
    model.training_ = {"data": "FreeSolv", "target": "expt", "ids": names}
    return graphs, evaluation, model


def _show_errors(console: Console, found: Evaluation) -> None:
    """One row for each method."""
    from rich.table import Table

    table = Table("", "RMSE", "MAE", "R2", "95 % intervals hold", "learned in", title="On molecules that were held out")
    for name, result in found.results.items():
        measures = result.measures[0]
        figures = [f"{measures[measure]:.2f}" for measure in ("RMSE", "MAE", "R2")]
        table.add_row(name, *figures, f"{100 * measures['coverage']:.0f} %", f"{result.fit_seconds:.1f} s")
    console.print(table)


def _show_predictions(console: Console, graphs: Graphs, found: Evaluation) -> None:
    """Some that span the range of what was measured."""
    from rich.table import Table

    from gvoys.estimators.regressor import TWO_SIDED

    test, made = found.folds[0].test, found.results["gvoys"].predictions[0]
    deviation: Any = made.deviation
    table = Table("molecule", "measured", "predicted", "95 % interval", title="Some of them")
    for position in _spread(found.y[test]):
        value, half = float(made.values[position]), TWO_SIDED * float(deviation[position])
        numbers = [f"{value_shown:.1f}" for value_shown in (found.y[test][position], value)]
        table.add_row(graphs.ids[test[position]], *numbers, f"{value - half:.1f} to {value + half:.1f}")
    console.print(table)


def _spread(y: Any) -> list[int]:
    """Places from the smallest to the largest, evenly."""
    import numpy as np

    order = np.argsort(y, kind="stable")
    return [int(order[k]) for k in np.linspace(0, len(y) - 1, _SHOWN).round().astype(int)]


def _explain(console: Console, graphs: Graphs, found: Evaluation, model: Any) -> None:
    """One molecule, atom by atom: the second lowest of those above."""
    from gvoys.io.chemistry.atom_labels import label_text

    test = found.folds[0].test
    chosen = int(test[_spread(found.y[test])[1]])
    with console.status("explaining …"):
        reason = model.explain(graphs.batch[[chosen]])[0]
    labels: Any = graphs.batch[chosen].node_labels
    texts = [label_text(label) for label in labels.decode()]
    largest = sorted(range(len(texts)), key=lambda node: -abs(reason.nodes[node]))[:_SHOWN]
    atoms = ", ".join(f"{texts[node]} {reason.nodes[node]:+.2f}" for node in largest)
    more = f", and {len(texts) - len(largest)} more atoms" if len(texts) > len(largest) else ""
    console.print(
        f"Why {graphs.ids[chosen]} ({graphs.columns['smiles'][chosen]}) is predicted at {reason.decision:.2f}: "
        f"baseline {reason.baseline:.2f}, {atoms}{more}; they add up.\n",
        highlight=False,
        markup=False,
    )


def _write(console: Console, graphs: Graphs, found: Evaluation, model: Any, out: Path) -> None:
    """The explorer where Plotly is, else explanations."""
    has_map = find_spec("plotly") is not None
    (_write_explorer if has_map else _write_reasons)(console, graphs, found, model, out)
    what = "a map of them, their errors, and what each atom adds" if has_map else "the reasons of each prediction"
    console.print(f"Open {out} in a browser: {what}.", highlight=False, soft_wrap=True, markup=False)
    missing = {"rdkit": "Drawings of molecules need RDKit", "plotly": "The page with a map needs Plotly"}
    text = [sentence for package, sentence in missing.items() if find_spec(package) is None]
    if text:
        console.print(
            f"{'. '.join(text)}; install what is missing with {INSTALL}.", highlight=False, soft_wrap=True, markup=False
        )


def _write_explorer(console: Console, graphs: Graphs, found: Evaluation, model: Any, out: Path) -> None:
    from gvoys.apps.explore import Collection, Property
    from gvoys.apps.explore import explore as write_page

    shown = graphs.take(found.folds[0].test)
    measured: Any = shown.y
    collection = Collection(
        "FreeSolv, held out",
        shown.batch,
        shown.ids,
        {"expt": Property(measured)},
        smiles=shown.smiles,
        texts={"SMILES": shown.smiles or []},
        target="expt",
    )
    with console.status("making the page …") as status:
        write_page(collection, path=out, model=model, on_progress=lambda stage: status.update(f"{stage} …"))


def _write_reasons(console: Console, graphs: Graphs, found: Evaluation, model: Any, out: Path) -> None:
    from gvoys.apps.explain import write_page

    shown = graphs.take(found.folds[0].test)
    with console.status("making the page …"):
        reasons = model.explain(shown.batch, smiles=shown.smiles)
        fact = "The model was trained on other molecules of FreeSolv to predict hydration free energies in kcal/mol."
        write_page(out, "FreeSolv: why these predictions", [fact], reasons, shown.ids)
