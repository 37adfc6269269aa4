"""gvoys search: the most similar graphs of a library."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gvoys.apps.cli.messages import answer, begin, naming
from gvoys.apps.cli.options import Data, Jobs, Json, Molecules, Overwrite, Reading, read_options

if TYPE_CHECKING:
    from gvoys.search import Index


def search(
    library: Annotated[str, typer.Argument(help="An index that this command kept, or anything that QUERIES may be.")],
    queries: Data,
    out: Annotated[Path, typer.Option("--out", "-o", help="NAME.csv for the hits.")],
    reading: Reading,
    molecules: Molecules,
    k: Annotated[int, typer.Option("-k", help="Hits for each query.")] = 10,
    library_smiles: Annotated[
        str | None, typer.Option(help="The column of the library, if a table, with the SMILES: smiles by default.")
    ] = None,
    library_id: Annotated[str | None, typer.Option(help="Its column with the ids; else rows are numbered.")] = None,
    index: Annotated[
        Path | None, typer.Option(help="A folder to keep the index in, for later searches; else it is not kept.")
    ] = None,
    like: Annotated[Path | None, typer.Option(help="A trained model: graphs are similar as it compares them.")] = None,
    candidates: Annotated[int, typer.Option(help="Graphs that are compared exactly with each query.")] = 384,
    overwrite: Overwrite = False,
    n_jobs: Jobs = None,
    json: Json = False,
) -> None:
    """Find the most similar graphs of a library: for each query a row per hit, with its similarity.

    Similarities are cosines of a walk kernel, 1 for graphs that walks cannot tell apart. An index of the library is
    built first; with *--index* it stays in a folder, and a build that was stopped goes on where it was. It is mapped
    into memory, so that millions of graphs are searched at once. Give that folder as LIBRARY the next time.
    """
    console = begin(json)
    import csv

    from gvoys.apps.cli.data import say_skipped
    from gvoys.apps.cli.outputs import check_outputs
    from gvoys.errors import ParameterError
    from gvoys.io.chemistry import as_chemistry
    from gvoys.io.files import appearing
    from gvoys.io.open import open_graphs, set_chemistry
    from gvoys.search.folder import is_index
    from gvoys.threads import threads
    from gvoys.walks.checks import check_count

    given: dict[str, Any] = {"inputs": [library, queries, like], "root": reading.root, "overwrite": overwrite}
    check_outputs(out, ".csv", **given)
    if index is not None:
        if is_index(index) and not overwrite:
            raise ParameterError(f"{index} is an index already; give it as the library, or give --overwrite")
        check_outputs(index, **given, folder=True, work=index.parent / f"{index.name}.work")
    check_count(k, "-k")
    how = read_options(reading, molecules)
    source = open_graphs(queries, **how)  # before an index is built
    with threads(n_jobs):
        library_reading = how | {"smiles": library_smiles, "id": library_id}
        built, chemistry = _index(console, library, index, like, candidates, library_reading, overwrite)
        set_chemistry(source, as_chemistry(chemistry))
        wanted = source.read()
        say_skipped(console, len(wanted.skipped), len(wanted.batch), wanted.skipped)
        start = time.perf_counter()
        with console.status(f"searching {len(built):,} graphs …"):
            hits = built.nearest(wanted.batch, k)
        seconds = time.perf_counter() - start
    asked = zip(wanted.ids, wanted.smiles, strict=True) if wanted.smiles else zip(wanted.ids, strict=True)
    rows = [
        (*query, rank, name, float(value), float(low), float(high))
        for query, names, similarities, intervals in zip(asked, *hits, strict=True)
        for rank, (name, value, (low, high)) in enumerate(zip(names, similarities, intervals, strict=True), 1)
    ]
    columns = [name for name in _COLUMNS if name != "smiles" or wanted.smiles]
    with appearing(out) as partial, partial.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(columns)
        table.writerows((*row[:-3], *(f"{value:.6f}" for value in row[-3:])) for row in rows)
    if json:
        answer([dict(zip(columns, row, strict=True)) for row in rows])
    milliseconds = 1000 * seconds / max(len(wanted.batch), 1)
    console.print(
        f"{len(wanted.batch):,} queries in {len(built):,} graphs: {seconds:.1f} s, {milliseconds:.1f} ms each",
        highlight=False,
    )
    console.print(f"{out}", highlight=False, soft_wrap=True, markup=False)


_COLUMNS = ("query", "smiles", "rank", "id", "similarity", "lower", "upper")  # the SMILES is that of the query


def _index(
    console: Any, library: str, kept: Path | None, like: Path | None, candidates: int, how: dict[str, Any], anew: bool
) -> tuple[Index, Any]:
    """Open or build the index of a library; return it and the chemistry by which its graphs were read."""
    import shutil
    from contextlib import suppress
    from tempfile import TemporaryDirectory

    from gvoys.apps.cli.data import say_skipped
    from gvoys.apps.cli.outputs import progress_bar, resumable
    from gvoys.apps.scale.job import remove_run
    from gvoys.apps.scale.predict import open_as_trained
    from gvoys.errors import DatasetError, ParameterError
    from gvoys.estimators.saving import load_model
    from gvoys.io.files import lock_beside, locked
    from gvoys.search import Index
    from gvoys.search.build_index import build_index
    from gvoys.search.folder import is_index, read_chemistry

    if is_index(library):
        if kept is not None or like is not None:
            raise ParameterError(f"{library} is an index already, which takes neither --index nor --like")
        index = Index.open(library)
        index.n_candidates = candidates
        return index, read_chemistry(library)
    model = None if like is None else load_model(like)
    source = open_as_trained(library, model, how)
    with TemporaryDirectory(prefix="gvoys-", ignore_cleanup_errors=True) as temporary:  # what is mapped stays readable
        folder = kept or Path(temporary, "index")
        work = folder.parent / f"{folder.name}.work"
        if anew:
            with locked(lock_beside(folder), folder):
                remove_run(work)
                remove_run(folder)
        goes_on = (work / "job.json").exists()
        try:
            with naming(folder), progress_bar(console, "index") as (_, on_progress), resumable(console, folder):
                n_graphs, skipped = build_index(source, folder, model, n_candidates=candidates, on_progress=on_progress)
        except DatasetError:
            with suppress(ParameterError), locked(lock_beside(folder), folder):  # unless another run is at work
                if not goes_on:
                    shutil.rmtree(work, ignore_errors=True)
            raise
        say_skipped(console, len(skipped), n_graphs, skipped)
        return Index.open(folder), read_chemistry(folder)
