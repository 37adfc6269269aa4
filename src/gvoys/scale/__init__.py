"""Collections larger than memory: from files to files in resumable pieces, and on clusters."""

from gvoys.scale.embed import embed_file
from gvoys.scale.gram import write_gram
from gvoys.scale.predict import predict_file

__all__ = ["embed_file", "predict_file", "write_gram"]
