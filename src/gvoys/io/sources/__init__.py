"""Where graphs come from: one class per kind of file or object, all with the interface of `GraphSource`."""

from gvoys.io.sources.records import Chunk, Graphs, Records, Skipped
from gvoys.io.sources.source import FileSource, GraphSource

__all__ = ["Chunk", "FileSource", "GraphSource", "Graphs", "Records", "Skipped"]
