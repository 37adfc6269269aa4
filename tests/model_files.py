"""Model files taken apart, changed at random, and written again with checksums that fit."""

import hashlib
import io
import json
import zipfile
from contextlib import suppress

import numpy as np
from mutations import change_form, change_json


class ModelFile:
    """What is in a model file; `about` is its JSON without the digests of arrays."""

    def __init__(self, path):
        with zipfile.ZipFile(path) as file:
            self.about = json.loads(file.read("model.json"))
            count = len(self.about.pop("arrays"))
            self.arrays = [np.load(io.BytesIO(file.read(f"arrays/{k}.npy"))) for k in range(count)]
        self.change_text, self.change_members, self.compression = str, list, zipfile.ZIP_STORED

    def write(self, path):
        """The file again, with digests that fit, but for those that `about` has."""
        members = {f"arrays/{k}.npy": _dumped(array) for k, array in enumerate(self.arrays)}
        about = {"arrays": [hashlib.sha256(data).hexdigest() for data in members.values()]} | self.about
        text = self.change_text(json.dumps(about, indent=1)).encode()
        members |= {"model.json": text, "sha256.txt": hashlib.sha256(text).hexdigest().encode()}
        with zipfile.ZipFile(path, "w", self.compression) as file:
            for name, data in self.change_members(members.items()):
                file.writestr(name, data)


def _dumped(array):
    written = io.BytesIO()
    np.save(written, array, allow_pickle=True)
    return written.getvalue()


def change(file, rng):
    """Change one thing, and return what kind of change it is."""
    how = _CHANGES[rng.integers(len(_CHANGES))]
    how(file, rng)
    return how.__name__


def text(file, rng):
    change_json(file.about, rng)


def array_form(file, rng):
    k = rng.integers(len(file.arrays))
    if file.arrays[k].ndim:
        with suppress(ValueError):  # of text
            file.arrays[k] = change_form(file.arrays[k], rng)


def repeat_key(file, rng):
    def twice(text):
        lines = text.split("\n")
        some = [k for k, line in enumerate(lines) if '": ' in line and line[-1] not in "[{"]
        k = some[rng.integers(len(some))]
        return "\n".join([*lines[:k], lines[k].rstrip(",") + ",", *lines[k:]])

    file.change_text = twice


def array_number(file, rng):
    k = rng.integers(len(file.arrays))
    file.arrays[k] = array = file.arrays[k].copy()
    ends = 1 if array.dtype == np.uint64 else 0  # an end of sorted hashes may be any other, and nobody could tell
    if array.size > 2 * ends and array.dtype.kind in "biuf":
        values = [np.nan, np.inf, 1e300, -1e300] if array.dtype.kind == "f" else [2**31 - 1, -(2**31), -1, 2**30]
        with np.errstate(all="ignore"):
            array.reshape(-1)[rng.integers(ends, array.size - ends)] = np.array(values[rng.integers(4)]).astype(
                array.dtype
            )


def array_order(file, rng):
    i, k = rng.integers(len(file.arrays), size=2)
    file.arrays[i], file.arrays[k] = file.arrays[k], file.arrays[i]


def version(file, rng):
    values = [0, -1, True, 1.0, 2.0, "2", None, 3, 10**30, [], "gvoys index"]
    file.about[["version", "version", "format", "arrays"][rng.integers(4)]] = values[rng.integers(len(values))]


def members(file, rng):
    def other(items):
        items = list(items)
        k = rng.integers(len(items))
        name, data = items[k]
        return [
            *([*items, items[k]], [*items, ("more", b"")], items[:k] + items[k + 1 :], items[::-1]),
            *([*items[:k], other, *items[k + 1 :]] for other in ((f"{name} ", data), (name, data + b"\0"))),
        ][rng.integers(6)]

    file.change_members = other


_CHANGES = [*6 * [text], *2 * [array_form], repeat_key, array_number, array_order, members, version]
