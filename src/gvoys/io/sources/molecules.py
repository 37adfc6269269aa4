"""What all sources of SMILES have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gvoys.graphs.batch import GraphBatch
from gvoys.io.chemistry.options import Chemistry
from gvoys.io.smiles import read_smiles
from gvoys.io.sources.base import GraphSource


class MoleculeSource(GraphSource):
    """Molecules from SMILES; `chemistry` may be set until graphs are read."""

    has_smiles = True
    chemistry: Chemistry = Chemistry()

    def build(self, items: Sequence[Any]) -> tuple[GraphBatch, list[tuple[int, str]]]:
        return read_smiles(items, self.chemistry)

    def _options(self) -> dict[str, Any]:
        return {"chemistry": self.chemistry.as_dict()} if self.chemistry != Chemistry() else {}
