"""Collections larger than memory: from files to files in resumable pieces, and on clusters."""

from gvoys.apps.scale.embed import embed_file, read_features
from gvoys.apps.scale.gram import write_gram
from gvoys.apps.scale.predict import predict_file

__all__ = ["embed_file", "predict_file", "read_features", "write_gram"]
