"""Small inputs of every kind, all with the same graphs where the format can hold them."""

import csv
import json
from contextlib import suppress

import networkx as nx
import numpy as np

import gvoys as gv

SMILES = [
    "CCO",
    "c1ccccc1",
    "C1CC",
    "CC(=O)O",
    "N#N",
    "C[C@H](N)C(=O)O",
    "not a molecule",
    "CCN",
    "[Na+].[Cl-]",
    "O",
] * 3
GRAPHS = [nx.gnp_random_graph(4 + k % 7, 0.5, seed=k) for k in range(30)]


def write_inputs(folder):
    """One file of every kind, by name."""
    folder.mkdir(exist_ok=True)
    (folder / "a.smi").write_text("".join(f"{s} m{i}\n" for i, s in enumerate(s.replace(" ", "_") for s in SMILES)))
    for name, delimiter in (("a.csv", ","), ("a.tsv", "\t")):
        with (folder / name).open("w", newline="") as file:
            table = csv.writer(file, delimiter=delimiter)
            table.writerow(["name", "SMILES", "y"])
            table.writerows([f"m, {i}", s, i] for i, s in enumerate(SMILES))
    with suppress(ImportError):
        from openpyxl import Workbook

        book = Workbook()
        for row in [("name", "SMILES", "y"), *((f"m{i}", s, i) for i, s in enumerate(SMILES))]:
            book.active.append(row)
        book.save(folder / "a.xlsx")
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {"name": [f"m{i}" for i in range(len(SMILES))], "smiles": SMILES}
    pq.write_table(pa.table(columns), folder / "a.parquet", row_group_size=13)
    (folder / "a.g6").write_bytes(b"".join(nx.to_graph6_bytes(g, header=False) for g in GRAPHS))
    (folder / "a.s6").write_bytes(b"".join(nx.to_sparse6_bytes(g, header=False) for g in GRAPHS))
    labelled = [nx.Graph(g) for g in GRAPHS]
    for g in labelled:
        nx.set_node_attributes(g, {u: ["C", u % 3] for u in g}, "label")
    (folder / "a.jsonl").write_text("".join(json.dumps(nx.node_link_data(g, edges="links")) + "\n" for g in labelled))
    (folder / "a.json").write_text(json.dumps([nx.node_link_data(g, edges="links") for g in labelled]))
    write_graphml(folder / "a.graphml", labelled)
    write_tu(folder / "TINY")
    gv.write_store(gv.datasets.molecules(30, mean_nodes=8), folder / "store")
    return sorted(folder.iterdir())


def write_graphml(path, graphs):
    """All graphs in one file, as networkx writes each."""
    texts = ["".join(nx.generate_graphml(graph)) for graph in map(with_texts, graphs)]
    bodies = [f"<graph {text.split('<graph ', 1)[1].split('</graph>')[0]}</graph>\n" for text in texts]
    path.write_text(texts[0].split("<graph ", 1)[0] + "".join(bodies) + "</graphml>\n")


def with_texts(graph):
    """The graph with texts in the place of lists, which GraphML cannot hold."""
    copy = graph.copy()
    for node in copy.nodes.values():
        node.update({name: str(value) for name, value in node.items() if isinstance(value, list)})
    return copy


def write_tu(folder, n_graphs=12):
    """A dataset of the TU format in a folder."""
    folder.mkdir()
    batch = gv.datasets.molecules(n_graphs, mean_nodes=6)
    pairs = np.column_stack([batch.rows(), batch.columns()]) + 1
    parts = {
        "A": [f"{u}, {v}" for u, v in pairs.tolist()],
        "graph_indicator": [str(g + 1) for g in batch.node_graphs().tolist()],
        "graph_labels": [str(i % 2) for i in range(n_graphs)],
        "node_labels": [str(code) for code in batch.node_labels.codes.tolist()],
    }
    for part, lines in parts.items():
        (folder / f"{folder.name}_{part}.txt").write_text("\n".join(lines) + "\n")
