"""Damaged inputs: mutators of bytes, values of the wrong kind, and an oracle that tells a valid batch from others."""

import re

import numpy as np

INTERESTING = [
    *(b"0", b"-1", b"1", b"1.5", b"99999999999999999999", b"9223372036854775807", b"-9223372036854775808"),
    *(b"2147483648", b"4294967296", b"nan", b"inf", b"-inf", b"1e308", b"1e400", b"5e-324", b"0x10", b"1_000"),
    *(b"\xef\xbb\xbf", b"\xff\xfe", b"\x00", b"\r", b"\r\n", b"\n", b"\n\n", b",", b",,", b" ", b"\t", b'"', b"'"),
    *(b"{", b"}", b"[", b"]", b":", b"null", b"true", b"\\ud800", b"\xe2\x80\xa8", b"\xc2\x85", b"\xc3"),
    *(b"\xf0\x9f\x98\x80", b"=cmd()", b"<script>", b"../", b"%s", b"", b"\x1c", b"\x0b", b"\x85", b"[H]", b"[#0]"),
    *(b"*", b"~", b"~~~~~~~~", b"?", b"1" * 5000),
]


def mutate(content, rng):
    """Change a few bytes, numbers or lines."""
    data = bytearray(content)
    for _ in range(rng.choice([1, 1, 1, 2, 3, 8, 30])):
        data = bytearray(_CHANGES[rng.integers(len(_CHANGES))](data, rng))
    return bytes(data)


def _set(data, rng):
    data[_place(data, rng) : _place(data, rng) + 1] = rng.bytes(1)
    return data


def _flip(data, rng):
    if data:
        data[rng.integers(len(data))] ^= 1 << rng.integers(8)
    return data


def _insert(data, rng):
    place = _place(data, rng)
    return data[:place] + INTERESTING[rng.integers(len(INTERESTING))] + data[place:]


def _delete(data, rng):
    place = _place(data, rng)
    return data[:place] + data[place + rng.choice([1, 2, 4, 16, 200]) :]


def _repeat(data, rng):
    place, other = _place(data, rng), _place(data, rng)
    return data[:place] + data[other : other + rng.choice([1, 4, 30, 300])] + data[place:]


def _cut(data, rng):
    return data[: _place(data, rng)] if rng.random() < 0.3 else data


def _renumber(data, rng):
    """Another number in the place of one."""
    place = _place(data, rng)
    found = list(re.finditer(rb"\d+", bytes(data[place : place + 400])))
    if not found:
        return data
    one = found[rng.integers(len(found))]
    other = INTERESTING[rng.integers(len(INTERESTING))]
    return data[: place + one.start()] + other + data[place + one.end() :]


def _copy(data, rng):
    place, other = _place(data, rng), _place(data, rng)
    return data[:place] + data[other : other + 8] + data[place + 8 :]


def _lines(data, rng):
    """A line removed, doubled, emptied or turned round; or other line ends."""
    if rng.random() < 0.1:
        return data.replace(b"\n", [b"\r", b"\r\n", b"\n\r"][rng.integers(3)])
    lines = bytes(data).split(b"\n")
    place = rng.integers(len(lines))
    line = lines[place]
    lines[place : place + 1] = [[], [line, line], [b""], [line[::-1]]][rng.integers(4)]
    return b"\n".join(lines)


def _mark(data, rng):
    return b"\xef\xbb\xbf" + data


def _place(data, rng):
    return int(rng.integers(len(data) + 1))


_CHANGES = [_set, _flip, _flip, _insert, _insert, _delete, _repeat, _cut, _renumber, _renumber, _copy, _lines, _mark]

POOL = [
    *(None, 0, 1, -1, 2**31, 2**63, 2**64, -(2**63), 10**30, 10**400, 0.5, -0.5, 1e308, 1e-320, float("nan")),
    *(float("inf"), -float("inf"), True, False, "", "x", "CCO", "auto", "a\x00b", "a\nb", "\ud800", "../../x", b"x"),
    *([], [0], [[0, 1]], [[0, 1], [1]], [[0, 5]], [[-1, 0]], [[0.5, 1]], [None], ["a"], {}, {"a": 1}, {1, 2}, (), (1,)),
    *([3, 2], [0, 0], [5], [-3, 2], [2**62] * 3, [2**31 - 1] * 2000, [3.0, 2.0], [10**30, 1], [10**400] * 5),
    *(["a"] * 5, [None] * 5, [1.0] * 2, [float("nan")] * 5, [float("inf")] * 3, [1e200] * 3, [5e-324] * 3, b""),
    *(object(), len, range(5), complex(1, 2), np.datetime64("2020-01-01"), np.float32("nan"), np.int8(3)),
    *([[1, 2]] * 5, np.array(3), np.array(0.5), np.array("a"), np.array([]), np.empty((0, 2)), np.empty((0, 0, 0))),
    np.array([[0, 1]]),
    *(np.array([[0, 1]], float), np.array([[0, 1]], object), np.array([[0, 1]], "datetime64[s]"), np.array([1 + 2j])),
    *(np.array([3, 2], np.int8), np.array([127, 127], np.int8), np.array([3.0, 2.0]), np.array(["a", "b"])),
    *(np.array([b"a"]), np.ma.array([1, 2], mask=[0, 1]), np.ones((5, 2)), np.full((5, 1), np.nan), np.arange(1, 6)),
    *(np.array([True, False]), np.zeros((3, 3)), np.eye(2), np.array([{}, []], object), np.array([None, None])),
]


def wrong(rng):
    """A value of some kind or other."""
    return POOL[rng.integers(len(POOL))]


def mess_up(value, rng, rate=0.12):
    """Replace some of what nested lists and dictionaries hold."""
    if rng.random() < rate:
        return wrong(rng)
    if isinstance(value, dict):
        names = ["id", "label", "source", "target", "weight", 3]
        renamed = {(names[rng.integers(len(names))] if rng.random() < 0.05 else name): name for name in value}
        return {name: mess_up(value[old], rng, rate) for name, old in renamed.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(mess_up(item, rng, rate) for item in value)
    return value


def check_valid(batch, mirrored):
    """An independent look at a batch, in plain NumPy; `mirrored` if each edge must stand in both directions."""
    offsets, indptr, indices = (np.array(getattr(batch, name), int) for name in ("node_offsets", "indptr", "indices"))
    assert type(batch.directed) is bool
    for pointers, end in ((offsets, len(indptr) - 1), (indptr, len(indices))):
        assert pointers[0] == 0
        assert pointers[-1] == end
        assert (np.diff(pointers) >= 0).all()
    degrees, sizes = np.diff(indptr), np.diff(offsets)
    rows = np.repeat(np.arange(len(degrees)), degrees)
    size = np.repeat(sizes, sizes)[rows]
    assert ((indices >= 0) & (indices < size)).all()
    assert (np.diff(indices)[np.diff(rows) == 0] >= 0).all()
    for labels, count in ((batch.node_labels, len(degrees)), (batch.edge_labels, len(indices))):
        if labels is not None:
            assert len(labels.codes) == count
            assert len(labels.hashes) == len(labels.values)
            assert np.isin(labels.codes, np.arange(len(labels.hashes))).all()
            assert len({hash(value) for value in labels.values}) <= len(labels.values)
    weights = np.ones(len(indices)) if batch.edge_weights is None else batch.edge_weights
    assert weights.shape == indices.shape
    assert np.isfinite(weights).all()
    if batch.node_attributes is not None:
        assert len(batch.node_attributes) == len(degrees)
        assert np.isfinite(batch.node_attributes).all()
    if mirrored:
        columns = indices + np.repeat(offsets[:-1], sizes)[rows]
        codes = np.zeros(len(rows), int) if batch.edge_labels is None else batch.edge_labels.codes
        ways = [np.lexsort((weights, codes, *ends)) for ends in ((rows, columns), (columns, rows))]
        for forward, backward in ((rows, columns), (columns, rows), (codes, codes)):
            np.testing.assert_array_equal(forward[ways[0]], backward[ways[1]])
        np.testing.assert_allclose(weights[ways[0]], weights[ways[1]], rtol=2e-12)


def change_file(folder, rng):
    """Change one file of a folder; gives its kind."""
    files = [file for file in sorted(folder.rglob("*")) if file.is_file()]
    file = files[rng.integers(len(files))]
    match rng.integers(10):
        case 0:
            file.unlink()
        case 1:
            file.write_bytes(files[rng.integers(len(files))].read_bytes())  # often a part for another part
        case _:
            file.write_bytes(mutate(file.read_bytes(), rng))
    return "part" if file.name.startswith("part-") else file.name


NUMBERS = [-1, 0, 1, 2, 3, 7, 50, 2**30, 2**31 - 1, -(2**31), 2**40, -(2**63), np.nan, np.inf, 0.5, 1e300]
ODD = [None, True, -1, 3, 3.5, 10**30, "", "x", "<i8", "<f4", ">i4", "|O", [], [1], [[1]], [-1], [2**60], {}, {"a": 1}]


def change_numbers(array, rng):
    flat = array.reshape(-1)
    place = rng.integers(flat.size)
    match rng.integers(5):
        case 0 | 1:
            with np.errstate(all="ignore"):
                flat[place] = np.array(NUMBERS[rng.integers(len(NUMBERS))]).astype(array.dtype)
        case 2:
            flat[place] += flat.dtype.type(1) if rng.integers(2) else -flat.dtype.type(1)
        case 3:
            other = rng.integers(flat.size)
            flat[[place, other]] = flat[[other, place]]
        case 4:
            flat.view(np.uint8)[rng.integers(flat.nbytes)] = rng.integers(256)
    return array


def change_form(array, rng):
    match rng.integers(5):
        case 0:
            return array[:-1]
        case 1:
            return np.concatenate([array, array[-1:]])
        case 2:
            with np.errstate(all="ignore"):
                return array.astype([np.int64, np.int32, np.float64, np.uint64, np.int8, ">i4"][rng.integers(6)])
        case 3:
            return array.reshape(-1, 1) if array.ndim == 1 else array.reshape(-1)
        case _:
            return array[:0]


def change_json(body, rng):
    """Remove something from nested dictionaries and lists, or put another value there."""
    held = body
    while True:
        key = (sorted(held) if isinstance(held, dict) else range(len(held)))[rng.integers(len(held))]
        if not isinstance(held[key], (dict, list)) or not held[key] or rng.random() < 0.2:
            break
        held = held[key]
    if rng.random() < 0.3:
        del held[key]
    else:
        held[key] = ODD[rng.integers(len(ODD))]
