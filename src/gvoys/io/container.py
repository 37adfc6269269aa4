"""The container of model files: a zip of arrays and one JSON text, none of which can run.

Members are stored as they are, so that a small file cannot become a large one, and checked by SHA-256. The same content
gives the same bytes. A file with anything more, twice or out of place is not read.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import ModelError
from gvoys.io.files import appearing, as_path, check_output

FORMAT, VERSION = "gvoys model", 2
_TEXT, _DIGEST, _ARRAY = "model.json", "sha256.txt", "array"
_PICKLE = b"\x80"  # how pickles begin, which kept models before there were model files
_DATE = (1980, 1, 1, 0, 0, 0)  # of every member, so that files do not depend on the day


def write_container(path: str | PathLike[str], content: dict[str, Any]) -> None:
    """Write values of JSON and arrays, nested in any way; the file appears when it is complete."""
    path = as_path(path)
    check_output(path)
    arrays: list[bytes] = []
    placed = _take_out(content, arrays)
    about = {"format": FORMAT, "version": VERSION, "arrays": list(map(_digest, arrays)), "content": placed}
    text = json.dumps(about, indent=1, allow_nan=False).encode()
    with appearing(path) as partial, zipfile.ZipFile(partial, "w", zipfile.ZIP_STORED) as file:
        for name, member in zip(_member_names(len(arrays)), [*arrays, text, _digest(text).encode()], strict=True):
            file.writestr(zipfile.ZipInfo(name, _DATE), member)


def read_container(path: str | PathLike[str]) -> dict[str, Any]:
    """Read what `write_container` wrote, with read-only arrays; raise ModelError for any other file."""
    path = as_path(path)
    if not path.is_file():
        raise ModelError(f"there is no model file {path}")
    try:
        with zipfile.ZipFile(path) as file:
            return _read(path, file)
    except ModelError:
        raise
    except PermissionError:
        raise ModelError(f"{path} may not be read; ask its owner for permission") from None
    except Exception:  # whatever comes of bytes that may be anything
        raise ModelError(_no_model(path)) from None


def _no_model(path: Path) -> str:
    with suppress(OSError), path.open("rb") as file:
        if file.read(1) == _PICKLE:
            return f"{path} is a pickle, which could run any code: fit the model again and keep it with model.save(…)"
    return f"{path} is damaged or no model file; save the model again"


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _member_names(n_arrays: int) -> list[str]:
    """List all members in their order."""
    return [*(f"arrays/{index}.npy" for index in range(n_arrays)), _TEXT, _DIGEST]


def _dump(array: NDArray[Any]) -> bytes:
    written = io.BytesIO()
    np.lib.format.write_array(written, np.asarray(array, order="C"), allow_pickle=False)
    return written.getvalue()


def _take_out(value: Any, arrays: list[bytes]) -> Any:
    """Replace each array in a value by its number."""
    if isinstance(value, np.ndarray):
        arrays.append(_dump(value))
        return {_ARRAY: len(arrays) - 1}
    if isinstance(value, dict):
        return {name: _take_out(item, arrays) for name, item in value.items()}
    return [_take_out(item, arrays) for item in value] if isinstance(value, list) else value


def _put_back(value: Any, arrays: Iterator[tuple[int, NDArray[Any]]]) -> Any:
    """Put each array in its place; they must come once each, in the order of their numbers."""
    if isinstance(value, dict):
        if value.keys() != {_ARRAY}:
            return {name: _put_back(item, arrays) for name, item in value.items()}
        number, array = next(arrays, (None, None))
        if (type(value[_ARRAY]), value[_ARRAY]) != (int, number):
            raise ValueError
        return array
    return [_put_back(item, arrays) for item in value] if isinstance(value, list) else value


def _read(path: Path, file: zipfile.ZipFile) -> dict[str, Any]:
    members, size = file.infolist(), os.fstat(file.fp.fileno()).st_size  # type: ignore[union-attr]
    if any(item.compress_type != zipfile.ZIP_STORED for item in members) or sum(e.file_size for e in members) > size:
        raise ValueError
    text, constants = file.read(_TEXT), list[str]()
    if _digest(text).encode() != file.read(_DIGEST):
        raise ValueError
    about = json.loads(text, object_pairs_hook=_check_keys, parse_constant=constants.append)
    if about["format"] != FORMAT or type(about["version"]) is not int or about["version"] < 1:
        raise ValueError
    if about["version"] > VERSION:
        raise ModelError(f"{path} was written by a newer version of gvoys; update it with: pip install -U gvoys")
    if about["version"] < VERSION:
        raise ModelError(f"{path} was written by gvoys 0.2; train it again, or use it with: pip install 'gvoys<0.3'")
    names, digests = _member_names(len(about["arrays"])), about["arrays"]
    if constants or file.namelist() != names or about.keys() != {"format", "version", "arrays", "content"}:
        raise ValueError
    arrays = enumerate(_array(file.read(name), digest) for name, digest in zip(names, digests, strict=False))
    content: dict[str, Any] = _put_back(about["content"], arrays)
    if next(arrays, None) is not None:
        raise ValueError
    return content


def _check_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make a dictionary of pairs with different keys."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError
    return dict(pairs)


def _array(data: bytes, digest: str) -> NDArray[Any]:
    """Read an array, whose header must be the one that we write."""
    if _digest(data) != digest:
        raise ValueError
    read, written = io.BytesIO(data), io.BytesIO()
    if np.lib.format.read_magic(read) != (1, 0):
        raise ValueError
    shape, _, kind = np.lib.format.read_array_header_1_0(read)
    if kind.hasobject or math.prod(shape) * kind.itemsize != len(data) - read.tell():
        raise ValueError
    array: NDArray[Any] = np.ndarray(shape, kind, data, read.tell())
    np.lib.format.write_array_header_1_0(written, np.lib.format.header_data_from_array_1_0(array))
    if not data.startswith(written.getvalue()) or written.tell() != read.tell():
        raise ValueError
    return array
