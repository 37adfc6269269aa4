"""Labels of any hashable type, kept as codes into a table of 64-bit hashes, which are the same in every process."""

from __future__ import annotations

import enum
import numbers
import struct
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import LabelError

# The parameter `labels` of kernels and profiles: whether those of nodes and of edges are used.
LABEL_CHOICES: dict[Any, tuple[bool, bool]] = {
    None: (False, False),
    "node": (True, False),
    "edge": (False, True),
    "both": (True, True),
}

_INT64 = np.iinfo(np.int64)
_SALT = np.uint64(0x243F6A8885A308D3)


def hash_integers(values: NDArray[Any]) -> NDArray[np.uint64]:
    """Hash integers to 64 bits by the splitmix64 finaliser: a bijection, so distinct integers never collide."""
    x = values.astype(np.int64).view(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def combine_hashes(first: NDArray[np.uint64], second: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Hash ordered pairs: (a, b) and (b, a) differ."""
    return hash_integers(hash_integers(first ^ _SALT) + second)


def hash_label(value: Hashable) -> int:
    """Hash one label to 64 bits, the same in every process; labels that compare equal hash equally."""
    value = value.item() if isinstance(value, np.generic) else value
    value = _canonical_number(value) if isinstance(value, numbers.Number) else value
    if isinstance(value, int) and _INT64.min <= value <= _INT64.max:
        return int(hash_integers(np.array([value]))[0])
    return int.from_bytes(blake2b(_encode(value), digest_size=8).digest(), "little")


def _canonical_number(value: Any) -> Any:
    """Turn equal numbers of different types (1, 1.0, True, Fraction(1)) into one representative."""
    if value != value:
        raise LabelError(
            "a label is nan, which equals nothing, not even itself; give missing labels a value of their own"
        )
    if isinstance(value, Decimal):
        value = value.normalize()
    if isinstance(value, complex) and value.imag == 0:
        value = value.real
    for plain in (int, float):
        try:
            if plain(value) == value:
                return plain(value)
        except (TypeError, ValueError, OverflowError):
            pass
    return value


def _encode(value: Any) -> bytes:
    if isinstance(value, int):
        return b"i" + str(value).encode()
    if isinstance(value, float):
        return b"f" + struct.pack("<d", value)
    if isinstance(value, str):  # before Enum: a StrEnum equals its string
        return b"s" + str.__str__(value).encode("utf-8", "surrogatepass")
    if isinstance(value, bytes):
        return b"b" + value
    if isinstance(value, enum.Enum):
        return b"e" + _nested(type(value).__module__, type(value).__qualname__, value.name)
    if value is None:
        return b"n"
    if isinstance(value, tuple):
        return b"t" + _nested(*value)
    if isinstance(value, frozenset):
        return b"z" + b"".join(sorted(_nested(item) for item in value))
    return b"o" + _encode_object(value)


def _nested(*values: Hashable) -> bytes:
    return b"".join(struct.pack("<Q", hash_label(value)) for value in values)


def _encode_object(value: Any) -> bytes:
    """Encode an object of a user's class by the state that pickling would keep."""
    kind = type(value)
    if kind.__hash__ is None or kind.__eq__ is object.__eq__:
        raise LabelError(
            f"a label of type {kind.__name__!r} compares by identity or is not hashable, so it has no stable hash; "
            "use a number, a string or a tuple of these"
        )
    try:
        _, arguments, *state = value.__reduce_ex__(2)
    except (TypeError, ValueError):
        raise LabelError(f"a label of type {kind.__name__!r} cannot be pickled, so it has no stable hash") from None
    # the first argument of the reduction is the class itself
    rest = tuple(_frozen(argument) for argument in arguments if not isinstance(argument, type))
    return _nested(f"{kind.__module__}.{kind.__qualname__}", rest, _frozen(state[0] if state else None))


def _frozen(state: Any) -> Any:
    """Dictionaries and lists of an object's state as tuples, which have a hash."""
    if isinstance(state, dict):
        return tuple(sorted((name, hash_label(_frozen(field))) for name, field in state.items()))
    if isinstance(state, (list, tuple)):
        return tuple(_frozen(item) for item in state)
    return state


def _is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


@dataclass(frozen=True, eq=False)
class Labels:
    """One label per node or edge: ``values[codes[i]]``, hashed to ``hashes[codes[i]]``."""

    codes: NDArray[np.int32]  # place of each item's label in the table
    hashes: NDArray[np.uint64]  # hash of each label of the table
    values: Any  # a sequence, one per hash: what the labels were

    @classmethod
    def from_values(cls, values: Sequence[Any] | NDArray[Any]) -> Labels:
        """Encode one label per item."""
        array = values if isinstance(values, np.ndarray) else None
        if array is not None and array.ndim == 1 and array.dtype.kind in "iub":
            return cls._from_integers(array)
        if array is not None and array.ndim == 2 and array.shape[1] == 1:
            return cls.from_values(array[:, 0])
        if array is not None and array.ndim == 2 and array.dtype.kind != "O":
            rows, codes = np.unique(array, axis=0, return_inverse=True)
            return cls.from_table(codes.ravel(), [tuple(row) for row in rows.tolist()])
        if array is not None and array.ndim != 1:
            raise LabelError(f"labels must be one value or one row of values each, not an array of shape {array.shape}")
        return cls._from_objects(values.tolist() if isinstance(values, np.ndarray) else values)

    @classmethod
    def _from_integers(cls, array: NDArray[Any]) -> Labels:
        if array.dtype == np.uint64:  # may exceed int64, where the vectorised hash stops
            return cls._from_objects(array.tolist())
        unique, codes = np.unique(array, return_inverse=True)
        return cls(codes.astype(np.int32), hash_integers(unique), tuple(unique.tolist()))

    @classmethod
    def _from_objects(cls, values: Sequence[Any]) -> Labels:
        table: dict[Any, int] = {}
        try:
            codes = np.fromiter((table.setdefault(v, len(table)) for v in values), np.int32, len(values))
        except TypeError:
            kind = next((type(v).__name__ for v in values if not _is_hashable(v)), "?")
            raise LabelError(
                f"a label of type {kind!r} is not hashable; use a number, a string or a tuple of these"
            ) from None
        return cls.from_table(codes, list(table))

    @classmethod
    def from_table(cls, codes: NDArray[Any], values: list[Any]) -> Labels:
        """Labels whose table is known already: values[codes[i]]."""
        try:
            hashes = np.fromiter(map(hash_label, values), np.uint64, len(values))
        except RecursionError:
            raise LabelError("a label is nested too deeply; use a number, a string or a tuple of these") from None
        return cls(codes.astype(np.int32), hashes, tuple(values))

    @classmethod
    def from_hashes(cls, hashes: NDArray[np.uint64]) -> Labels:
        """Labels of which nothing but the hashes is known."""
        table, codes = np.unique(hashes, return_inverse=True)
        return cls(codes.astype(np.int32), table, table)

    @classmethod
    def concatenate(cls, parts: Sequence[Labels]) -> Labels:
        """Join labels, merging their tables by hash."""
        codes = np.concatenate([part.codes for part in parts])
        if all(part.hashes is parts[0].hashes for part in parts):
            return cls(codes, parts[0].hashes, parts[0].values)
        tables = np.concatenate([part.hashes for part in parts])
        hashes, first, merged = np.unique(tables, return_index=True, return_inverse=True)
        offsets = np.cumsum([0] + [len(part.hashes) for part in parts[:-1]])
        codes = merged.astype(np.int32)[codes + np.repeat(offsets, [len(part.codes) for part in parts])]
        values = [value for part in parts for value in part.values]
        return cls(codes, hashes, tuple(values[i] for i in first))

    @property
    def hashed(self) -> NDArray[np.uint64]:
        """The 64-bit hash of every item."""
        return self.hashes[self.codes]

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, index: Any) -> Labels:
        return Labels(self.codes[index], self.hashes, self.values)

    def decode(self) -> list[Any]:
        """The labels as they were given."""
        return [self.values[code] for code in self.codes.tolist()]


def local_codes(labels: Labels | None, count: int) -> tuple[NDArray[Any], NDArray[np.uint64]]:
    """Codes and hashes of the labels that occur."""
    if labels is None:
        return np.zeros(count, np.int32), np.zeros(1, np.uint64)
    if len(labels.hashes) <= max(count, 1):
        return labels.codes, labels.hashes
    present, codes = np.unique(labels.codes, return_inverse=True)
    return codes.astype(np.int32), labels.hashes[present]
