"""One page that needs no other file: the data, Plotly and the scripts inside it."""

from __future__ import annotations

import base64
import json
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import MissingDependencyError
from gvoys.explore.blocks import Blocks, Length
from gvoys.explore.collection import Collection, Property
from gvoys.explore.drawing import LARGEST, Drawings
from gvoys.io.files import appearing

__all__ = ["check_plotly", "write_page"]

_SCRIPTS = ("walks.js", "draw.js", "page.js")


def check_plotly() -> None:
    """Check that the page can be written in the end.

    Raises
    ------
    MissingDependencyError
        If Plotly is not installed.
    """
    _plotly()


def write_page(
    collection: Collection, blocks: Blocks, drawings: Drawings, umap: NDArray[Any] | None, n_whole: int, path: Path
) -> None:
    """Write the page; the file appears when it is complete.

    Parameters
    ----------
    collection : Collection
        The graphs and their properties.
    blocks : Blocks
        Their profiles.
    drawings : Drawings
        Their coordinates.
    umap : ndarray of shape (n_graphs, 2) or None
        Places on the second map, if there is one.
    n_whole : int
        Number of graphs in the whole collection.
    path : Path
        The file to write.
    """
    data = {
        "name": collection.name,
        "about": _about(collection, blocks, n_whole),
        "numbers": None if collection.places is None else collection.places.tolist(),
        "captions": collection.captions,
        "properties": [_property(name, each) for name, each in collection.properties.items()],
        "sizes": collection.batch.graph_sizes.tolist(),
        "mu": blocks.mu.tolist(),
        "means": blocks.means.tolist(),
        "lengths": [_length(each) for each in blocks.lengths],
        "diagonal": _array(blocks.diagonal.astype(np.float32)),
        "drawings": _drawings(drawings),
        "umap": None if umap is None else _array(umap.astype(np.float32)),
    }
    # inside a script element only "</" ends it, and "<!--" changes how it is read
    text = json.dumps(data, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")
    page = Template(_asset("page.html")).substitute(
        title=escape(f"{collection.name}: graphs by the walks they share"),
        style=_asset("style.css"),
        data=text,
        plotly=_plotly(),
        script="\n".join(map(_asset, _SCRIPTS)),
    )
    with appearing(path) as partial:
        partial.write_text(page, encoding="utf-8")


def _about(collection: Collection, blocks: Blocks, n_whole: int) -> str:
    n = len(collection.batch)
    graphs = f"{n:,} graphs" if n == n_whole else f"{n:,} of {n_whole:,} graphs, drawn at random"
    rows = f"; {len(collection.skipped):,} rows were skipped" if collection.skipped else ""
    return f"{graphs}; walks of up to {len(blocks.mu) - 1} steps, {blocks.method}{rows}"


def _property(name: str, each: Property) -> dict[str, Any]:
    values: list[Any] = [None if np.isnan(value) else value for value in each.values.tolist()]
    if each.classes is not None:
        values = [int(value) for value in values]
    return {"name": name, "values": values, "classes": each.classes}


def _length(length: Length) -> dict[str, Any]:
    exact = length.n_groups == 1
    return {
        "width": length.values.shape[1],
        "groups": length.n_groups,
        "widening": length.widening,
        "values": _array(length.values) if exact else _bytes(length.values),
        "rest": None if length.rest is None else _bytes(length.rest) | {"width": length.rest.shape[1]},
    }


def _bytes(values: NDArray[np.float32]) -> dict[str, Any]:
    """A byte for each number, and a scale for each row: the rounding is far below what is random in them."""
    scales = np.maximum(np.abs(values).max(axis=1, keepdims=True), np.finfo(np.float32).tiny) / 127.0
    return _array(np.round(values / scales).astype(np.int8)) | {"scales": _array(scales.astype(np.float32))}


def _drawings(drawings: Drawings) -> dict[str, Any]:
    assert LARGEST < 2**16
    return {
        "molecules": drawings.molecules,
        "directed": drawings.directed,
        "texts": drawings.texts,
        "nodeOffsets": _array(drawings.node_offsets.astype(np.uint32)),
        "xy": _array(drawings.xy.astype(np.float32)),
        "nodeCodes": _array(drawings.node_codes.astype(np.uint16 if len(drawings.texts) < 2**16 else np.uint32)),
        "edgeOffsets": _array(drawings.edge_offsets.astype(np.uint32)),
        "ends": _array(drawings.ends.astype(np.uint16)),
        "orders": _array((2 * drawings.orders).astype(np.uint8)),
    }


def _array(values: NDArray[Any]) -> dict[str, Any]:
    data = np.ascontiguousarray(values, values.dtype.newbyteorder("<"))
    return {"type": values.dtype.name, "base64": base64.b64encode(data.tobytes()).decode()}


def _asset(name: str) -> str:
    return (files("gvoys.explore") / "assets" / name).read_text(encoding="utf-8")


def _plotly() -> str:
    try:
        from plotly.offline import get_plotlyjs
    except ImportError:
        raise MissingDependencyError(
            'the map is drawn by Plotly; install it with pip install "gvoys[explore]"'
        ) from None
    return str(get_plotlyjs())
