"""An index as a folder: segments of graphs, codes and ids that are mapped into memory, and what makes the codes.

index.json      what is there, with checksums; written last
coder.gvoys     what compares graphs, and the landmarks
segment-0000/   graphs (a store), codes, scales, rests, ids.json
"""

from __future__ import annotations

import json
import shutil
import tempfile
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys._kernels.cpu.scan import Codes
from gvoys.errors import GvoysError, ParameterError, StoreError
from gvoys.estimators.saving import read_parts, write_parts
from gvoys.io.chemistry import as_chemistry
from gvoys.io.files import appearing, as_path, check_folder, lock_beside, locked
from gvoys.io.sources.base import GraphSource
from gvoys.io.store import open_store, write_store
from gvoys.io.store.manifest import checksum_file
from gvoys.search.coding import Coder
from gvoys.search.comparing import BalancedComparer, SurroundingsComparer, WalkComparer
from gvoys.search.index import Index, Segment

__all__ = [
    "check_chemistry",
    "describe_segment",
    "is_index",
    "read_chemistry",
    "read_coder",
    "read_index",
    "write_coder",
    "write_ids",
    "write_index",
    "write_manifest",
]

MANIFEST, CODER = "index.json", "coder.gvoys"
_FORMAT, _VERSION = "gvoys index", 1
_COMPARERS: dict[str, Any] = {each.__name__: each for each in (BalancedComparer, SurroundingsComparer, WalkComparer)}


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
        about = _read_manifest(folder) if is_index(folder) else {"segments": []}
        known = about["segments"]
        if known:
            _check_begins(index, folder, about)
        else:
            write_coder(index.coder_, folder / CODER)
        for place in range(len(known), len(index.segments_)):
            known.append(_write_segment(index.segments_[place], folder / _name(place)))
        write_manifest(folder, index.n_candidates, known, about.get("reading"))


def _check_begins(index: Index, folder: Path, about: dict[str, Any]) -> None:
    """Check that an index begins with what its folder holds: the same coder, codes and ids."""
    held = [_read_segment(folder, each) for each in about["segments"]]
    own = index.segments_[: len(held)]
    same = len(own) == len(held) and all(_equal(*pair) for pair in zip(own, held, strict=True))
    if not same or _checksum_of(index.coder_) != about["coder"]:
        raise StoreError(
            f"{folder} holds another index, or one that was added to since this one was opened; open it again, or "
            "choose another folder"
        )


def _equal(one: Segment, other: Segment) -> bool:
    arrays = all(np.array_equal(*pair) for pair in zip(one.codes, other.codes, strict=True))
    return arrays and len(one) == len(other) and list(one.ids) == list(other.ids)


def _checksum_of(coder: Coder | None) -> int:
    assert coder is not None
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary, CODER)
        write_coder(coder, path)
        return checksum_file(path)


def write_coder(coder: Coder, path: Path) -> None:
    """What makes codes, in a file."""
    comparer = coder.comparer
    parts = {"kind": type(comparer).__name__, "parts": dict(vars(comparer))}
    write_parts(path, **parts, landmarks=coder.landmarks, root=coder.root)


def read_coder(path: Path) -> Coder:
    """What `write_coder` wrote."""
    parts = read_parts(path)
    return Coder(_COMPARERS[parts["kind"]](**parts["parts"]), parts["landmarks"], parts["root"])


def read_chemistry(path: str | PathLike[str]) -> dict[str, Any] | None:
    """The options by which the molecules of an index were read; None where they are not known, or for other graphs."""
    found: dict[str, Any] | None = _read_manifest(as_path(path)).get("reading", {}).get("chemistry")
    return found


def check_chemistry(path: str | PathLike[str], source: GraphSource) -> None:
    """Check that graphs of a source are read as those of an index were: else the same molecule has two graphs."""
    ours, theirs = source.chemistry, read_chemistry(path)
    if ours is not None and theirs is not None and ours != as_chemistry(theirs):
        read = [as_chemistry(each).as_dict() or "the defaults" for each in (theirs, ours)]
        raise ParameterError(
            f"the molecules of the index {path} were read with the chemistry {read[0]}, and those of {source} are read "
            f"with {read[1]}; build an index with the same options, or with gvoys search --like MODEL"
        )


def write_manifest(
    folder: Path, n_candidates: int, segments: list[dict[str, Any]], reading: dict[str, Any] | None = None
) -> None:
    """Say what is in a folder, in the end."""
    about: dict[str, Any] = {"format": _FORMAT, "version": _VERSION, "n_candidates": n_candidates}
    about |= {"segments": segments, "reading": reading or {}}
    about["coder"] = checksum_file(folder / CODER)
    with appearing(folder / MANIFEST) as partial:
        partial.write_text(json.dumps(about, indent=1))


def _name(place: int) -> str:
    return f"segment-{place:04d}"


def _write_segment(segment: Segment, folder: Path) -> dict[str, Any]:
    if folder.exists():  # of a save that was interrupted, perhaps with other graphs
        shutil.rmtree(folder)
    folder.mkdir()
    write_store(segment.graphs, folder / "graphs")
    for name, array in segment.codes._asdict().items():
        with appearing(folder / f"{name}.npy") as partial, partial.open("wb") as file:
            np.save(file, array)
    write_ids(folder, segment.ids)
    return describe_segment(folder, len(segment))


def write_ids(folder: Path, ids: Any) -> None:
    """Ids as JSON; consecutive numbers by their ends."""
    held = {"range": [ids.start, ids.stop]} if isinstance(ids, range) else {"ids": list(ids)}
    with appearing(folder / "ids.json") as partial:
        partial.write_text(json.dumps(held, ensure_ascii=False), encoding="utf-8")


def describe_segment(folder: Path, n_graphs: int) -> dict[str, Any]:
    """Its name, and checksums of its files."""
    files = [f"{name}.npy" for name in Codes._fields] + ["ids.json"]
    return {"name": folder.name, "n_graphs": n_graphs, "files": {name: checksum_file(folder / name) for name in files}}


def read_index(path: str | PathLike[str], n_jobs: int | None = None) -> Index:
    """Open a folder; the arrays are mapped into memory after their checksums were compared."""
    folder = as_path(path)
    try:
        about = _read_manifest(folder)
        _check(folder, folder / CODER, about["coder"])
        coder = read_coder(folder / CODER)
        index = Index(n_candidates=about["n_candidates"], width=max(coder.root.shape[1], 1), n_jobs=n_jobs)
        index.coder_ = coder
        index.segments_ = [_read_segment(folder, each) for each in about["segments"]]
    except StoreError:
        raise
    except (OSError, ValueError, KeyError, TypeError, AttributeError, GvoysError):
        raise _damaged(folder) from None
    return index


def _read_manifest(folder: Path) -> dict[str, Any]:
    if not is_index(folder):
        raise StoreError(f"{folder} is no index; gvoys search makes one of a file of graphs")
    try:
        about = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        if about["format"] != _FORMAT or about["version"] != _VERSION or not isinstance(about["segments"], list):
            raise ValueError
    except (OSError, ValueError, KeyError, TypeError):
        raise _damaged(folder) from None
    return dict(about)


def _damaged(folder: Path) -> StoreError:
    return StoreError(f"the index {folder} is damaged; remove it and build it again")


def _check(index: Path, file: Path, wanted: int) -> None:
    if checksum_file(file) != wanted:
        raise _damaged(index)


def _read_segment(index: Path, about: dict[str, Any]) -> Segment:
    folder = index / str(about["name"])
    for name, wanted in about["files"].items():
        _check(index, folder / name, wanted)
    arrays = [_mapped(folder / f"{name}.npy") for name in Codes._fields]
    held = json.loads((folder / "ids.json").read_text(encoding="utf-8"))
    ids = range(*held["range"]) if "range" in held else held["ids"]
    graphs = open_store(folder / "graphs")
    if not len(graphs) == len(arrays[0]) == len(ids) == about["n_graphs"]:
        raise _damaged(index)
    return Segment(graphs, Codes(*arrays), ids)


def _mapped(path: Path) -> NDArray[Any]:
    return np.load(path, mmap_mode="r", allow_pickle=False)
