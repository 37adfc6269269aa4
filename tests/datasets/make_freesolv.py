"""The graphs of the bundled molecules, from their SMILES: python tests/datasets/make_freesolv.py

They are kept as graphs so that the package's own data needs no RDKit.
"""

import csv
import gzip
import json
from pathlib import Path

from gvoys import from_smiles
from gvoys.graphs.transform import edges_of

ASSETS = Path(__file__).parents[2] / "src" / "gvoys" / "datasets" / "assets"
NUMBERS = ("expt", "calc")


def lines(table: Path) -> list[str]:
    """One node-link graph for each row."""
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    batch = from_smiles([row["smiles"] for row in rows])
    return [
        json.dumps(_node_link(row, graph), ensure_ascii=False, separators=(",", ":"))
        for row, graph in zip(rows, batch, strict=True)
    ]


def _node_link(row, graph):
    """Nodes have no ids: their places are taken."""
    ends, entries = edges_of(graph)
    bonds = graph.edge_labels[entries].decode() if len(entries) else []
    return {
        "graph": {name: float(value) if name in NUMBERS else value for name, value in row.items()},
        "nodes": [{"label": label} for label in graph.node_labels.decode()],
        "links": [
            {"source": a, "target": b, "label": label} for (a, b), label in zip(ends.tolist(), bonds, strict=True)
        ],
    }


if __name__ == "__main__":
    text = "".join(f"{line}\n" for line in lines(ASSETS / "FreeSolv.csv"))
    (ASSETS / "FreeSolv.jsonl.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))
