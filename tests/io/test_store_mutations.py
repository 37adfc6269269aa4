"""Stores changed at random whose checksums fit: refused in one sentence, or valid by an independent look at them."""

import os

import networkx as nx
import numpy as np
import pytest
from mutations import ODD, change_form, change_json, change_numbers, check_valid
from store_files import take_apart, write_again

import gvoys as gv
from gvoys.errors import GvoysError, StoreError

VALUES = [*ODD, {"tuple": 3}, {"tuple": [{"b": 1}]}, {"bytes": "zz"}, {"bytes": 1}, {"text": []}, {"text": "t"}]


def several_edges(seed):
    graph = nx.MultiGraph(nx.gnp_random_graph(8, 0.4, seed=seed))
    graph.add_edges_from(list(graph.edges)[::2])
    for place, edge in enumerate(graph.edges):
        graph.edges[edge].update(label="abc"[place % 3], weight=0.25 * (place + 1))
    nx.set_node_attributes(graph, {u: [u / 3, 1.0] for u in graph}, "a")
    return graph


SOURCES = {
    "molecules": lambda: gv.datasets.molecules(6, random_state=1),
    "parallel": lambda: gv.as_batch([several_edges(k) for k in range(3)], node_attributes="a"),
    "directed": lambda: gv.as_batch([nx.gnp_random_graph(7, 0.4, seed=k, directed=True) for k in range(3)]),
    "plain": lambda: gv.datasets.erdos_renyi(3, 9, 0.4),
}


# -- changes
def change_tables(values, rng):
    name = sorted(values)[rng.integers(len(values))]
    table = values[name]
    match rng.integers(5):
        case 0:
            values[name] = [*table, "more"]
        case 1:
            values[name] = table[:-1]
        case 2:
            values[name] = VALUES[rng.integers(len(VALUES))]
        case 3:
            values[name] = [b"", b"[1", b"\xff", b"[" * 100_000, b"[NaN]"][rng.integers(5)]
        case 4:
            table[rng.integers(len(table))] = VALUES[rng.integers(len(VALUES))]


def change(arrays, values, rng):
    """Change arrays or tables in place; return what is to be changed in the manifest."""
    names = sorted(name for name in arrays if arrays[name].size)
    name = names[rng.integers(len(names))]
    match rng.integers(10):
        case 0:
            arrays[name] = change_form(arrays[name], rng)
        case 1:
            arrays.pop(name)
        case 2 if values:
            change_tables(values, rng)
        case 3 | 4:
            return lambda body: change_json(body, rng)
        case 5:
            return lambda body: body.update(directed=not body["directed"])
        case _:
            arrays[name] = change_numbers(arrays[name].copy(), rng)
    return lambda body: None


# -- what came of them
def check_profiles(batch):
    for method in ("moments", "sketch"):
        try:
            found = gv.profiles(batch, gv.Walk(2), method=method, n_components=8)
        except GvoysError:  # walks too many for float64
            assert batch.edge_weights is not None
            assert np.abs(batch.edge_weights).max() > 1e100
        else:
            assert len(found) == len(batch)


def open_or_refuse(folder, verify):
    try:
        return gv.open_store(folder, verify=verify), ""
    except StoreError as error:
        return None, str(error)


def run_changes(folder, count, seed):
    """Numbers of stores that were opened and refused; anything else raises."""
    rng = np.random.default_rng(seed)
    parts = {}
    for name, make in SOURCES.items():
        gv.write_store(make(), folder / name)
        parts[name] = take_apart(folder / name)
    opened = refused = 0
    for k in range(count):
        target = folder / "changed"
        target.mkdir(exist_ok=True)
        for file in target.iterdir():
            file.unlink()
        arrays, values, manifest = parts[list(SOURCES)[k % len(SOURCES)]]
        arrays, values = dict(arrays), {name: list(table) for name, table in values.items()}
        write_again(target, arrays, values, manifest, change(arrays, values, rng))
        verify = bool(rng.integers(2))
        batch, sentence = open_or_refuse(target, verify)
        if batch is None:
            refused += 1
            assert sentence
            assert "\n" not in sentence
            continue
        opened += 1
        check_valid(batch, verify and not batch.directed)
        check_profiles(batch)
    return opened, refused


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_changed_stores_are_valid_or_refused(tmp_path):
    count = int(os.environ.get("GVOYS_STORE_MUTATIONS", "300"))  # make fuzz tries 5,000
    opened, refused = run_changes(tmp_path, count, seed=0)
    print(f"{count} changed stores: {opened} opened and valid, {refused} refused in one sentence")
    assert opened > 0.05 * count
    assert refused > 0.5 * count
