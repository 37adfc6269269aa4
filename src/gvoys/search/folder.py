"""An index as a folder: segments of graphs, codes and ids that are mapped into memory, and their coder.

index.json      what is there, with checksums of all and of itself; written last
coder.gvoys     what compares graphs, and the landmarks
segment-0000/   graphs (a store), values and scales of codes, rests, ids.json
"""

from __future__ import annotations

import json
import math
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from gvoys._compiled.cpu.code_scan import Codes
from gvoys.errors import GvoysError, ParameterError, StoreError
from gvoys.estimators.saving import read_parts, write_parts
from gvoys.graphs.build import check_joinable
from gvoys.io.chemistry import as_chemistry
from gvoys.io.files import (
    appearing,
    as_path,
    check_folder,
    lock_beside,
    locked,
    open_seal,
    read_json,
    remove_partial,
    write_sealed,
)
from gvoys.io.sources.source import GraphSource
from gvoys.io.store import open_store, write_store
from gvoys.io.store.store_reader import HEADER, ArrayFile, checksum_file, map_array
from gvoys.search.coding import BalancedComparer, Coder, Queries, SurroundingsComparer, WalkComparer
from gvoys.search.index import Index, Segment, as_ids

MANIFEST, CODER = "index.json", "coder.gvoys"
_FORMAT, _VERSION = "gvoys index", 2
_FILES = (*(f"{name}.npy" for name in Codes._fields), "ids.json", "graphs/manifest.json")  # of a segment
_LARGEST_NUMBER = 1e6  # scale or rest; both are at most 1, but for rounding
_OURS = rf"{MANIFEST}|{CODER}|segment-\d+"  # names in an index
DAMAGES = (OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError)
_COMPARERS: dict[str, Any] = {kind.__name__: kind for kind in (BalancedComparer, SurroundingsComparer, WalkComparer)}


def is_index(path: str | PathLike[str]) -> bool:
    """Whether a folder is an index."""
    return (as_path(path) / MANIFEST).is_file()


def write_index(index: Index, path: str | PathLike[str]) -> None:
    """Write an index; segments that are there already are left as they are."""
    folder = as_path(path)
    check_folder(folder)
    if index.coder_ is None:
        raise StoreError("the index holds no graphs; add some before it is saved")
    if folder.exists() and not is_index(folder) and any(folder.iterdir()):
        raise StoreError(f"{folder} exists already and is no index; choose another folder")
    folder.mkdir(parents=True, exist_ok=True)
    with locked(lock_beside(folder), folder):  # what it holds is read only now: others may have added to it
        remove_partial(folder, _OURS)
        about = _read_manifest(folder) if is_index(folder) else {"segments": []}
        known = about["segments"]
        if known:
            _check_begins(index, folder, about)
        else:
            write_coder(index.coder_, folder / CODER)
        for number in range(len(known), len(index.segments_)):
            known.append(write_segment(index.segments_[number], folder / _name(number)))
        write_manifest(folder, index.n_candidates, known, about.get("reading"))


def _check_begins(index: Index, folder: Path, about: dict[str, Any]) -> None:
    """Check that an index begins with what its folder holds: the same coder, codes and ids."""
    saved = read_index(folder).segments_
    ours_first = index.segments_[: len(saved)]
    same = len(ours_first) == len(saved) and all(_equal(*pair) for pair in zip(ours_first, saved, strict=True))
    if not same or _checksum_of(index.coder_) != about["coder"]:
        raise StoreError(
            f"{folder} holds another index, or one that was added to since this one was opened; open it again, or "
            "choose another folder"
        )


def _equal(one: Segment, other: Segment) -> bool:
    same = all(np.array_equal(*pair) for pair in zip(one.codes, other.codes, strict=True))
    return same and len(one) == len(other) and list(one.ids) == list(other.ids)


def _checksum_of(coder: Coder | None) -> int:
    assert coder is not None
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary, CODER)
        write_coder(coder, path)
        return checksum_file(path)


def write_coder(coder: Coder, path: Path) -> None:
    """Write the coder to a file."""
    comparer = coder.comparer
    parts = {"kind": type(comparer).__name__, "parts": dict(vars(comparer))}
    write_parts(path, **parts, landmarks=coder.landmarks, root=coder.root)


def read_coder(path: Path) -> Coder:
    """Read what `write_coder` wrote, or raise one of DAMAGES."""
    parts = read_parts(path)
    return Coder(_COMPARERS[parts["kind"]](**parts["parts"]), parts["landmarks"], parts["root"])


def read_chemistry(path: str | PathLike[str]) -> dict[str, Any] | None:
    """The options by which the molecules of an index were read; None where they are not known, or for other graphs."""
    chemistry: dict[str, Any] | None = _read_manifest(as_path(path)).get("reading", {}).get("chemistry")
    return chemistry


def check_chemistry(path: str | PathLike[str], source: GraphSource) -> None:
    """Check that graphs of a source are read as those of an index were: else the same molecule has two graphs."""
    of_source, of_index = source.chemistry, read_chemistry(path)
    if of_source is not None and of_index is not None and of_source != as_chemistry(of_index):
        read = [as_chemistry(chemistry).as_dict() or "the defaults" for chemistry in (of_index, of_source)]
        raise ParameterError(
            f"the molecules of the index {path} were read with the chemistry {read[0]}, and those of {source} are read "
            f"with {read[1]}; build an index with the same options, or with gvoys search --like MODEL"
        )


def write_manifest(
    folder: Path, n_candidates: int, segments: list[dict[str, Any]], reading: dict[str, Any] | None = None
) -> None:
    """Say what is in a folder, in the end."""
    about: dict[str, Any] = {"format": _FORMAT, "version": _VERSION, "n_candidates": n_candidates}
    about |= {"segments": segments, "reading": reading or {}, "coder": checksum_file(folder / CODER)}
    write_sealed(folder / MANIFEST, about)


def _name(number: int) -> str:
    return f"segment-{number:04d}"


def write_segment(segment: Segment, folder: Path) -> dict[str, Any]:
    """Write a segment, which appears when it is complete, and describe it."""
    if folder.exists():  # of a save that was interrupted, perhaps with other graphs
        shutil.rmtree(folder)
    with appearing(folder) as partial:
        write_store(segment.graphs, partial / "graphs")
        write_codes(partial, [segment.codes], segment.codes.values.shape[1])
        write_ids(partial, segment.ids)
    return describe_segment(folder, len(segment))


def _form(n_rows: int, width: int) -> dict[str, tuple[np.dtype[Any], tuple[int, ...]]]:
    """Types and shapes of codes."""
    single = np.dtype(np.float32)
    return {"values": (np.dtype(np.int8), (n_rows, width)), "scales": (single, (n_rows,)), "rests": (single, (n_rows,))}


def write_codes(folder: Path, parts: Iterable[Codes], width: int) -> None:
    """Write codes, one part in memory at a time."""
    files = [ArrayFile(folder / f"{name}.npy", kind, *shape[1:]) for name, (kind, shape) in _form(0, width).items()]
    for codes in parts:
        for file, array in zip(files, codes, strict=True):
            file.append(array)
    for file in files:
        file.finish()


def write_ids(folder: Path, ids: Any) -> None:
    """Write ids as JSON; consecutive numbers by their ends."""
    content = {"range": [ids.start, ids.stop]} if isinstance(ids, range) else {"ids": list(ids)}
    with appearing(folder / "ids.json") as partial:
        partial.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")


def describe_segment(folder: Path, n_graphs: int) -> dict[str, Any]:
    """Return the size of a segment and checksums of its files; those of the graphs are in their manifest."""
    return {"n_graphs": n_graphs, "files": {name: checksum_file(folder / name) for name in _FILES}}


def read_index(path: str | PathLike[str], n_jobs: int | None = None) -> Index:
    """Open a folder; the arrays are mapped into memory after their checksums and forms were compared."""
    folder = as_path(path)
    about = _read_manifest(folder)
    with _intact(folder):
        if checksum_file(folder / CODER) != about["coder"]:
            raise ValueError
        coder = read_coder(folder / CODER)
        index = Index(n_candidates=about["n_candidates"], width=max(coder.root.shape[1], 1), n_jobs=n_jobs)
        index.coder_ = coder
        for number, segment in enumerate(about["segments"]):
            index.segments_.append(read_segment(folder / _name(number), segment, coder))
        check_joinable([segment.graphs for segment in index.segments_])
        _try_coder(coder, index.segments_)
    return index


def _try_coder(coder: Coder, segments: list[Segment]) -> None:
    """Search for one graph: what does not go together is found now. A search says itself that there is no GPU."""
    with suppress(GvoysError):
        for segment in segments[:1]:
            coordinates = Queries.from_graphs(coder, segment.graphs[:1]).coordinates
            if not np.isfinite(coordinates).all() or coordinates.shape[1:] != coder.root.shape[1:]:
                raise ValueError


def _read_manifest(folder: Path) -> dict[str, Any]:
    if not is_index(folder):
        raise StoreError(f"{folder} is no index; gvoys search makes one of a file of graphs")
    with _intact(folder):
        content = read_json(folder / MANIFEST)
        about, version = open_seal(content), content["version"] if content["format"] == _FORMAT else _VERSION
        if version == _VERSION:
            if about is None or about["format"] != _FORMAT or not isinstance(about["segments"], list):
                raise ValueError
            as_chemistry(about["reading"].get("chemistry"))
            return about
    raise StoreError(f"the index {folder} was made by another version of gvoys; build it again")


@contextmanager
def _intact(index: Path) -> Iterator[None]:
    """Turn what damage may raise into one sentence."""
    try:
        yield
    except DAMAGES:
        raise StoreError(f"the index {index} is damaged; remove it and build it again") from None


def read_segment(folder: Path, about: dict[str, Any], coder: Coder) -> Segment:
    """Map a segment that is as it was written, or raise one of DAMAGES."""
    if any(checksum_file(folder / name) != about["files"][name] for name in _FILES):
        raise ValueError
    graphs, ids = open_store(folder / "graphs"), _read_ids(folder / "ids.json")
    arrays = []
    for name, (kind, shape) in _form(len(graphs), coder.root.shape[1]).items():
        described = {"bytes": HEADER + math.prod(shape) * kind.itemsize, "dtype": kind, "shape": shape}
        arrays.append(map_array(folder / f"{name}.npy", described, verify=False))
    finite = all(np.abs([array.min(initial=0), array.max(initial=0)]).max() <= _LARGEST_NUMBER for array in arrays[1:])
    if not finite or not len(graphs) == len(ids) == about["n_graphs"]:
        raise ValueError
    return Segment(graphs, Codes(*arrays), ids)


def _read_ids(file: Path) -> Any:
    match read_json(file):
        case {"range": [int(begin), int(end)]}:
            return range(begin, end)
        case {"ids": list(ids)}:
            return as_ids(ids)
    raise ValueError
