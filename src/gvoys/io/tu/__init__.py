"""The format of the TU collection (Morris et al. 2020): NAME_A.txt and its companions, in a zip or a folder."""

from gvoys.io.tu.dataset import dataset_name, read_tu
from gvoys.io.tu.names import LabelNames, parse_names, read_names

__all__ = ["LabelNames", "dataset_name", "parse_names", "read_names", "read_tu"]
