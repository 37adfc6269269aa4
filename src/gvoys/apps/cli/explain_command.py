"""gvoys explain: a trained model and a file of graphs in, a page that shows why the model predicts what it does out."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gvoys.apps.cli.messages import answer, begin
from gvoys.apps.cli.options import Data, Jobs, Json, Overwrite, Reading, given_options

if TYPE_CHECKING:
    from gvoys.apps.explain import Prediction
    from gvoys.io import Graphs
    from gvoys.io.sources import FileSource

_ROWS_AT_ONCE = 1024  # that are read at once, until there are graphs enough
_PAGES, _DRAWINGS = (".html", ".htm"), (".svg", ".png")  # of many graphs, and of one


def explain(
    model: Annotated[Path, typer.Argument(help="The file that `gvoys train` wrote.")],
    data: Data,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="The page, NAME.html; or NAME.svg or NAME.png to draw one graph.")
    ],
    reading: Reading,
    of: Annotated[
        str | None,
        typer.Option(help="The class to explain; by default the second of two, or the predicted one of several."),
    ] = None,
    graphs: Annotated[int, typer.Option(help="The most graphs, up to 500: the first ones of the data.")] = 200,
    overwrite: Overwrite = False,
    n_jobs: Jobs = None,
    json: Json = False,
) -> None:
    """Show why a model predicts what it does: a page of drawings, coloured by what each atom adds.

    Every prediction is split among the atoms, or nodes, of its graph. Their shares and the baseline, which is the
    prediction for a graph without walks, add up to it. Blue atoms push towards the class, or raise the number; orange
    ones do the opposite. The page also has the shares of bonds, of walk lengths and of label sequences. It needs no
    network and no other file. Molecules are read as those of the training table were.
    """
    console = begin(json)
    from gvoys.apps.cli.data import counted, say, say_skipped
    from gvoys.apps.cli.outputs import check_outputs
    from gvoys.apps.explain import write_page
    from gvoys.apps.explain.explain_page import MOST_GRAPHS
    from gvoys.apps.scale.predict import load_one, open_file, training_of
    from gvoys.drawing.attribution_drawing import save_attribution
    from gvoys.drawing.plots import check
    from gvoys.errors import ParameterError
    from gvoys.threads import threads

    is_drawing = out.suffix.lower() in _DRAWINGS
    if not is_drawing and out.suffix.lower() not in _PAGES:
        raise ParameterError(
            f"explanations are written to a page, NAME.html, or of one graph to NAME.svg or NAME.png, and not to {out}"
        )
    if not 1 <= graphs <= MOST_GRAPHS:
        raise ParameterError(f"--graphs must lie between 1 and {MOST_GRAPHS}, not {graphs}")
    if out.suffix.lower() == ".png":
        check()
    check_outputs(out, inputs=[model, data], root=reading.root, overwrite=overwrite)
    start = time.perf_counter()
    with threads(n_jobs), console.status("reading …") as status:
        learner = load_one(model)
        chosen = {} if of is None else {"of": _find_class(learner, of)}
        source = open_file(data, training_of(learner), **given_options(reading))
        first, more = _read_first(source, graphs)
        n_graphs = len(first.batch)
        if is_drawing and n_graphs != 1:
            raise ParameterError(
                f"{out.name} holds the drawing of one graph, and {source} has {n_graphs:,}; write a page, NAME.html, "
                "or take the first with --graphs 1"
            )
        status.update(f"explaining {n_graphs:,} graphs …")
        explanations = learner.explain(first.batch, smiles=first.smiles, **chosen)
        predictions = _predictions(learner.predict_table(first.batch))
        status.update("drawing …")
        cut = [f"These are the first {n_graphs:,} graphs of {source}."] if more else []
        if is_drawing:
            save_attribution(explanations[0], out)
        else:
            target, facts = training_of(learner).get("target"), [*_facts(model, learner), *cut]
            title = f"{target}: why these predictions for {source}" if target else f"Why these predictions for {source}"
            ids = zip(first.ids, first.rows, strict=True)  # an id that merely counts the rows is no name
            captions = [f"row {row}" if name == str(row - source.first_row + 1) else name for name, row in ids]
            page = (title, facts, explanations, captions, predictions)
            write_page(out, *page, smiles=first.smiles, n_graphs=n_graphs)
    say_skipped(console, len(first.skipped), n_graphs, first.skipped)
    for sentence in cut:
        say(console, f"{sentence} --graphs takes up to 500.")
    if json:
        content = ("decision", "baseline", "of", "nodes", "node_errors", "edges", "edge_shares", "lengths")
        rows = zip(first.ids, explanations, predictions, strict=True)
        answer(
            [
                {"id": name, "prediction": made.value} | {key: getattr(explanation, key) for key in content}
                for name, explanation, made in rows
            ]
        )
        return
    seconds, megabytes = time.perf_counter() - start, out.stat().st_size / 1e6
    made = f"{counted(len(explanations), 'graph')}, {seconds:.1f} s, {megabytes:.1f} MB"
    console.print(made, highlight=False)
    console.print(f"Open {out} in a browser.", highlight=False, soft_wrap=True, markup=False)


def _find_class(learner: Any, of: str) -> Any:
    """Find the class of a model that a user named."""
    from gvoys.drawing.page import class_name
    from gvoys.errors import ParameterError

    classes = getattr(learner, "classes_", None)
    if classes is None:
        raise ParameterError("--of names a class, and this model predicts numbers")
    known = classes.tolist()
    named = [name for name in known if of == str(name) or class_name(name) == f"class {of}"]  # 1 is the class 1.0
    if not named:
        raise ParameterError(f"--of {of} is no class of this model; it has {', '.join(map(str, known))}")
    return named[0]


def _read_first(source: FileSource, count: int) -> tuple[Graphs, bool]:
    """Read the first graphs, and say whether there are more; the rest of a large file is not read."""
    from gvoys.graphs.batch import GraphBatch
    from gvoys.io import Graphs

    parts: list[Graphs] = []
    for part in source.batches(_ROWS_AT_ONCE):
        parts.append(part)
        if sum(len(item.batch) for item in parts) > count:
            break
    skipped = [row for part in parts for row in part.skipped]
    batches = [part.batch for part in parts if len(part.batch)]
    if not batches:
        raise source.no_graph(skipped)
    ids, rows = ([item for part in parts for item in getattr(part, name)] for name in ("ids", "rows"))
    more = len(ids) > count
    smiles = [item for part in parts for item in part.smiles or []] if source.has_smiles else None
    if more:
        skipped = [item for item in skipped if item.row < rows[count]]
    batch = GraphBatch.concatenate(batches)[:count]
    return Graphs(batch, ids[:count], {}, rows[:count], skipped, None, smiles and smiles[:count]), more


def _predictions(table: dict[str, Any]) -> list[Prediction]:
    """Make predictions from the columns that `predict_table` returns."""
    from gvoys.apps.explain import Prediction

    values, unlike = table["prediction"].tolist(), table["unlike"].tolist()
    predictions = []
    for row, value in enumerate(values):
        sure = table.get(f"probability {value}"), table.get("deviation")
        probability, deviation = (None if column is None else float(column[row]) for column in sure)
        predictions.append(Prediction(value, probability, deviation, bool(unlike[row])))
    return predictions


def _facts(path: Path, learner: Any) -> list[str]:
    from gvoys.apps.scale.predict import training_of
    from gvoys.drawing.page import class_name

    training = training_of(learner)
    about = f"The model is {path.name}"
    about += f", trained on {training['data']}" if training.get("data") else ""
    about += f" to predict {training['target']}" if training.get("target") else ""
    classes: Any = getattr(learner, "classes_", [])
    if len(classes) != 2:
        return [f"{about}."]
    return [f"{about}.", f"A decision above 0 means {class_name(classes[1])}; below 0, {class_name(classes[0])}."]
