"""Batches on disk: plain .npy arrays that are mapped into memory, and a manifest that is written last."""

from gvoys.io.store.store_reader import open_store
from gvoys.io.store.store_writer import StoreWriter, write_store

__all__ = ["StoreWriter", "open_store", "write_store"]
