"""gvoys kernel: the Gram matrix of a file of graphs, block by block, into a .npy file.

The features come from the same parts as `gvoys embed` makes, in a folder beside the matrix that goes when it is done.
Blocks of rows are filled one after the other, and a file says how far; a run that was killed goes on from there.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import ParameterError
from gvoys.io.files import appearing
from gvoys.scale.embed import SKIPPED, Progress, Summary, Worker, embed_file
from gvoys.scale.job import Parameters
from gvoys.scale.parts import part_path, read_features, read_ids, read_summary

__all__ = ["write_gram"]

_MATRIX, _ROWS = "matrix.npy", "rows.json"


def write_gram(
    path: str | PathLike[str],
    out: Path,
    parameters: Parameters | None = None,
    *,
    normalize: bool = False,
    smiles: str = "smiles",
    id: str | None = None,
    root: str | PathLike[str] | None = None,
    worker: Worker | None = None,
    on_progress: Progress | None = None,
    on_rows: Callable[[int, int], None] | None = None,
) -> Summary:
    """Write the Gram matrix of all graphs of a file, with the ids and the skipped rows beside it.

    Parameters
    ----------
    path : str or path-like
        File of graphs, as in `embed_file`.
    out : Path
        NAME.npy, float64; NAME.ids.txt and NAME.skipped.csv appear with it.
    parameters : Parameters or None, default=None
        Parameters of the features; None means the defaults.
    normalize : bool, default=False
        Whether to divide by sqrt(K(G,G) K(H,H)); graphs without walks have zeros.
    smiles, id, root, worker, on_progress : object
        As in `embed_file`.
    on_rows : callable or None, default=None
        Called with the rows of the matrix that are done, and how many there are.

    Returns
    -------
    Summary
        Numbers of graphs, skipped rows and parts.

    Raises
    ------
    ParameterError
        If a file of that name exists already, or an unfinished run had other parameters.
    """
    if out.suffix != ".npy":
        raise ParameterError(f"the matrix goes to a file NAME.npy, not {out.name}")
    for name in (out, out.with_suffix(".ids.txt"), out.with_suffix(".skipped.csv")):
        if name.exists():
            raise ParameterError(f"{name} exists already; choose another name, or remove it")
    work = out.with_name(f"{out.name}.work")
    where: dict[str, Any] = {"smiles": smiles, "id": id, "root": root}
    summary = embed_file(path, work / "features", parameters, **where, worker=worker, on_progress=on_progress)
    _fill(work, summary, normalize, on_rows or (lambda done, total: None))
    ids = (name for index in range(summary.n_parts) for name in read_ids(part_path(work / "features", index)))
    with appearing(out.with_suffix(".ids.txt")) as partial:
        partial.write_text("".join(f"{name}\n" for name in ids), encoding="utf-8")
    (work / "features" / SKIPPED).replace(out.with_suffix(".skipped.csv"))
    (work / _MATRIX).replace(out)
    shutil.rmtree(work)
    return summary


def _fill(work: Path, summary: Summary, normalize: bool, report: Callable[[int, int], None]) -> None:
    parts = [part_path(work / "features", index) for index in range(summary.n_parts)]
    ends = np.cumsum([read_summary(part)[0] for part in parts], dtype=np.int64)
    blocks = [slice(int(begin), int(end)) for begin, end in zip([0, *ends[:-1]], ends, strict=True)]
    K, first = _open_matrix(work, summary.n_graphs, normalize)
    report(blocks[first - 1].stop if first else 0, summary.n_graphs)
    for i in range(first, len(parts)):
        ours = _vectors(parts[i], normalize)
        for j in range(i + 1):
            block = ours @ (ours if i == j else _vectors(parts[j], normalize)).T
            K[blocks[i], blocks[j]] = block
            K[blocks[j], blocks[i]] = block.T
        K.flush() if isinstance(K, np.memmap) else None
        _note(work, i + 1, normalize)
        report(blocks[i].stop, summary.n_graphs)


def _open_matrix(work: Path, n: int, normalize: bool) -> tuple[NDArray[np.float64], int]:
    """The matrix on disk, and how many blocks of its rows are filled."""
    file, rows = work / _MATRIX, work / _ROWS
    if file.exists() and rows.exists():
        try:
            found: dict[str, Any] = json.loads(rows.read_text())
            matrix, done, same = np.lib.format.open_memmap(file, "r+"), int(found["blocks"]), found["normalize"]
        except (ValueError, KeyError, TypeError):
            raise ParameterError(f"{work} is damaged; remove it, or choose another name") from None
        if same != normalize or matrix.shape != (n, n):
            raise ParameterError(f"{work} holds a run with other parameters; remove it, or choose another name")
        return matrix, done
    _note(work, 0, normalize)
    return np.lib.format.open_memmap(file, "w+", np.float64, (n, n)), 0


def _note(work: Path, blocks: int, normalize: bool) -> None:
    with appearing(work / _ROWS) as partial:
        partial.write_text(json.dumps({"blocks": blocks, "normalize": normalize}))


def _vectors(part: Path, normalize: bool) -> NDArray[np.float64]:
    features = read_features(part).astype(np.float64)
    if normalize:
        norms = np.linalg.norm(features, axis=1, keepdims=True)
        features /= np.where(norms > 0, norms, 1.0)
    return features
