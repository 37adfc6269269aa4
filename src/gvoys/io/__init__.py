"""Every way in and out: graphs of other libraries, files of graphs, and the store."""

from gvoys.io.chemistry import Chemistry, canonical_smiles, scaffolds
from gvoys.io.convert import as_batch
from gvoys.io.open import open_graphs
from gvoys.io.smiles import from_smiles
from gvoys.io.sources import Graphs, GraphSource, Skipped
from gvoys.io.store import StoreWriter, open_store, write_store

__all__ = [
    "Chemistry",
    "GraphSource",
    "Graphs",
    "Skipped",
    "StoreWriter",
    "as_batch",
    "canonical_smiles",
    "from_smiles",
    "open_graphs",
    "open_store",
    "scaffolds",
    "write_store",
]
