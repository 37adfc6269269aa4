"""Where graphs come from: one class per kind of file or object, all with the interface of `GraphSource`."""

from gvoys.io.sources.base import Chunk, FileSource, Graphs, GraphSource, Records, Skipped

__all__ = ["Chunk", "FileSource", "GraphSource", "Graphs", "Records", "Skipped"]
