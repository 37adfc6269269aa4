"""The paper's own estimators: Algorithm 1, one-sided walks, graph random features, the product graph, and theory."""

from gvoys.paper import theory
from gvoys.paper.graph_random_features import GraphRandomFeatures, estimate_on_product
from gvoys.paper.voyagers import GraphVoyagers, OneSidedVoyagers

__all__ = ["GraphRandomFeatures", "GraphVoyagers", "OneSidedVoyagers", "estimate_on_product", "theory"]
