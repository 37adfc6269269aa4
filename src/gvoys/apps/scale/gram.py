"""gvoys kernel: the Gram matrix of a file of graphs, block by block, into a .npy file.

The features come from the same parts as `gvoys embed` makes, in a folder beside the matrix that goes when it is done.
Blocks of rows are filled one after the other, and a file has the checksum of each; a run that was killed goes on from
there. All results are made in that folder. They are moved out of it in the end, the matrix last, and a file says that
this has begun: so results of a run that was killed are told from the user's own.
"""

from __future__ import annotations

import errno
import io
import json
import os
import shutil
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, replace
from os import PathLike
from pathlib import Path
from typing import IO, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gvoys.apps.scale.embed import embed_file
from gvoys.apps.scale.job import Parameters, first_graphs, read_job, remove_run
from gvoys.apps.scale.parts import part_features, part_ids, part_path, read_summary, skipped_beside
from gvoys.apps.scale.predict import open_file
from gvoys.apps.scale.run import Progress, Summary, Worker
from gvoys.errors import GvoysError, ParameterError
from gvoys.graphs.spectrum import max_degree
from gvoys.io.chemistry import Chemistry
from gvoys.io.files import (
    appearing,
    check_kept,
    check_new,
    lock_beside,
    locked,
    move_in_place,
    read_sealed,
    remove_partial,
    write_sealed,
)
from gvoys.io.sources import FileSource
from gvoys.series import series_named
from gvoys.walks.checks import is_auto
from gvoys.walks.sequences import STATE_BUDGET, Sequences
from gvoys.walks.sketch import Sketch
from gvoys.walks.sparse import MOST_COLUMNS
from gvoys.walks.sparse_products import summed_gram

_FULL = (errno.ENOSPC, errno.EDQUOT)
_NO_RESERVING = (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS)
_FEW_COLUMNS = 1 << 24  # above which arrays of one number for each would be large
_ZERO_BYTES = 1 << 24  # that are written at once


def create_matrix(path: Path, n: int) -> NDArray[np.float64]:
    """Make a .npy file of zeros; a disk that is too small is found here, and not by a signal in mid-run.

    On file systems that copy on write, such as Btrfs, the space of a file is not its own: there a disk that others
    fill during the run can still end the process.
    """
    with path.open("wb") as file:
        file.write(_header(n))
    try:
        return _mapped(path, n)
    except BaseException:
        path.unlink()
        raise


def open_matrix(path: Path, n: int) -> NDArray[np.float64] | None:
    """Open a file that `create_matrix` made."""
    header = _header(n)
    if not path.is_file() or path.stat().st_size != len(header) + 8 * n * n:
        return None
    with path.open("rb") as file:
        if file.read(len(header)) != header:
            return None
    return _mapped(path, n)


def products(left: Any, right: Any) -> NDArray[np.float64]:
    """Return the dot products of features, dense or sparse, in double precision."""
    if not sp.issparse(left):
        return np.asarray(left @ right.T)
    factors = [left] if right is left else [left, right]
    if left.shape[1] > _FEW_COLUMNS:  # then only those that occur
        columns = np.unique(np.concatenate([factor.indices for factor in factors]))
        for k, factor in enumerate(factors):
            indices = np.searchsorted(columns, factor.indices).astype(np.int32)
            shape = (factor.shape[0], len(columns))
            factors[k] = sp.csr_array((factor.data, indices, factor.indptr), shape=shape)
    return summed_gram(factors[:1], factors[1:] or None)


def _header(n: int) -> bytes:
    buffer = io.BytesIO()
    kind = {"descr": np.dtype(np.float64).str, "fortran_order": False, "shape": (n, n)}
    np.lib.format.write_array_header_1_0(buffer, kind)
    return buffer.getvalue()


def _mapped(path: Path, n: int) -> NDArray[np.float64]:
    needed = len(_header(n)) + 8 * n * n
    with path.open("r+b") as file:
        before = os.fstat(file.fileno()).st_size
        try:
            _reserve(file, before, needed)
        except OSError as error:
            if error.errno not in _FULL:
                raise
            file.truncate(before)  # what was reserved of it counts as free
            free = shutil.disk_usage(path.parent).free
            error = OSError(
                f"the matrix needs {_format_bytes(needed - before)} and {_format_bytes(free)} are free in "
                f"{path.parent}; make room there and give the same command again"
            )
            error.errno = errno.ENOSPC
            raise error from None
    return np.lib.format.open_memmap(path, "r+")


def _reserve(file: IO[bytes], before: int, needed: int) -> None:
    """Have the file system set blocks aside; where it cannot, write zeros."""
    if hasattr(os, "posix_fallocate"):
        try:
            return os.posix_fallocate(file.fileno(), 0, needed)
        except OSError as error:
            if error.errno not in _NO_RESERVING:
                raise
    file.seek(before)
    for begin in range(before, needed, _ZERO_BYTES):
        file.write(bytes(min(_ZERO_BYTES, needed - begin)))
    file.flush()


def _format_bytes(size: float) -> str:
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000:
            break
        size, unit = size / 1000, "TB"
    return f"{size:.3g} {unit}"


_MATRIX, _ROWS, _IDS, _ENDING = "matrix.npy", "rows.json", "ids.txt", "ending.json"
_OVERWRITE = "overwrite.json"  # the results may replace others


def write_gram(
    path: str | PathLike[str],
    out: Path,
    parameters: Parameters | None = None,
    *,
    normalize: bool = False,
    overwrite: bool = False,
    smiles: str = "smiles",
    id: str | None = None,
    root: str | PathLike[str] | None = None,
    chemistry: Chemistry | dict[str, Any] | None = None,
    worker: Worker | None = None,
    on_progress: Progress | None = None,
    on_rows: Callable[[int, int], None] | None = None,
    **fields: Any,
) -> Summary:
    """Write the Gram matrix of all graphs of a file, with the ids and the skipped rows beside it.

    Parameters
    ----------
    path : str or path-like
        File of graphs, as in `embed_file`.
    out : Path
        NAME.npy, float64; NAME.ids.txt and NAME.skipped.csv appear with it.
    parameters : Parameters or None, default=None
        Parameters of the features; None means the defaults. A decay or method that is "auto" is chosen as in
        `RandomWalkKernel`, by one pass over the graphs, with a sketch where that would combine counts and sketches.
    normalize : bool, default=False
        Whether to divide by sqrt(K(G,G) K(H,H)); graphs without walks have zeros.
    overwrite : bool, default=False
        Whether to start anew, and to replace `out` and the files beside it in the end.
    smiles, id, root, chemistry, worker, on_progress : object
        As in `embed_file`.
    on_rows : callable or None, default=None
        Called with the rows of the matrix that are done, and how many there are.
    **fields : object
        Names of labels, weights and attributes, as in `open_graphs`.

    Returns
    -------
    Summary
        Numbers of graphs, skipped rows and parts.

    Raises
    ------
    ParameterError
        If a file of that name exists already or is the input, an unfinished run had other parameters, or another run is
        at work.
    OSError
        If the disk has too little space for the matrix; a run with more space goes on.
    """
    if out.suffix != ".npy":
        raise ParameterError(f"the matrix goes to a file NAME.npy, not {out.name}")
    work, features = out.with_name(f"{out.name}.work"), out.with_name(f"{out.name}.work") / "features"
    source = open_file(path, {}, smiles, chemistry, id, root, **fields)
    parameters = _as_kernels_do(source, parameters or Parameters())
    check_kept([out, *_tables(out)], [source.path])
    out.parent.mkdir(parents=True, exist_ok=True)
    with locked(lock_beside(out), work):
        if overwrite and work.exists():
            remove_run(features)
            shutil.rmtree(work)
        ending = _read(work / _ENDING)
        if ending and out.exists() and not (work / _MATRIX).exists():  # all was done but to remove the folder
            run = {"input": source.identity(), "parameters": parameters.as_dict(), "normalize": normalize}
            _remove(work)
            if ending["run"] == json.loads(json.dumps(run)):
                return Summary(**ending["summary"])
        with suppress(OSError):
            work.rmdir()  # where a run was killed between its last two steps
        if overwrite:
            work.mkdir(exist_ok=True)
            write_sealed(work / _OVERWRITE, {})
        if not (work / _OVERWRITE).exists():
            for name in (out, *(() if ending else _tables(out))):  # those of a run that was killed at its end may go
                check_new(name)
        remove_partial(work, ".+")
        try:
            summary = embed_file(source, features, parameters, worker=worker, on_progress=on_progress)
        except GvoysError:
            if not features.exists():
                shutil.rmtree(work, ignore_errors=True)
            raise
        _fill(work, summary, normalize, on_rows or (lambda done, total: None))
        _write_ids(work, summary.n_parts)
        job = read_job(features) or {}
        run = {"input": job["input"], "parameters": job["parameters"], "normalize": normalize}
        write_sealed(work / _ENDING, {"run": run, "summary": asdict(summary)})
        made = work / _IDS, skipped_beside(features), work / _MATRIX
        for file, name in zip(made, (*_tables(out), out), strict=True):
            move_in_place(file, name)
        _remove(work)
        return summary


def _as_kernels_do(source: FileSource, parameters: Parameters) -> Parameters:
    """Choose decay and method as `RandomWalkKernel` does."""
    parameters.check()
    if not is_auto(parameters.decay) and not is_auto(parameters.method):
        return parameters
    first = first_graphs(source)
    walk, counting = parameters.walk.on(first), Sequences(parameters.device)
    degree, states = 0.0, 0.0
    for part in source.batches(parameters.rows_per_part):
        degree = max(degree, max_degree(part.batch))
        may_count = not walk.plain and bool(counting.supports(walk, part.batch))
        states += counting.cost(walk, part.batch).operations if may_count else np.inf
    chosen: dict[str, Any] = {}
    if is_auto(parameters.decay):
        chosen["decay"] = series_named(parameters.series, None).resolved(degree).get_params()["decay"]
    if is_auto(parameters.method) and not walk.plain:
        chosen["method"] = Sequences.name if states <= STATE_BUDGET else Sketch.name
    if chosen.get("method") == Sequences.name and parameters.n_columns is None:
        chosen["n_columns"] = MOST_COLUMNS  # so that hardly two sequences share one
    return replace(parameters, **chosen)


def _tables(out: Path) -> tuple[Path, Path]:
    return out.with_suffix(".ids.txt"), out.with_suffix(".skipped.csv")


def _write_ids(work: Path, n_parts: int) -> None:
    ids = (name for index in range(n_parts) for name in part_ids(part_path(work / "features", index)))
    with appearing(work / _IDS) as partial:
        partial.write_text("".join(f"{name}\n" for name in ids), encoding="utf-8")


def _remove(work: Path) -> None:
    """Remove the folder; the file that says that the end has begun goes after all others."""
    if (work / "features").exists():
        shutil.rmtree(work / "features")
    (work / _ROWS).unlink(missing_ok=True)
    shutil.rmtree(work)


def _fill(work: Path, summary: Summary, normalize: bool, report: Callable[[int, int], None]) -> None:
    """Fill the blocks of rows that are missing or damaged."""
    parts = [part_path(work / "features", index) for index in range(summary.n_parts)]
    ends = np.cumsum([read_summary(part)[0] for part in parts], dtype=np.int64)
    blocks = [slice(int(begin), int(end)) for begin, end in zip([0, *ends[:-1]], ends, strict=True)]
    run = {"features": read_job(work / "features"), "normalize": normalize}
    rows_done = _read(work / _ROWS)
    if rows_done and rows_done["run"] != run:
        raise ParameterError(f"{work} holds a run with other parameters; remove it, or choose another name")
    K, noted = open_matrix(work / _MATRIX, summary.n_graphs), dict(rows_done["rows"]) if rows_done else {}
    if K is None or not rows_done:
        noted = {}
        write_sealed(work / _ROWS, {"run": run, "rows": []})  # before the matrix, which may be a damaged one
        K = create_matrix(work / _MATRIX, summary.n_graphs)
    intact = {i: value for i, value in noted.items() if i < len(blocks) and _checksum(K, blocks, i) == value}
    done = sum(blocks[i].stop - blocks[i].start for i in intact)
    report(done, summary.n_graphs)
    for i in sorted({*range(len(parts))} - intact.keys()):
        row_vectors = _vectors(parts[i], normalize)
        for j in range(i + 1):
            block = products(row_vectors, row_vectors if i == j else _vectors(parts[j], normalize))
            K[blocks[i], blocks[j]] = block
            K[blocks[j], blocks[i]] = block.T
        if isinstance(K, np.memmap):
            K.flush()
        intact[i] = _checksum(K, blocks, i)
        write_sealed(work / _ROWS, {"run": run, "rows": list(intact.items())})
        done += blocks[i].stop - blocks[i].start
        report(done, summary.n_graphs)


def _checksum(K: NDArray[np.float64], blocks: list[slice], i: int) -> int:
    """Return the CRC-32 of what `_fill` writes at once: rows up to the diagonal, and columns above it."""
    value = 0
    for j in range(i + 1):
        value = zlib.crc32(np.ascontiguousarray(K[blocks[i], blocks[j]]).data, value)
        value = zlib.crc32(np.ascontiguousarray(K[blocks[j], blocks[i]]).data, value)
    return value


def _vectors(part: Path, normalize: bool) -> Any:
    features = part_features(part).astype(np.float64)
    if normalize:
        norms = np.sqrt(np.asarray((features * features).sum(axis=1)).ravel())
        norms[norms == 0] = 1.0
        if sp.issparse(features):
            features.data /= np.repeat(norms, np.diff(features.indptr))
        else:
            features /= norms[:, None]
    return features


def _read(path: Path) -> Any:
    """Read a file; None where there is none or it is damaged: all of it can be made again."""
    return read_sealed(path) if path.exists() else None
