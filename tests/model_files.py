"""Model files taken apart, changed at random, and written again with checksums that fit."""

import hashlib
import io
import json
import zipfile
from contextlib import suppress

import numpy as np

ODD = (None, True, False, 0, -1, 1, 3, 0.5, "", "x", "linear", [], [1], {}, {"a": 1}, {"array": 0}, {"array": 10**30})
ODD += ({"is": "tuple", "items": []}, {"is": "Geometric", "decay": 0.5}, {"is": "dict", "items": [["a", 1]]})
HUGE = (2**31, 2**63, -(2**63), 10**30, -(10**30), 10**400, 1e308, -1e308, 10**6)


class ModelFile:
    """What is in a model file; `about` is its JSON without the digests of arrays."""

    def __init__(self, path):
        with zipfile.ZipFile(path) as file:
            self.about = json.loads(file.read("model.json"))
            count = len(self.about.pop("arrays"))
            self.arrays = [np.load(io.BytesIO(file.read(f"arrays/{k}.npy"))) for k in range(count)]
        self.change_text, self.change_members = str, list

    def write(self, path):
        """The file again, with digests that fit, but for those that `about` has."""
        members = {f"arrays/{k}.npy": _dumped(array) for k, array in enumerate(self.arrays)}
        about = {"arrays": [hashlib.sha256(data).hexdigest() for data in members.values()]} | self.about
        text = self.change_text(json.dumps(about, indent=1)).encode()
        members |= {"model.json": text, "sha256.txt": hashlib.sha256(text).hexdigest().encode()}
        with zipfile.ZipFile(path, "w") as file:
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


def _places(value):
    """Every (container, key) below a value."""
    found = [(value, key) for key in (value if isinstance(value, dict) else range(len(value)))]
    return found + [place for held, key in found if isinstance(held[key], (dict, list)) for place in _places(held[key])]


def _pick(file, rng, kinds=(object,)):
    some = [(held, key) for held, key in _places(file.about) if isinstance(held[key], kinds)]
    return some[rng.integers(len(some))]


def drop(file, rng):
    held, key = _pick(file, rng)
    del held[key]


def another_type(file, rng):
    held, key = _pick(file, rng)
    held[key] = ODD[rng.integers(len(ODD))]


def another_number(file, rng):
    held, key = _pick(file, rng, (int, float))
    held[key] = HUGE[rng.integers(len(HUGE))]


def not_a_number(file, rng):
    held, key = _pick(file, rng, (int, float))
    held[key] = [np.nan, np.inf, {"is": "float", "text": "nan"}][rng.integers(3)]


def repeat(file, rng):
    held, key = _pick(file, rng, (list,))
    if held[key]:
        held[key].append(held[key][rng.integers(len(held[key]))])


def repeat_key(file, rng):
    def twice(text):
        lines = text.split("\n")
        some = [k for k, line in enumerate(lines) if '": ' in line and line[-1] not in "[{"]
        k = some[rng.integers(len(some))]
        return "\n".join([*lines[:k], lines[k].rstrip(",") + ",", *lines[k:]])

    file.change_text = twice


def another_text(file, rng):
    (held, key), (other, name) = _pick(file, rng, (str,)), _pick(file, rng, (str,))
    held[key] = other[name]


def array_type(file, rng):
    k = rng.integers(len(file.arrays))
    kinds = ["f4", "f8", ">f8", "i8", "i4", "u1", "u8", "c16", "?", "O", "U3", "M8[s]"]
    with np.errstate(all="ignore"), suppress(ValueError):  # of text
        file.arrays[k] = file.arrays[k].astype(kinds[rng.integers(len(kinds))])


def array_shape(file, rng):
    k = rng.integers(len(file.arrays))
    array = file.arrays[k]
    shapes = [
        *(lambda: array[:-1], lambda: array[:0], lambda: np.concatenate([array, array[-1:]]), lambda: array[None]),
        *(lambda: array[..., None], lambda: array.reshape(-1), lambda: np.asfortranarray(array.T)),
        lambda: array.repeat(2, -1),
    ]
    file.arrays[k] = shapes[rng.integers(len(shapes))]()


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


_CHANGES = 2 * [drop, another_type, another_number, not_a_number, another_text]
_CHANGES += [repeat, repeat_key, array_type, array_shape, array_number, array_order, members, version]
