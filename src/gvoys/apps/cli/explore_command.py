"""gvoys explore: a page to look at a collection of graphs."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from gvoys.apps.cli.messages import begin
from gvoys.apps.cli.options import Data, Jobs, Molecules, Overwrite, Reading, fields_of, read_options
from gvoys.walk_fields import WalkFields


def explore(
    data: Data,
    out: Annotated[Path, typer.Option("--out", "-o", help="The page, an .html file.")],
    reading: Reading,
    molecules: Molecules,
    walks: WalkFields,
    target: Annotated[
        str | None, typer.Option(help="The column to colour by first, and that the model predicts.")
    ] = None,
    model: Annotated[
        Path | None, typer.Option(help="A trained model: predictions, errors, intervals and explanations are shown.")
    ] = None,
    index: Annotated[
        Path | None, typer.Option(help="An index of a library: its nearest graphs are named beside each graph.")
    ] = None,
    series: Annotated[
        str | None, typer.Option(help="geometric or exponential; by default all lengths have the same share.")
    ] = None,
    decay: Annotated[float | None, typer.Option(help="Of the series; by default 1 / d_max².")] = None,
    graphs: Annotated[int, typer.Option(help="The most graphs on the page; of more, some are drawn at random.")] = 5000,
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 0,
    overwrite: Overwrite = False,
    n_jobs: Jobs = None,
) -> None:
    """Write a page to look at graphs: a map, drawings, nearest graphs, and what a model says of them.

    The page needs no network and no other file. Names, ids and texts of a table can be searched, its other columns
    colour the points, a region can be selected and exported, and a slider sets the weight of each walk length.
    Molecules are drawn as molecules where RDKit is installed, and UMAP gives a second map where umap-learn is.
    """
    console = begin()
    from gvoys.apps.cli.data import say_skipped
    from gvoys.apps.cli.outputs import check_outputs
    from gvoys.apps.explore import explore as write_page
    from gvoys.apps.explore import load_collection
    from gvoys.apps.explore.explore import has_umap
    from gvoys.apps.explore.explore_page import check_plotly
    from gvoys.apps.scale.predict import load_one, open_as_trained, training_of
    from gvoys.errors import ParameterError
    from gvoys.search.folder import check_chemistry
    from gvoys.series import series_named
    from gvoys.threads import threads
    from gvoys.walks.walk import Walk

    check_plotly()
    check_outputs(out, ".html", ".htm", inputs=[data, model, index], root=reading.root, overwrite=overwrite)
    if series is None and decay is not None:
        raise ParameterError("--decay needs --series geometric or --series exponential")
    mu = None if series is None else series_named(series, decay)
    start = time.perf_counter()
    with threads(n_jobs), console.status("reading …") as status:
        learner = None if model is None else load_one(model)
        source = open_as_trained(data, learner, read_options(reading, molecules))
        if index is not None:
            check_chemistry(index, source)
        known = training_of(learner).get("target")
        collection = load_collection(source, target=target or (known if known in source.column_names else None))
        page = write_page(
            collection,
            path=out,
            model=learner,
            index=index,
            series=mu,
            walk=Walk(**fields_of(walks)),
            n_graphs=graphs,
            random_state=seed,
            on_progress=lambda stage: status.update(f"{stage} …"),
        )
    say_skipped(console, len(collection.skipped), len(collection.batch), collection.skipped)
    size, n = out.stat().st_size / 1e6, page.n_graphs
    count = f"{n:,} graphs" if n == page.n_whole else f"{n:,} of {page.n_whole:,} graphs, drawn at random"
    console.print(f"{count}, {page.method}: {time.perf_counter() - start:.1f} s, {size:.1f} MB", highlight=False)
    if not has_umap():
        console.print("With umap-learn installed the page would have a second map.", style="dim")
    console.print(f"Open {out} in a browser.", highlight=False, soft_wrap=True, markup=False)
