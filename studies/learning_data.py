"""Molecules with measured properties, from the folder molecules/ of GVOYS_DATA, and how they are split."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

import gvoys as gv
from gvoys.errors import DatasetError
from gvoys.io import open_graphs, scaffolds
from gvoys.io.fetch import data_folder

MOLECULEACE = (
    "CHEMBL1862_Ki",
    "CHEMBL2034_Ki",
    "CHEMBL204_Ki",
    "CHEMBL2147_Ki",
    "CHEMBL218_EC50",
    "CHEMBL237_EC50",
    "CHEMBL244_Ki",
    "CHEMBL262_Ki",
    "CHEMBL4005_Ki",
    "CHEMBL4616_EC50",
)
GENERATED = "generated"  # many molecules that need no file
COPIED = "Lipophilicity, again and again"  # a million, as they are in a library
_CLASSES = ("bace", "bbbp")
_TARGETS = {
    "ESOL": "measured log solubility in mols per litre",
    "FreeSolv": "expt",
    "Lipophilicity": "exp",
    "Photoswitch": "E isomer pi-pi* wavelength in nm",
    "bace": "Class",
    "bbbp": "p_np",
    "qm7": "u0_atom",
}


class Split(NamedTuple):
    """Which molecules are learned from: "own", "random", "scaffold", "inner" or "first", and its seed or number."""

    kind: str
    number: int = 0

    def __str__(self) -> str:
        return f"{self.kind} {self.number}"


@dataclass(frozen=True, eq=False)
class Molecules:
    """One set; `own` and `cliffs` mark training rows and activity cliffs where the set does."""

    batch: gv.GraphBatch
    y: np.ndarray
    smiles: Sequence[str]
    classes: np.ndarray | None = None
    own: np.ndarray | None = None
    cliffs: np.ndarray | None = None
    n_skipped: int = 0


@lru_cache(1)
def read(name: str) -> Molecules:
    """Read a set; rows without a target, or with SMILES that RDKit cannot read, are skipped and counted."""
    if name == GENERATED:
        batch = gv.datasets.molecules(100_000, mean_nodes=15)
        return Molecules(batch, batch.graph_sizes + np.random.default_rng(0).normal(size=len(batch)), ())
    if name == COPIED:
        some = read.__wrapped__("Lipophilicity")
        rows = np.arange(1_000_000) % len(some.batch)
        return Molecules(some.batch[rows], some.y[rows], ())
    path = _path(name)
    if not path.exists():
        raise DatasetError(f"{path} is not here: set GVOYS_DATA to the folder that holds molecules/")
    target = _TARGETS.get(name, "y [pEC50/pKi]")
    graphs = open_graphs(path, smiles="mol" if name == "bace" else "smiles", target=target).read()
    assert graphs.y is not None
    assert graphs.smiles is not None
    y = graphs.y.astype(np.int64) if name in _CLASSES else graphs.y
    own, cliffs = graphs.columns.get("split"), graphs.columns.get("cliff_mol")
    return Molecules(
        graphs.batch,
        y,
        graphs.smiles,
        np.unique(y) if name in _CLASSES else None,
        None if own is None else own == "train",
        None if cliffs is None else cliffs == 1,
        len(graphs.skipped),
    )


def _path(name: str) -> Path:
    folder = data_folder("molecules")
    return (folder / "moleculeace" if name in MOLECULEACE else folder) / f"{name}.csv"


def places(molecules: Molecules, split: Split) -> tuple[np.ndarray, np.ndarray]:
    """Places of the molecules to learn from, and of those to predict."""
    n = len(molecules.y)
    if split.kind == "own":
        assert molecules.own is not None
        return np.flatnonzero(molecules.own), np.flatnonzero(~molecules.own)
    if split.kind == "scaffold":
        return _by_scaffold(molecules.smiles, split.number)
    if split.kind == "inner":  # of training rows alone, so that choices made by it have not seen the test rows
        train, _ = places(molecules, Split("random" if molecules.own is None else "own"))
        inner, outer = _at_random(len(train), split.number)
        return train[inner], train[outer]
    if split.kind == "first":
        return np.arange(split.number), np.arange(0)
    return _at_random(n, split.number)


def _at_random(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    order = np.random.default_rng(seed).permutation(n)
    return order[: int(0.8 * n)], order[int(0.8 * n) :]


def _by_scaffold(smiles: Sequence[str], seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Scaffolds in random order, each to the test molecules where it leaves those at most a fifth."""
    codes = np.unique(scaffolds(smiles), return_inverse=True)[1].reshape(-1)
    sizes, room = np.bincount(codes), len(smiles) - int(0.8 * len(smiles))
    tested = np.zeros(len(sizes), bool)
    for scaffold in np.random.default_rng(seed).permutation(len(sizes)):
        if sizes[scaffold] <= room:
            tested[scaffold], room = True, room - sizes[scaffold]
    return np.flatnonzero(~tested[codes]), np.flatnonzero(tested[codes])
