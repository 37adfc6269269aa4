"""The most similar graphs of a library, in memory or in a folder."""

from gvoys.search.index import Hits, Index

__all__ = ["Hits", "Index"]
