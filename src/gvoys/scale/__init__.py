"""Collections larger than memory: from files to files in resumable pieces, and on clusters."""

from gvoys.scale.embed import embed_file
from gvoys.scale.features import read_features
from gvoys.scale.gram import write_gram
from gvoys.scale.predict import predict_file

__all__ = ["embed_file", "predict_file", "read_features", "write_gram"]
