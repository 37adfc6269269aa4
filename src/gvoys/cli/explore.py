"""gvoys explore: a page to look at a collection of graphs."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from gvoys.cli.read import say_skipped
from gvoys.errors import ParameterError
from gvoys.explore import check_plotly, explore, has_umap, load_collection
from gvoys.io.files import check_output
from gvoys.series import Series, series_named

__all__ = ["Options", "run_explore"]


@dataclass(frozen=True)
class Options:
    """What the command line was given."""

    out: Path
    root: Path | None
    smiles: str
    id: str | None
    series: str | None
    decay: float | None
    max_length: int
    labels: str | None
    graphs: int
    seed: int


def run_explore(console: Console, data: str, options: Options) -> None:
    """Load, write, and say where the page is."""
    check_plotly()
    check_output(options.out)
    series = _series(options)
    begin = time.perf_counter()
    with console.status("reading …") as status:
        collection = load_collection(data, smiles=options.smiles, id=options.id, root=options.root)
        blocks = explore(
            collection,
            options.out,
            series,
            max_length=options.max_length,
            labels=options.labels,
            n_graphs=options.graphs,
            random_state=options.seed,
            on_progress=lambda stage: status.update(f"{stage} …"),
        )
    say_skipped(console, len(collection.skipped), len(collection.batch), collection.skipped)
    size = options.out.stat().st_size / 1e6
    shown, whole = len(blocks.diagonal), len(collection.batch)
    count = f"{shown:,} graphs" if shown == whole else f"{shown:,} of {whole:,} graphs, drawn at random"
    console.print(f"{count}, {blocks.method}: {time.perf_counter() - begin:.1f} s, {size:.1f} MB", highlight=False)
    if not has_umap():
        console.print("With umap-learn installed the page would have a second map.", style="dim")
    console.print(f"Open {options.out} in a browser.", highlight=False, soft_wrap=True, markup=False)


def _series(options: Options) -> Series | None:
    if options.series is None:
        if options.decay is not None:
            raise ParameterError("--decay needs --series geometric or --series exponential")
        return None
    return series_named(options.series, options.decay)
