"""The container of model files: a zip of arrays and one JSON text, none of which can run.

Members are stored as they are, so that a small file cannot become a large one, and checked by SHA-256. The same content
gives the same bytes.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import zipfile
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import ModelError
from gvoys.io.files import appearing, as_path, check_output

__all__ = ["read_container", "write_container"]

FORMAT, VERSION = "gvoys model", 1
_TEXT, _DIGEST, _ARRAY = "model.json", "sha256.txt", "array"
_PICKLE = b"\x80"  # how pickles begin, which kept models before there were model files
_DATE = (1980, 1, 1, 0, 0, 0)  # of every member, so that files do not depend on the day
_DAMAGES = (zipfile.BadZipFile, OSError, EOFError, ValueError, KeyError, TypeError, RecursionError, NotImplementedError)


def write_container(path: str | PathLike[str], content: dict[str, Any]) -> None:
    """Write a model file, which appears when it is complete.

    Parameters
    ----------
    path : str or path-like
        The file.
    content : dict
        Values of JSON, and arrays of numbers or text, nested in lists and dictionaries in any way.

    Raises
    ------
    ParameterError
        If `path` is a folder, or its folder does not exist.
    """
    path = as_path(path)
    check_output(path)
    arrays: list[bytes] = []
    placed = _take_out(content, arrays)
    digests = list(map(_digest, arrays))
    text = json.dumps({"format": FORMAT, "version": VERSION, "arrays": digests, "content": placed}, indent=1).encode()
    with appearing(path) as partial, zipfile.ZipFile(partial, "w", zipfile.ZIP_STORED) as file:
        for index, array in enumerate(arrays):
            file.writestr(zipfile.ZipInfo(_name(index), _DATE), array)
        file.writestr(zipfile.ZipInfo(_TEXT, _DATE), text)
        file.writestr(zipfile.ZipInfo(_DIGEST, _DATE), _digest(text))


def read_container(path: str | PathLike[str]) -> dict[str, Any]:
    """Read a model file.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    dict
        What was written; arrays are read-only.

    Raises
    ------
    ModelError
        If it is no model file, is damaged, or was written by a newer version.
    """
    path = as_path(path)
    if not path.is_file():
        raise ModelError(f"there is no model file {path}")
    try:
        with zipfile.ZipFile(path) as file:
            return _read(path, file)
    except ModelError:
        raise
    except _DAMAGES:
        raise ModelError(_no_model(path)) from None


def _no_model(path: Path) -> str:
    with suppress(OSError), path.open("rb") as file:
        if file.read(1) == _PICKLE:
            return f"{path} is a pickle, which could run any code: fit the model again and keep it with model.save(…)"
    return f"{path} is damaged or no model file; save the model again"


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _name(index: int) -> str:
    return f"arrays/{index}.npy"


def _take_out(value: Any, arrays: list[bytes]) -> Any:
    """The value with each array replaced by its number."""
    if isinstance(value, np.ndarray):
        held = io.BytesIO()
        np.lib.format.write_array(held, np.asarray(value, order="C"), allow_pickle=False)
        arrays.append(held.getvalue())
        return {_ARRAY: len(arrays) - 1}
    if isinstance(value, dict):
        return {name: _take_out(each, arrays) for name, each in value.items()}
    return [_take_out(each, arrays) for each in value] if isinstance(value, list) else value


def _put_back(value: Any, arrays: list[NDArray[Any]]) -> Any:
    if isinstance(value, dict):
        if value.keys() == {_ARRAY}:
            return arrays[value[_ARRAY]]
        return {name: _put_back(each, arrays) for name, each in value.items()}
    return [_put_back(each, arrays) for each in value] if isinstance(value, list) else value


def _read(path: Path, file: zipfile.ZipFile) -> dict[str, Any]:
    text = _member(file, _TEXT)
    if _digest(text).encode() != _member(file, _DIGEST):
        raise ValueError
    found = json.loads(text)
    if found["format"] != FORMAT:
        raise ValueError
    if found["version"] > VERSION:
        raise ModelError(f"{path} was written by a newer version of gvoys; update it with: pip install -U gvoys")
    arrays = [_array(_member(file, _name(index)), digest) for index, digest in enumerate(found["arrays"])]
    content: dict[str, Any] = _put_back(found["content"], arrays)
    return content


def _member(file: zipfile.ZipFile, name: str) -> bytes:
    about = file.getinfo(name)
    held = os.fstat(file.fp.fileno()).st_size  # type: ignore[union-attr]
    if about.compress_type != zipfile.ZIP_STORED or not 0 <= about.file_size <= held:
        raise ValueError
    return file.read(name)


def _array(data: bytes, digest: str) -> NDArray[Any]:
    if _digest(data) != digest:
        raise ValueError
    held = io.BytesIO(data)
    if np.lib.format.read_magic(held) != (1, 0):
        raise ValueError
    shape, fortran, kind = np.lib.format.read_array_header_1_0(held)
    if fortran or kind.hasobject or math.prod(shape) * kind.itemsize != len(data) - held.tell():
        raise ValueError
    return np.ndarray(shape, kind, data, held.tell())
