"""One page that needs no other file: the data, Plotly and the scripts inside it."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from pathlib import Path
from string import Template
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.apps.explore.blocks import Blocks, Length
from gvoys.apps.explore.collection import Collection, Property
from gvoys.apps.explore.judged import Judged
from gvoys.drawing.page import BASE_STYLE, content_policy, read_asset, share_colours
from gvoys.drawing.picture import known_molecule
from gvoys.drawing.structures import BOND, INK, LARGEST, Structure, draw_structure, springs
from gvoys.errors import MissingDependencyError
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.transform import edges_of
from gvoys.io.chemistry.atom_labels import label_text
from gvoys.io.files import appearing

_OFTEN = 100  # graphs between two progress reports


@dataclass(frozen=True)
class Drawn:
    """One graph: the place of each node, y downwards, its edges and codes of its labels, or RDKit's drawing."""

    xy: NDArray[np.float64]
    ends: NDArray[np.int64]
    codes: NDArray[np.int32]
    structure: Structure | None = None


@dataclass(frozen=True)
class Drawings:
    """All graphs, without nodes where there are too many, and what is written at a node of each label."""

    graphs: list[Drawn]
    texts: list[str]
    directed: bool

    @property
    def molecules(self) -> bool:
        """Whether all graphs are drawn as molecules."""
        return all(graph.structure is not None for graph in self.graphs)


def draw(collection: Collection, on_progress: Callable[[str], None]) -> Drawings:
    """Draw every graph that is not too large."""
    graphs, n_graphs = [], len(collection.batch)
    for g, graph in enumerate(collection.batch):
        if g % _OFTEN == 0:
            on_progress(f"drawing graph {g:,} of {n_graphs:,}")
        graphs.append(_draw_one(graph, None if collection.smiles is None else collection.smiles[g]))
    labels, names = collection.batch.node_labels, collection.label_names.nodes
    values = () if labels is None else labels.values
    return Drawings(graphs, [names.get(value, label_text(value)) for value in values], collection.batch.directed)


def _draw_one(graph: GraphBatch, smiles: str | None) -> Drawn:
    no_ends = np.zeros((0, 2), np.int64)
    if graph.n_nodes > LARGEST:
        return Drawn(np.zeros((0, 2)), no_ends, np.zeros(0, np.int32))
    molecule = known_molecule(smiles, graph)
    codes = np.zeros(graph.n_nodes, np.int32) if graph.node_labels is None else graph.node_labels.codes
    if molecule is not None:
        structure = draw_structure(molecule)
        return Drawn(structure.xy, no_ends, codes, structure)
    ends = edges_of(graph)[0]
    return Drawn(BOND * springs(graph.n_nodes, ends), ends, codes)


_DRAWN = 5000  # points that are drawn as SVG; more need WebGL, for which Plotly compiles scripts of its own
_SCRIPTS = ("walks", "draw", "data", "scales", "map", "panel", "find", "weights", "page")  # in this order


def check_plotly() -> None:
    """Check that the page can be written in the end."""
    _plotly()


@dataclass(frozen=True)
class Library:
    """Graphs of a library that are nearest to those of the page."""

    name: str  # what the library is called
    ids: list[list[str]]  # the nearest ones of each graph, the nearest first
    similarities: NDArray[np.float64]  # their similarities


def write_page(
    collection: Collection,
    blocks: Blocks,
    drawings: Drawings,
    umap: NDArray[Any] | None,
    n_whole: int,
    path: Path,
    judged: Judged | None = None,
    library: Library | None = None,
) -> None:
    """Write the page; the file appears when it is complete."""
    n = len(collection.batch)
    graphs = f"{n:,} graphs" if n == n_whole else f"{n:,} of {n_whole:,} graphs, drawn at random"
    rows = f"; {len(collection.skipped):,} rows were skipped" if collection.skipped else ""
    data = {
        "name": collection.name,
        "about": f"{graphs}; walks of up to {len(blocks.mu) - 1} steps, {blocks.method}{rows}",
        "numbers": None if collection.places is None else collection.places.tolist(),
        "captions": collection.captions,
        "texts": [{"name": name, "values": texts} for name, texts in collection.texts.items()],
        "properties": [_property(name, item) for name, item in collection.properties.items()],
        "facts": [{"name": name, "values": values} for name, values in (judged.facts if judged else {}).items()],
        "sizes": collection.batch.graph_sizes.tolist(),
        "many": len(collection.batch) > _DRAWN,
        "mu": blocks.mu.tolist(),
        "means": blocks.means.tolist(),
        "lengths": [_length(item) for item in blocks.lengths],
        "diagonal": _array(blocks.diagonal.astype(np.float32)),
        "drawings": _drawings(drawings, judged is not None and judged.shares is not None),
        "umap": None if umap is None else _array(umap.astype(np.float32)),
        "model": None if judged is None else _model(judged, drawings),
        "library": None
        if library is None
        else vars(library) | {"similarities": library.similarities.round(6).tolist()},
    }
    text = json.dumps(data, ensure_ascii=False, allow_nan=False)
    text = re.sub("<(?=[/!sS])", r"\\u003c", text)  # what ends a script, or changes how it is read
    plotly, script = _plotly(), "\n".join(_asset(f"{name}.js") for name in _SCRIPTS)
    page = Template(_asset("page.html")).substitute(
        policy=content_policy(plotly, script, compiles=data["many"]),
        title=escape(f"{collection.name}: graphs by the walks they share"),
        light=share_colours("light"),
        dark=share_colours("dark"),
        style=BASE_STYLE + _asset("style.css"),
        data=text,
        plotly=plotly,
        script=script,
    )
    with appearing(path) as partial:
        partial.write_text(page, encoding="utf-8", errors="replace")


def _property(name: str, item: Property) -> dict[str, Any]:
    values = _known(item.values)
    if item.classes is not None:
        values = [int(value) for value in values]
    return {"name": name, "values": values, "classes": item.classes} | ({"both": True} if item.both_ways else {})


def _known(values: NDArray[np.float64]) -> list[Any]:
    return [value if np.isfinite(value) else None for value in values.tolist()]


def _model(judged: Judged, drawings: Drawings) -> dict[str, Any]:
    shares = judged.shares
    return {
        "measure": judged.measure,
        "errors": None if judged.errors is None else _known(judged.errors),
        "note": judged.note,
        "noun": "atoms" if drawings.molecules else "nodes",
        "of": None if shares is None else shares.of,
        "shares": None if shares is None else _array(shares.values) | {"scales": _array(shares.scales)},
    }


def _length(length: Length) -> dict[str, Any]:
    """Pack values into as few bytes as rounding error allows; it stays far below the sketch's own."""
    values, rest = length.values, length.rest
    if length.n_groups > 1 or rest is not None:
        packed = _rounded(values, np.int8 if length.n_groups > 1 else np.int16)
    else:
        packed = _array(values)
    return {
        "width": values.shape[1],
        "groups": length.n_groups,
        "widening": length.widening,
        "values": packed,
        "rest": None if rest is None else _rounded(rest, np.int8) | {"width": rest.shape[1]},
    }


def _rounded(values: NDArray[np.float32], kind: type[np.integer[Any]]) -> dict[str, Any]:
    """Round to whole numbers, with a scale for each row."""
    largest = np.abs(values).max(axis=1, initial=0.0, keepdims=True)
    scales = np.maximum(largest, np.finfo(np.float32).tiny) / np.iinfo(kind).max
    return _array(np.round(values / scales).astype(kind)) | {"scales": _array(scales.astype(np.float32))}


def _drawings(drawings: Drawings, with_places: bool) -> dict[str, Any]:
    """Pack the drawings; those by RDKit are complete, and need places of their nodes for shares alone."""
    assert LARGEST < 2**16
    graphs, needed = drawings.graphs, with_places or not drawings.molecules
    xy = np.rint(np.concatenate([graph.xy for graph in graphs if needed] or [np.zeros((0, 2))]))
    codes = np.concatenate([graph.codes for graph in graphs if not drawings.molecules] or [np.zeros(0, np.int32)])
    made = [None if graph.structure is None else [*graph.structure.size, graph.structure.ink] for graph in graphs]
    return {
        "structures": made,
        "look": INK,
        "directed": drawings.directed,
        "texts": drawings.texts or [""],
        "nodeOffsets": _offsets([graph.xy for graph in graphs]),
        "xy": _array(xy.astype(np.int16 if np.abs(xy).max(initial=0.0) < 2**15 else np.int32)),
        "nodeCodes": _array(codes.astype(np.uint16 if len(drawings.texts) < 2**16 else np.uint32)),
        "edgeOffsets": _offsets([graph.ends for graph in graphs]),
        "ends": _array(np.concatenate([graph.ends for graph in graphs]).astype(np.uint16)),
    }


def _offsets(parts: list[NDArray[Any]]) -> dict[str, Any]:
    return _array(np.cumsum([0, *map(len, parts)]).astype(np.uint32))


def _array(values: NDArray[Any]) -> dict[str, Any]:
    data = np.ascontiguousarray(values, values.dtype.newbyteorder("<"))
    return {"type": values.dtype.name, "base64": base64.b64encode(data.tobytes()).decode()}


def _asset(name: str) -> str:
    return read_asset("gvoys.apps.explore", name)


def _plotly() -> str:
    try:
        from plotly.offline import get_plotlyjs
    except ImportError:
        raise MissingDependencyError(
            'the map is drawn by Plotly; install it with pip install "gvoys[explore]"'
        ) from None
    return str(get_plotlyjs())
