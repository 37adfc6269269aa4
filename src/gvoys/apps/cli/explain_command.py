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

_ROWS = 1024  # that are read at once, until there are graphs enough
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
    from gvoys.apps.scale.predict import load_one, open_file
    from gvoys.threads import threads

    _check(out, graphs)
    check_outputs(out, inputs=[model, data], root=reading.root, overwrite=overwrite)
    start = time.perf_counter()
    with threads(n_jobs), console.status("reading …") as status:
        learner = load_one(model)
        chosen = _chosen(learner, of)
        source = open_file(data, _training(learner), **given_options(reading))
        graphs_read, more = _first(source, graphs)
        _check_one(out, len(graphs_read.batch), source)
        status.update(f"explaining {len(graphs_read.batch):,} graphs …")
        explanations = learner.explain(graphs_read.batch, smiles=graphs_read.smiles, **chosen)
        predictions = _predictions(learner.predict_table(graphs_read.batch))
        status.update("drawing …")
        facts = [*_facts(model, learner), *_cut(graphs_read, more, source)]
        captions = [_caption(source, name, row) for name, row in zip(graphs_read.ids, graphs_read.rows, strict=True)]
        _write(out, _title(learner, source), facts, graphs_read, captions, explanations, predictions)
    say_skipped(console, len(graphs_read.skipped), len(graphs_read.batch), graphs_read.skipped)
    for sentence in _cut(graphs_read, more, source):
        say(console, f"{sentence} --graphs takes up to 500.")
    if json:
        answer([_plain(*item) for item in zip(graphs_read.ids, explanations, predictions, strict=True)])
        return
    seconds, megabytes = time.perf_counter() - start, out.stat().st_size / 1e6
    made = f"{counted(len(explanations), 'graph')}, {seconds:.1f} s, {megabytes:.1f} MB"
    console.print(made, highlight=False)
    console.print(f"Open {out} in a browser.", highlight=False, soft_wrap=True, markup=False)


# -- what is checked


def _check(out: Path, graphs: int) -> None:
    """Before any work."""
    from gvoys.apps.explain.explain_page import MOST
    from gvoys.drawing.plots import check
    from gvoys.errors import ParameterError

    if out.suffix.lower() not in _PAGES + _DRAWINGS:
        raise ParameterError(
            f"explanations are written to a page, NAME.html, or of one graph to NAME.svg or NAME.png, and not to {out}"
        )
    if not 1 <= graphs <= MOST:
        raise ParameterError(f"--graphs must lie between 1 and {MOST}, not {graphs}")
    if out.suffix.lower() == ".png":
        check()


def _check_one(out: Path, n_graphs: int, source: FileSource) -> None:
    from gvoys.errors import ParameterError

    if out.suffix.lower() in _DRAWINGS and n_graphs != 1:
        raise ParameterError(
            f"{out.name} holds the drawing of one graph, and {source} has {n_graphs:,}; write a page, NAME.html, or "
            "take the first with --graphs 1"
        )


def _chosen(learner: Any, of: str | None) -> dict[str, Any]:
    """The class of the model that was named."""
    from gvoys.drawing.shares import class_name
    from gvoys.errors import ParameterError

    if of is None:
        return {}
    classes = getattr(learner, "classes_", None)
    if classes is None:
        raise ParameterError("--of names a class, and this model predicts numbers")
    known = classes.tolist()
    named = [name for name in known if of == str(name) or class_name(name) == f"class {of}"]  # 1 is the class 1.0
    if not named:
        raise ParameterError(f"--of {of} is no class of this model; it has {', '.join(map(str, known))}")
    return {"of": named[0]}


# -- what is read


def _training(learner: Any) -> dict[str, Any]:
    return getattr(learner, "training_", None) or {}


def _first(source: FileSource, count: int) -> tuple[Graphs, bool]:
    """The first graphs, and whether there are more; the rest of a large file is not read."""
    from gvoys.graphs.batch import GraphBatch
    from gvoys.io import Graphs

    parts: list[Graphs] = []
    for part in source.batches(_ROWS):
        parts.append(part)
        if sum(len(item.batch) for item in parts) > count:
            break
    skipped = [row for part in parts for row in part.skipped]
    batches = [part.batch for part in parts if len(part.batch)]
    if not batches:
        raise source.no_graph(skipped)
    batch = GraphBatch.concatenate(batches)
    ids, rows = ([item for part in parts for item in getattr(part, name)] for name in ("ids", "rows"))
    more = len(ids) > count
    smiles = [item for part in parts for item in part.smiles or []] if source.has_smiles else None
    if more:
        skipped = [item for item in skipped if item.row < rows[count]]
    kept = slice(count)
    return Graphs(batch[kept], ids[kept], {}, rows[kept], skipped, None, smiles and smiles[kept]), more


# -- what is said


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


def _title(learner: Any, source: FileSource) -> str:
    target = _training(learner).get("target")
    return f"{target}: why these predictions for {source}" if target else f"Why these predictions for {source}"


def _facts(path: Path, learner: Any) -> list[str]:
    from gvoys.drawing.shares import class_name

    training = _training(learner)
    about = f"The model is {path.name}"
    about += f", trained on {training['data']}" if training.get("data") else ""
    about += f" to predict {training['target']}" if training.get("target") else ""
    classes: Any = getattr(learner, "classes_", [])
    if len(classes) != 2:
        return [f"{about}."]
    return [f"{about}.", f"A decision above 0 means {class_name(classes[1])}; below 0, {class_name(classes[0])}."]


def _cut(found: Graphs, more: bool, source: FileSource) -> list[str]:
    return [f"These are the first {len(found.batch):,} graphs of {source}."] if more else []


def _caption(source: FileSource, name: str, row: int) -> str:
    """Return the id, or the row where the id merely counts the rows."""
    return f"row {row}" if name == str(row - source.first_row + 1) else name


def _write(
    out: Path,
    title: str,
    facts: list[str],
    found: Graphs,
    captions: list[str],
    explanations: list[Any],
    predictions: Any,
) -> None:
    from gvoys.apps.explain import write_page
    from gvoys.drawing.attribution_drawing import save_attribution

    if out.suffix.lower() in _DRAWINGS:
        save_attribution(explanations[0], out)
        return
    count = len(explanations)
    write_page(out, title, facts, explanations, captions, predictions, smiles=found.smiles, n_graphs=count)


def _plain(name: str, explanation: Any, prediction: Prediction) -> dict[str, Any]:
    """For machines."""
    kept = ("decision", "baseline", "of", "nodes", "node_errors", "edges", "edge_shares", "lengths")
    content = {"id": name, "prediction": prediction.value}
    return content | {key: getattr(explanation, key) for key in kept}
