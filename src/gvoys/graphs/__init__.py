"""Graphs: many of them in one frozen structure, whatever library they come from."""

from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.labels import Labels, hash_label

__all__ = ["GraphBatch", "Labels", "hash_label"]
