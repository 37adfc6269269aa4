"""Where graphs come from: one class per kind of file or object, all with the interface of `GraphSource`."""

from gvoys.io.sources.base import FileSource, GraphSource
from gvoys.io.sources.records import Chunk, Graphs, Records, Skipped

__all__ = ["Chunk", "FileSource", "GraphSource", "Graphs", "Records", "Skipped"]
