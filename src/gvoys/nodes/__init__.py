"""One large graph: kernels of its nodes, Gaussian processes and classifiers of them."""

from gvoys.nodes.named import Diffusion, Matern, PStep, RegularizedLaplacian
from gvoys.nodes.node_classifier import NodeClassifier
from gvoys.nodes.node_regressor import NodeRegressor
from gvoys.nodes.operator import NodeKernel, node_kernel
from gvoys.nodes.searching import NodeSearch, search_nodes

__all__ = [
    "Diffusion",
    "Matern",
    "NodeClassifier",
    "NodeKernel",
    "NodeRegressor",
    "NodeSearch",
    "PStep",
    "RegularizedLaplacian",
    "node_kernel",
    "search_nodes",
]
