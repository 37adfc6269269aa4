"""Counter-based random bits: known answers, and independence of different purposes."""

import numpy as np
import pytest

from gvoys._compiled.cpu.randomness import EDGE, NODE, normal_table, philox, sign_table, uniform_table

# Random123's known answers for philox4x32-10: counter, key, output
KNOWN = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


@pytest.mark.parametrize(("counter", "key", "expected"), KNOWN)
def test_known_answers(counter, key, expected):
    assert philox(*map(np.uint64, (*counter, *key))) == expected


def table(seed=1, purpose=NODE, groups=range(4), n_steps=5, labels=range(50)):
    return sign_table(seed, purpose, np.array(groups), n_steps, np.array(labels, np.uint64))


def test_a_word_depends_on_its_name_alone():
    signs, places = table()
    part_signs, part_places = table(groups=[2], n_steps=3, labels=[7, 3])
    np.testing.assert_array_equal(part_signs[0], signs[2, :3][:, [7, 3]])
    np.testing.assert_array_equal(part_places[0], places[2, :3][:, [7, 3]])


@pytest.mark.parametrize(
    "other", [{"seed": 2}, {"purpose": EDGE}, {"groups": range(4, 8)}, {"labels": range(50, 100)}, {"seed": 1 + 2**32}]
)
def test_every_part_of_the_name_matters(other):
    assert not (table()[0] == table(**other)[0]).any()


def test_bits_and_places_are_uniform():
    signs, places = table(groups=range(16), n_steps=8, labels=range(200))
    bits = np.unpackbits(signs.view(np.uint8).ravel()).astype(float)
    assert abs(bits.mean() - 0.5) * 2 * np.sqrt(bits.size) < 5
    counts = np.bincount(places.ravel() % 128, minlength=128)
    expected = places.size / 128
    assert abs(((counts - expected) ** 2 / expected).sum() - 127) < 5 * np.sqrt(2 * 127)


def test_uniform_and_normal_numbers():
    uniform = uniform_table(3, NODE, np.arange(8), 4, 1000).ravel()
    assert 0 < uniform.min() < uniform.max() < 1
    assert abs(uniform.mean() - 0.5) * np.sqrt(12 * uniform.size) < 5
    normal = normal_table(3, NODE, np.arange(8), 4, 1000).ravel()
    assert abs(normal.mean()) * np.sqrt(normal.size) < 5
    assert abs((normal**2).mean() - 1) * np.sqrt(normal.size / 2) < 5
