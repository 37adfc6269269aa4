"""Labels: any hashable, hashed to 64 bits, the same in every process."""

import enum
import subprocess
import sys
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from gvoys.errors import LabelError
from gvoys.graphs.labels import Labels, hash_integers, hash_label


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


@dataclass(frozen=True)
class Atom:
    symbol: str
    charge: int


@dataclass(frozen=True, slots=True)
class Slotted:
    symbol: str


class Text(enum.StrEnum):
    C = "C"


class Opaque:
    """Compares by identity, so that no hash of it can be stable."""


VALUES = [
    *(0, -1, 2**70, 0.5, "C", "", b"C", None, (), ("C", 1), ("C", ("N", 2)), frozenset({1, 2}), Decimal("0.1"), 1 + 2j),
    *(Colour.RED, Colour.BLUE, Atom("C", 0), Atom("C", 1), Slotted("C"), Slotted("O")),
]


def test_distinct_values_have_distinct_hashes():
    assert len({hash_label(value) for value in VALUES}) == len(VALUES)
    assert len(np.unique(hash_integers(np.arange(-50_000, 50_000)))) == 100_000


def test_equal_values_of_different_types_have_one_hash():
    ones = [1, 1.0, True, np.int8(1), np.uint64(1), np.float32(1), Fraction(1)]
    assert len({hash_label(one) for one in ones}) == 1
    assert hash_label(("C", 1)) == hash_label(("C", 1.0))
    assert hash_label(frozenset({1, 2, 3})) == hash_label(frozenset({3, 2, 1}))
    assert hash_label(np.str_("C")) == hash_label(Text.C) == hash_label("C")
    assert hash_label(np.True_) == hash_label(1 + 0j) == hash_label(1)
    assert hash_label(Decimal("0.50")) == hash_label(0.5)
    assert hash_label(Decimal("0.10")) == hash_label(Decimal("0.1"))


def test_known_hashes():
    """Written down once: stored profiles depend on them."""
    assert hash_label(1) == 10451216379200822465  # splitmix64's first output for seed 1
    assert hash_label("C") == 13365168099191852923
    assert hash_label(("C", 1)) == 8799669073128230862


def test_another_process_agrees():
    code = "from gvoys.graphs.labels import hash_label; print(hash_label(('C', 1, frozenset('abc'))))"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert int(other) == hash_label(("C", 1, frozenset("abc")))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (float("nan"), "a label is nan"),
        (Opaque(), "'Opaque' compares by identity or is not hashable.*use a number, a string or a tuple"),
        *((value, "not hashable.*use a number, a string or a tuple") for value in (["a"], {"a": 1}, ("a", []))),
    ],
)
def test_labels_without_a_stable_hash_are_refused(value, message):
    for call in (hash_label, lambda value: Labels.from_values([value])):
        with pytest.raises(LabelError, match=message):
            call(value)


@pytest.mark.parametrize(
    "values",
    [
        *(["C", "N", "C"], [3, "C", (1, 2)], np.array([5, -2, 5]), np.array([2**64 - 1, 0], np.uint64)),
        *(np.array(["C", "N"]), np.array([0.5, 1.0]), np.array([True, False])),
    ],
    ids=repr,
)
def test_values_come_back_and_hash_as_they_do_alone(values):
    labels = Labels.from_values(values)
    expected = values.tolist() if isinstance(values, np.ndarray) else values
    assert labels.decode() == expected
    assert labels.hashed.tolist() == [hash_label(value) for value in expected]


def test_rows_of_several_columns_are_tuples():
    labels = Labels.from_values(np.array([[0, 1], [2, 3], [0, 1]]))
    assert labels.decode() == [(0, 1), (2, 3), (0, 1)]
    assert Labels.from_values(np.array([[4], [5]])).decode() == [4, 5]


def test_concatenation_merges_tables_by_hash():
    joined = Labels.concatenate(
        [Labels.from_values(["C", "N"]), Labels.from_values(["O", "C"]), Labels.from_values([1])]
    )
    assert joined.decode() == ["C", "N", "O", "C", 1]
    assert len(joined.hashes) == 4
