"""From files of graphs to files of features and kernels, in pieces: streaming, resumable, the same bytes every time."""

from gvoys.pipeline.embed import embed_file
from gvoys.pipeline.gram import write_gram

__all__ = ["embed_file", "write_gram"]
