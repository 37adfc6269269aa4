"""A page to look at a collection of graphs: a map, drawings, nearest graphs, and mu by sliders."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gvoys.defaults import PAGE
from gvoys.errors import ParameterError
from gvoys.estimators.base import as_seed
from gvoys.explore.blocks import Blocks, compute_blocks
from gvoys.explore.collection import Collection, as_property, load_collection
from gvoys.explore.drawing import draw
from gvoys.explore.page import check_plotly, write_page
from gvoys.series import Series

__all__ = ["Collection", "as_property", "check_plotly", "explore", "has_umap", "load_collection"]

_FEW = 50  # graphs under which UMAP's neighbourhoods would be everything


def explore(
    collection: Collection,
    path: str | Path,
    series: Series | None = None,
    *,
    max_length: int = PAGE.max_length,
    labels: str | None = "auto",
    n_graphs: int = 5000,
    random_state: int = 0,
    on_progress: Callable[[str], None] = lambda stage: None,
) -> Blocks:
    """Write a page on a collection to a file that opens in any browser, without a network.

    Parameters
    ----------
    collection : Collection
        What `load_collection` returns, or ``Collection(name, batch, captions, properties)``.
    path : str or Path
        The .html file to write.
    series : Geometric, Exponential, Coefficients or None, default=None
        The weights of the walk lengths that the sliders begin with; None gives every length the same share.
    max_length : int, default=6
        Longest walk that is counted.
    labels : {"auto", "node", "edge", "both"} or None, default="auto"
        Labels that two walks must share; "auto" uses node labels if the graphs have them, and bonds of molecules too.
    n_graphs : int, default=5000
        Largest number of graphs on the page; of more, a random sample is shown, and the page says so.
    random_state : int, default=0
        Seed of the sample, of the sketch and of UMAP.
    on_progress : callable, optional
        Called with a string that describes the current stage.

    Returns
    -------
    Blocks
        The profiles that the page computes kernels from.
    """
    check_plotly()
    seed = as_seed(random_state)
    n_whole = len(collection.batch)
    shown = collection.with_sizes().sampled(n_graphs, seed)
    if len(shown.batch) < 3:
        skipped = f" ({len(collection.skipped)} rows were skipped)" if collection.skipped else ""
        raise ParameterError(f"a map needs at least 3 graphs, and {collection.name} has {n_whole}{skipped}")
    on_progress(f"walks of {len(shown.batch):,} graphs")
    blocks = compute_blocks(shown.batch, series, max_length, labels, seed)
    drawings = draw(shown, on_progress)
    on_progress("map by UMAP")
    write_page(shown, blocks, drawings, _umap(blocks, seed), n_whole, Path(path))
    return blocks


def has_umap() -> bool:
    """Whether UMAP is installed, so that the page has a second map.

    Returns
    -------
    bool
        True if umap-learn can be imported.
    """
    try:
        from umap import UMAP  # noqa: F401
    except ImportError:
        return False
    return True


def _umap(blocks: Blocks, seed: int) -> NDArray[np.float64] | None:
    """Places by UMAP, or None if it is not installed or the graphs are too few for it."""
    if len(blocks.diagonal) < _FEW or not has_umap():
        return None
    from umap import UMAP

    model = UMAP(metric="cosine", random_state=seed, n_jobs=1)
    return np.asarray(model.fit_transform(blocks.features()), np.float64)
