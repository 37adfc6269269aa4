"""Folders of indexes, changed at random: the same hits, or one sentence when they are opened.

GVOYS_INDEX_MUTATIONS is the number of changed folders: to one half checksums were fitted, so that only the content can
give them away. GVOYS_INDEX_BITS is how many of the bits of index.json are flipped, one at a time.
"""

import json
import os
import shutil
import zlib
from collections import Counter

import numpy as np
import pytest
from mutations import change_file, change_form, change_json, change_numbers
from raising import raises
from store_files import take_apart, write_again

import gvoys as gv
from gvoys.errors import GvoysError, StoreError
from gvoys.io.container import read_container, write_container
from gvoys.io.store.store_reader import checksum_file, npy_header
from gvoys.search.folder import read_chemistry

CHANGES = int(os.environ.get("GVOYS_INDEX_MUTATIONS", "80"))
BITS = int(os.environ.get("GVOYS_INDEX_BITS", "300"))
LIBRARY = gv.datasets.molecules(40, mean_nodes=8, random_state=1)
QUERIES = gv.datasets.molecules(3, mean_nodes=8, random_state=2)


@pytest.fixture(scope="module")
def intact(tmp_path_factory):
    folder = tmp_path_factory.mktemp("intact") / "index"
    gv.Index(n_candidates=12, width=16).add(LIBRARY[:30], [f"a{i}" for i in range(30)]).save(folder)
    gv.Index.open(folder).add(LIBRARY[30:]).save(folder)
    return folder


@pytest.fixture
def folder(intact, tmp_path):
    return shutil.copytree(intact, tmp_path / "index")


def answers(folder):
    hits = gv.Index.open(folder).nearest(QUERIES, 5)
    return [each.tolist() for each in hits], read_chemistry(folder)


def outcome(work):
    """What `work` returns, or one sentence."""
    said = ""
    try:
        return work(), said
    except GvoysError as error:
        said = str(error)
    assert 0 < len(said) < 600
    assert "\n" not in said
    return None, said


# -- checksums that do not fit
def show(counts):
    for (kind, what), times in sorted(counts.items()):
        print(f"{kind}: {what}: {times}")


def test_every_bit_of_the_manifest(intact, folder):
    expected, file = answers(intact), folder / "index.json"
    data, said = file.read_bytes(), 0
    bits = np.unique(np.linspace(0, 8 * len(data) - 1, min(BITS, 8 * len(data))).astype(int))
    for bit in bits.tolist():
        changed = bytearray(data)
        changed[bit // 8] ^= 1 << bit % 8
        file.write_bytes(changed)
        result, sentence = outcome(lambda: answers(folder))
        assert sentence or result == expected, f"bit {bit}"
        said += bool(sentence)
    print(f"index.json: {len(bits)} of {8 * len(data)} bits flipped, {said} damages told, {len(bits) - said} harmless")
    assert said > len(bits) / 2


def test_damaged_folders_give_the_same_hits_or_a_sentence(intact, tmp_path):
    expected, folder, counts, rng = answers(intact), tmp_path / "index", Counter(), np.random.default_rng(0)
    for _ in range(CHANGES // 2):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(intact, folder)
        kind = change_file(folder, rng)
        result, sentence = outcome(lambda: answers(folder))
        assert sentence or result == expected
        counts[kind, "sentence" if sentence else "same hits"] += 1
    show(counts)


# -- checksums that fit
def fit(folder, change=lambda about: None):
    """Checksums of whatever is there now, in a manifest that `change` alters before it is summed up."""
    about = json.loads((folder / "index.json").read_text())
    about.pop("checksum", None)
    about["coder"] = checksum_file(folder / "coder.gvoys")
    for place, segment in enumerate(about["segments"]):
        segment["files"] = {name: checksum_file(folder / f"segment-{place:04d}" / name) for name in segment["files"]}
    change(about)
    about["checksum"] = zlib.crc32(json.dumps(about, sort_keys=True).encode())
    (folder / "index.json").write_text(json.dumps(about))


def save(file, array):
    """As indexes are written; of an object, what says that it is one."""
    file.write_bytes(npy_header(array.dtype, array.shape) + array.tobytes())


def change_array(folder, rng):
    file = folder / f"segment-000{rng.integers(2)}" / f"{['values', 'scales', 'rests'][rng.integers(3)]}.npy"
    array = np.load(file)
    save(file, change_form(array, rng) if rng.random() < 0.5 else change_numbers(array, rng))


def change_ids(folder, rng):
    file = folder / f"segment-000{rng.integers(2)}" / "ids.json"
    ids = json.loads(file.read_text())
    change_json(ids, rng)
    file.write_text(json.dumps(ids))


def change_graphs(folder, rng):
    graphs = folder / f"segment-000{rng.integers(2)}" / "graphs"
    arrays, values, manifest = take_apart(graphs)
    name = sorted(arrays)[rng.integers(len(arrays))]
    arrays[name] = change_form(arrays[name], rng) if rng.random() < 0.5 else change_numbers(arrays[name].copy(), rng)
    write_again(graphs, arrays, values, manifest)


def change_coder(folder, rng):
    content = read_container(folder / "coder.gvoys")
    places = [*_arrays(content)]
    held, key = places[rng.integers(len(places))]
    if rng.random() < 0.3:
        change_json(content, rng)
    elif held[key].size:
        held[key] = change_form(held[key], rng) if rng.random() < 0.5 else change_numbers(held[key].copy(), rng)
    write_container(folder / "coder.gvoys", content)


def _arrays(value):
    for key in value if isinstance(value, dict) else range(len(value)):
        if isinstance(value[key], np.ndarray):
            yield value, key
        elif isinstance(value[key], (dict, list)):
            yield from _arrays(value[key])


CRAFTED = [change_array, change_array, change_ids, change_graphs, change_coder]


@pytest.mark.filterwarnings("ignore")
def test_folders_with_checksums_that_fit_are_searched_or_named(intact, tmp_path):
    folder, counts, rng = tmp_path / "index", Counter(), np.random.default_rng(1)
    for _ in range(CHANGES - CHANGES // 2):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(intact, folder)
        how = rng.integers(2 * len(CRAFTED))
        if how < len(CRAFTED):
            CRAFTED[how](folder, rng)
        fit(folder, (lambda about: None) if how < len(CRAFTED) else (lambda about: change_json(about, rng)))
        result, sentence = outcome(lambda: answers(folder))
        if not sentence:
            (_, similarities, intervals), _ = result
            assert np.shape(similarities) == (3, 5)
            assert np.isfinite(similarities).all()
            assert np.shape(intervals) == (3, 5, 2)
        name = CRAFTED[how].__name__ if how < len(CRAFTED) else "change_manifest"
        counts[name, "sentence" if sentence else "hits"] += 1
    show(counts)


def put(name, change):
    def work(folder):
        file = folder / "segment-0000" / f"{name}.npy"
        save(file, change(np.load(file)))

    return work


def rewrite(ids):
    return lambda folder: (folder / "segment-0000" / "ids.json").write_text(json.dumps(ids))


def change_root(change):
    def work(folder):
        content = read_container(folder / "coder.gvoys")
        content["parts"]["root"] = change(content["parts"]["root"])
        write_container(folder / "coder.gvoys", content)

    return work


FORMS = {
    "values are too narrow": put("values", lambda values: values[:, :-1]),
    "values are too wide": put("values", lambda values: np.repeat(values, 2, axis=1)),
    "values are flat": put("values", np.ravel),
    "values are of another type": put("values", lambda values: values.astype(float)),
    "there are too few values": put("values", lambda values: values[:-1]),
    "there are too few scales": put("scales", lambda values: values[:-1]),
    "scales are of another type": put("scales", lambda values: values.astype("<f8")),
    "scales are integers": put("scales", lambda values: values.astype(np.int32)),
    "scales are of another byte order": put("scales", lambda values: values.astype(">f4")),
    "scales are of two dimensions": put("scales", lambda values: values[:, None]),
    "a scale is not finite": put("scales", lambda values: np.where(values == values[3], np.nan, values)),
    "there are no rests": put("rests", lambda values: values[:0]),
    "a rest is not finite": put("rests", lambda values: np.where(values == values[3], np.inf, values)),
    "rests are objects": put("rests", lambda values: values.astype(object)),
    "ids are no dictionary": rewrite(["a"] * 30),
    "ids are text": rewrite({"ids": "a" * 30}),
    "ids are lists": rewrite({"ids": [["a"]] * 30}),
    "ids are missing": rewrite({}),
    "there are too few ids": rewrite({"ids": ["a"] * 29}),
    "a range has no end": rewrite({"range": [0]}),
    "a range has steps": rewrite({"range": [0, 60, 2]}),
    "a range is of text": rewrite({"range": ["0", "30"]}),
    "a range is too long": rewrite({"range": [0, 10**30]}),
    "landmarks are too few": change_root(lambda root: np.vstack([root, root])),
    "the root is flat": change_root(np.ravel),
    "the root is not finite": change_root(lambda root: root * np.nan),
    "the root is wider": change_root(lambda root: np.hstack([root, root])),
}


@pytest.mark.parametrize("name", FORMS)
def test_what_is_of_another_form_is_told_when_it_is_opened(folder, name):
    FORMS[name](folder)
    fit(folder)
    raises(StoreError, r"the index .*index is damaged.*; remove it and build it again", gv.Index.open, folder)


MANIFESTS = {
    "a segment twice": lambda about: about["segments"].append(about["segments"][0]),
    "segments in another order": lambda about: about["segments"].reverse(),
    "a segment that is no dictionary": lambda about: about.update(segments=["segment-0000"]),
    "segments that are no list": lambda about: about.update(segments={"segment-0000": 1}),
    "a file outside": lambda about: about["segments"][0].update(files={"../index.json": 1}),
    "files that are missing": lambda about: about["segments"][0]["files"].clear(),
    "files that are no dictionary": lambda about: about["segments"][0].update(files=3),
    "too many graphs": lambda about: about["segments"][0].update(n_graphs=10**30),
    "fewer graphs": lambda about: about["segments"][0].update(n_graphs=-1),
    "no candidates": lambda about: about.update(n_candidates=0),
    "candidates that are no number": lambda about: about.update(n_candidates="many"),
    "candidates that are not whole": lambda about: about.update(n_candidates=12.5),
    "candidates that are true": lambda about: about.update(n_candidates=True),
    "no coder": lambda about: about.pop("coder"),
    "a reading that is no dictionary": lambda about: about.update(reading=[1]),
}


@pytest.mark.parametrize("name", MANIFESTS)
def test_what_a_manifest_cannot_say(folder, name):
    fit(folder, MANIFESTS[name])
    raises(StoreError, r"the index .*index is damaged.*; remove it and build it again", gv.Index.open, folder)
    raises(StoreError, "is damaged", lambda: gv.Index.open(folder).save(folder))


def test_manifests_that_were_edited(folder):
    about = json.loads((folder / "index.json").read_text())
    for change in ({"n_candidates": 5}, {"segments": []}, {"version": 2.5}):
        (folder / "index.json").write_text(json.dumps(about | change))
        raises(StoreError, r"the index .* is damaged|another version", gv.Index.open, folder)
    for version in (1, 99):  # names of segments, which could be absolute, are not read any more
        (folder / "index.json").write_text(json.dumps(about | {"version": version}))
        raises(StoreError, "was made by another version of gvoys; build it again", gv.Index.open, folder)
    (folder / "index.json").write_text(json.dumps(about))
    shutil.rmtree(folder / "segment-0000" / "graphs")
    gv.write_store(gv.datasets.molecules(30, mean_nodes=8, random_state=9), folder / "segment-0000" / "graphs")
    raises(StoreError, "is damaged", gv.Index.open, folder)


def test_more_candidates_than_graphs_are_all_of_them(intact, tmp_path):
    ids, _, _ = gv.Index.open(intact).nearest(QUERIES, 5)
    index = gv.Index(n_candidates=10**9, width=16).add(LIBRARY[:30], [f"a{i}" for i in range(30)]).add(LIBRARY[30:])
    index.save(tmp_path / "index")
    for each in (index, gv.Index.open(tmp_path / "index")):
        assert each.nearest(QUERIES, 5).ids[:, 0].tolist() == ids[:, 0].tolist()
