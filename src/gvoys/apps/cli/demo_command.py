"""gvoys demo: the main job on molecules that ship with the package, or the exact kernel of MUTAG beside GraKeL's."""

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
    from gvoys.graphs.batch import GraphBatch
    from gvoys.io import Graphs
    from gvoys.series import Series


INSTALL, INSTALL_GRAKEL = 'pip install "gvoys[chem,explore]"', 'pip install "gvoys[peers]"'
_FOLDS = 5  # one of which is held out
_COMPILED_ON = 50  # molecules whose fit compiles, so that the times below are those of learning
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
        compare_kernels(console, root, compare, seed)
        return
    from gvoys.apps.cli.outputs import check_outputs

    check_outputs(out, ".html", ".htm", overwrite=overwrite)
    start = time.perf_counter()
    graphs, evaluation, model = _learn(console, seed, n_jobs)
    _show(console, graphs, evaluation, model)
    _write(console, graphs, evaluation, model, out)
    console.print(
        f"{time.perf_counter() - start:.0f} s in all. Your own table: [bold]gvoys --help[/bold]", highlight=False
    )


def _learn(console: Console, seed: int, n_jobs: int | None) -> tuple[Graphs, Evaluation, Any]:
    """Return the molecules, what all methods predict of those that are held out, and the model."""
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
            first = fold.train[:_COMPILED_ON]
            RandomWalkRegressor(n_jobs=n_jobs).fit(graphs.batch[first], y[first])

            def shown(steps: Any) -> Any:
                for step in steps:
                    status.update(f"{step[1]} learns from {len(fold.train)} molecules …")
                    yield step

            evaluation = evaluate(named, y, None, [fold], shown)
    model = method.kept[0]
    model.training_ = {"data": "FreeSolv", "target": "expt", "ids": [graphs.ids[row] for row in fold.train.tolist()]}
    return graphs, evaluation, model


def _show(console: Console, graphs: Graphs, evaluation: Evaluation, model: Any) -> None:
    """Print the errors of all methods, some predictions, and the reasons of one of them."""
    import numpy as np
    from rich.table import Table

    from gvoys.estimators.regressor import TWO_SIDED
    from gvoys.io.chemistry.atom_labels import label_text

    table = Table("", "RMSE", "MAE", "R2", "95 % intervals hold", "learned in", title="On molecules that were held out")
    for name, result in evaluation.results.items():
        measures = result.measures[0]
        figures = [f"{measures[measure]:.2f}" for measure in ("RMSE", "MAE", "R2")]
        table.add_row(name, *figures, f"{100 * measures['coverage']:.0f} %", f"{result.fit_seconds:.1f} s")
    console.print(table)

    test, made = evaluation.folds[0].test, evaluation.results["gvoys"].predictions[0]
    y, deviation = evaluation.y[test], np.asarray(made.deviation)
    order = np.argsort(y, kind="stable")
    rows = order[np.linspace(0, len(y) - 1, _SHOWN).round().astype(int)].tolist()  # span what was measured
    table = Table("molecule", "measured", "predicted", "95 % interval", title="Some of them")
    for row in rows:
        value, half = float(made.values[row]), TWO_SIDED * float(deviation[row])
        interval = f"{value - half:.1f} to {value + half:.1f}"
        table.add_row(graphs.ids[test[row]], f"{y[row]:.1f}", f"{value:.1f}", interval)
    console.print(table)

    chosen = int(test[rows[1]])
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


def _write(console: Console, graphs: Graphs, evaluation: Evaluation, model: Any, out: Path) -> None:
    """Write the explorer of the molecules that were held out where Plotly is installed, else explanations."""
    graphs, has_map = graphs.take(evaluation.folds[0].test), find_spec("plotly") is not None
    with console.status("making the page …") as status:
        if has_map:
            import numpy as np

            from gvoys.apps.explore import Collection, Property, explore

            measured, smiles = {"expt": Property(np.asarray(graphs.y))}, graphs.smiles
            texts = {"SMILES": smiles or []}
            collection = Collection(
                "FreeSolv, held out", graphs.batch, graphs.ids, measured, smiles=smiles, texts=texts, target="expt"
            )
            explore(collection, path=out, model=model, on_progress=lambda stage: status.update(f"{stage} …"))
        else:
            from gvoys.apps.explain import write_page

            facts = [
                "The model was trained on other molecules of FreeSolv to predict hydration free energies in kcal/mol."
            ]
            reasons = model.explain(graphs.batch, smiles=graphs.smiles)
            write_page(out, "FreeSolv: why these predictions", facts, reasons, graphs.ids)
    what = "a map of them, their errors, and what each atom adds" if has_map else "the reasons of each prediction"
    plain: dict[str, Any] = {"highlight": False, "soft_wrap": True, "markup": False}
    console.print(f"Open {out} in a browser: {what}.", **plain)
    missing = {"rdkit": "Drawings of molecules need RDKit", "plotly": "The page with a map needs Plotly"}
    text = [sentence for package, sentence in missing.items() if find_spec(package) is None]
    if text:
        console.print(f"{'. '.join(text)}; install what is missing with {INSTALL}.", **plain)


def compare_kernels(console: Console, root: Path | None, compare: bool, seed: int) -> None:
    """Classify the 188 molecules of MUTAG by the walks they share, with GraKeL beside it.

    The kernel is the exact geometric random walk kernel of the graphs without labels; a support vector machine is
    cross-validated on it in ten folds.
    """
    from rich.table import Table

    from gvoys.datasets import load_tu
    from gvoys.errors import DatasetError
    from gvoys.graphs.spectrum import max_degree
    from gvoys.series import Geometric

    try:
        batch, y = load_tu("MUTAG", root)
    except DatasetError as error:
        if root is not None:
            raise
        raise DatasetError(f"{error}; GraKeL carries MUTAG: {INSTALL_GRAKEL}") from None
    series: Any = Geometric("auto").resolved(max_degree(batch))
    console.print(
        f"\n[bold]MUTAG[/bold]: {len(batch)} molecules, {batch.n_nodes} atoms, {batch.n_edges} bonds, two classes"
    )
    console.print(f"kernel: all walks that two molecules share, mu_i = decay^i, decay = 1/d_max² = {series.rate:g}\n")
    exact_gram(batch[:2], series)  # compile, or read the compiled kernels from disk
    seconds, K = _time(lambda: exact_gram(batch, series))
    title = f"Gram matrix of {len(batch)} x {len(batch)} graphs"
    table = Table("", "seconds", "accuracy, 10 folds", "largest difference", title=title)
    table.add_row("gvoys, exact moments", f"{seconds:.4f}", _accuracy(K, y, seed), "")
    has_grakel = compare and find_spec("grakel") is not None
    if has_grakel:
        with console.status("GraKeL computes the same kernel …"):
            their_seconds, grakel_matrix = _time(lambda: grakel_gram(batch, series.rate))
        off = f"{float(abs(grakel_matrix / K - 1).max()):.1e} relative"
        table.add_row("GraKeL, RandomWalk fast", f"{their_seconds:.4f}", _accuracy(grakel_matrix, y, seed), off)
    console.print(table)
    if has_grakel:
        console.print(f"The same kernel, {their_seconds / seconds:,.0f} times faster.\n")
    elif compare:
        console.print(
            f"GraKeL is not installed, so there is nothing to compare with; install it with {INSTALL_GRAKEL}.\n",
            markup=False,
        )


def exact_gram(batch: GraphBatch, series: Series) -> Any:
    """Return the Gram matrix of the infinite series between unlabelled graphs, for walks from and to anywhere."""
    from gvoys.graphs.spectrum import spectral_radius
    from gvoys.walks.methods import compute_gram, profiles
    from gvoys.walks.walk import Walk

    length = series.truncation_length(float(spectral_radius(batch, 1e-3).max()) ** 2, 1e-12)
    walk = Walk(length, labels=None, start="ones", stop="ones")
    return compute_gram(profiles(batch, walk, "moments"), series)


def grakel_gram(batch: GraphBatch, decay: float) -> Any:
    """Compute it by GraKeL: conjugate gradients, pair by pair."""
    from grakel.kernels import RandomWalk

    graphs = [[graph.adjacency().toarray()] for graph in batch]
    return RandomWalk(lamda=decay, method_type="fast", kernel_type="geometric").fit_transform(graphs)


def _time(work: Any) -> tuple[float, Any]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def _accuracy(K: Any, y: Any, seed: int) -> str:
    """Cross-validate; C is chosen inside each training fold."""
    import numpy as np
    from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
    from sklearn.svm import SVC

    machine = GridSearchCV(SVC(kernel="precomputed", max_iter=1_000_000), {"C": 10.0 ** np.arange(-2, 5)}, cv=5)
    folds = StratifiedKFold(10, shuffle=True, random_state=seed)
    norms = np.sqrt(np.diag(K))
    scores = 100 * cross_val_score(machine, K / np.outer(norms, norms), y, cv=folds)
    return f"{scores.mean():.1f} ± {scores.std():.1f} %"
