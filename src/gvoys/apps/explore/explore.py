"""explore: graphs in, a page to look at them out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.apps.explore.blocks import Blocks, compute_blocks
from gvoys.apps.explore.collection import Collection, has_bonds, load_collection
from gvoys.apps.explore.explore_page import Library, check_plotly, draw, write_page
from gvoys.apps.explore.judged import judge
from gvoys.drawing.picture import check_smiles
from gvoys.errors import ParameterError
from gvoys.estimators.base import as_seed
from gvoys.io.files import as_path, check_output
from gvoys.search import Index
from gvoys.series import Series
from gvoys.walks.checks import is_auto
from gvoys.walks.walk import Walk, check_walk, takes_walk

_LEAST_GRAPHS = 50  # for UMAP, whose neighbourhoods would else be everything
_HITS = 5  # of a library, for each graph

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Page:
    """A page that was written.

    Parameters
    ----------
    path : Path
        The file.
    n_graphs : int
        Graphs on it.
    n_whole : int
        Graphs of the whole collection.
    method : str
        How graphs are compared, in words.
    blocks : Blocks
        The profiles that the page computes kernels from.
    """

    path: Path
    n_graphs: int
    n_whole: int
    method: str
    blocks: Blocks = field(repr=False)


@takes_walk()
def explore(
    graphs: Any,
    y: Any = None,
    path: str | PathLike[str] | None = None,
    *,
    names: Any = None,
    smiles: Sequence[str] | None = None,
    title: str | None = None,
    model: Any = None,
    index: Any = None,
    series: Series | None = None,
    walk: Walk = Walk(),  # noqa: B008 (immutable)
    n_graphs: int = 5000,
    random_state: int = 0,
    on_progress: Progress = lambda stage: None,
) -> Page:
    """Write a page to look at graphs: a map, drawings, nearest graphs, and what a model says of them.

    The page is one file that opens in any browser, without a network. Points are graphs, and near ones share walks.

    Parameters
    ----------
    graphs : list of graphs, GraphBatch, path, DataFrame or Collection
        Anything that `gvoys.io.open_graphs` takes: networkx, igraph, SMILES, a file, the name of a TU dataset.
    y : array-like, dict, DataFrame or None, default=None
        Values of the graphs, classes or numbers, to colour the points by; several by name. The first is what a model
        predicts. May be omitted: ``explore(graphs, "page.html")``.
    path : str or path-like
        The .html file to write.
    names : sequence of str or None, default=None
        The name of each graph; None takes ids and names of the source.
    smiles : sequence of str or None, default=None
        The SMILES that graphs were read from, by which they are drawn; None takes those of the source.
    title : str or None, default=None
        Title of the page; None takes the name of the source.
    model : RandomWalkClassifier, RandomWalkRegressor or None, default=None
        A fitted model: the page shows its predictions, errors, intervals and explanations, and the worst errors.
    index : Index, path or None, default=None
        A library: the page names its graphs that are nearest to each graph.
    series : Geometric, Exponential, Coefficients or None, default=None
        The weights of the walk lengths that the sliders begin with; None gives every length the same share.
    walk : Walk, default=Walk()
        What is counted, without refinement. ``labels="auto"`` uses the bonds of molecules too.
    n_graphs : int, default=5000
        Largest number of graphs on the page; of more, a random sample is shown, and the page says so.
    random_state : int, default=0
        Seed of the sample, of the sketch and of UMAP.
    on_progress : callable, optional
        Called with a string that describes the current stage.

    Returns
    -------
    Page
        The file, and how graphs are compared on it.

    Raises
    ------
    ParameterError
        If there are fewer than three graphs, or not as many values as graphs.
    MissingDependencyError
        If Plotly is not installed.

    Examples
    --------
    >>> import gvoys as gv
    >>> molecules = gv.datasets.molecules(20)
    >>> page = gv.explore(molecules, molecules.graph_sizes, "page.html")
    >>> page.n_graphs, page.method
    (20, 'exact label sequences')
    """
    if path is None and isinstance(y, (str, PathLike)):
        y, path = None, y
    if path is None:
        raise ParameterError("path must be the .html file to write, as in explore(graphs, y, 'page.html')")
    out = as_path(path)
    check_plotly()
    check_output(out, ".html", ".htm")
    seed = as_seed(random_state)
    collection = _collection(graphs, y, names, title, model)
    if smiles is not None:
        collection = replace(collection, smiles=list(smiles))
        for g, graph in enumerate(collection.batch):
            check_smiles(smiles[g], graph, g)
    n_whole, target = len(collection.batch), [] if collection.target is None else [collection.target]
    shown = collection.with_sizes().reordered(target).sampled(n_graphs, seed)
    if len(shown.batch) < 3:
        skipped = f" ({len(collection.skipped)} rows were skipped)" if collection.skipped else ""
        raise ParameterError(f"a map needs at least 3 graphs, and {collection.name} has {n_whole}{skipped}")
    judged = None if model is None else judge(model, shown, on_progress)
    if judged is not None:
        properties = shown.properties | judged.properties
        shown = replace(shown, properties=properties).reordered([*target, *judged.properties])
    on_progress(f"walks of {len(shown.batch):,} graphs")
    walk = check_walk(walk)
    if is_auto(walk.labels) and has_bonds(shown):
        walk = replace(walk, labels="both")
    blocks = compute_blocks(shown.batch, series, walk, seed)
    library = None if index is None else _search_library(index, shown, on_progress)
    drawings = draw(shown, on_progress)
    on_progress("map by UMAP")
    write_page(shown, blocks, drawings, _umap(blocks, seed), n_whole, out, judged, library)
    return Page(out, len(shown.batch), n_whole, blocks.method, blocks)


def _collection(graphs: Any, y: Any, names: Any, title: str | None, model: Any) -> Collection:
    """Load the graphs; molecules are read as the model's were."""
    if not isinstance(graphs, Collection):
        training = getattr(model, "training_", None) or {}
        has_smiles = isinstance(graphs, (list, tuple)) and any(isinstance(graph, str) for graph in graphs)
        chemistry = training.get("chemistry") if has_smiles else None
        graphs = load_collection(graphs, y, names, chemistry=chemistry)
    elif y is not None or names is not None:
        raise ParameterError("a Collection has captions and properties of its own; give neither y nor names with it")
    return graphs if title is None else replace(graphs, name=title)


def _search_library(index: Any, shown: Collection, on_progress: Progress) -> Library:
    opened = index if isinstance(index, Index) else Index.open(index)
    on_progress(f"nearest of {len(opened):,} graphs in the library")
    hits = opened.nearest(shown.batch, _HITS)
    name = "the library" if isinstance(index, Index) else Path(index).name
    return Library(name, [[str(item) for item in names] for names in hits.ids], hits.similarities)


def has_umap() -> bool:
    """Whether UMAP is installed, so that the page has a second map."""
    try:
        from umap import UMAP  # noqa: F401
    except ImportError:
        return False
    return True


def _umap(blocks: Blocks, seed: int) -> NDArray[np.float64] | None:
    """Place the graphs by UMAP, or return None if it is not installed or the graphs are too few for it."""
    if len(blocks.diagonal) < _LEAST_GRAPHS or not has_umap():
        return None
    from umap import UMAP

    model = UMAP(metric="cosine", random_state=seed, n_jobs=1)
    return np.asarray(model.fit_transform(blocks.features()), np.float64)
