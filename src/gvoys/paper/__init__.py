"""The paper's own estimators: Algorithm 1, one-sided walks, graph random features, the product graph, and theory."""

from gvoys.paper import theory
from gvoys.paper.graph_random_features import GraphRandomFeatures, estimate_on_product
from gvoys.paper.one_sided import OneSidedVoyagers
from gvoys.paper.voyagers import GraphVoyagers

__all__ = ["GraphRandomFeatures", "GraphVoyagers", "OneSidedVoyagers", "estimate_on_product", "theory"]
