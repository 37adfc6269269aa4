"""gvoys compares graphs by the walks they share: random walk kernels in time linear in nodes, edges and graphs."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # as in typing, whose import takes longer than all else here
if TYPE_CHECKING:
    from typing import Any

    from gvoys import datasets, errors, io
    from gvoys.apps import explore
    from gvoys.apps.explain import compare
    from gvoys.apps.scale.embed import read_features
    from gvoys.estimators import RandomWalkFeatures, RandomWalkKernel, estimate
    from gvoys.estimators.classifier import RandomWalkClassifier
    from gvoys.estimators.learned_series import learn_series
    from gvoys.estimators.regressor import RandomWalkRegressor
    from gvoys.estimators.saving import load_model
    from gvoys.exact import ExactKernel, exact_kernel
    from gvoys.graphs import GraphBatch
    from gvoys.io import StoreWriter, as_batch, from_smiles, open_store, write_store
    from gvoys.nodes import NodeClassifier, NodeRegressor, node_kernel, search_nodes
    from gvoys.paper import GraphRandomFeatures, GraphVoyagers, OneSidedVoyagers, estimate_on_product, theory
    from gvoys.search import Index
    from gvoys.series import Coefficients, Exponential, Geometric
    from gvoys.walks.closed_walks import return_probabilities
    from gvoys.walks.methods import compute_gram, profiles
    from gvoys.walks.walk import Walk

__version__ = "0.2.0"

__all__ = [
    "Coefficients",
    "ExactKernel",
    "Exponential",
    "Geometric",
    "GraphBatch",
    "GraphRandomFeatures",
    "GraphVoyagers",
    "Index",
    "NodeClassifier",
    "NodeRegressor",
    "OneSidedVoyagers",
    "RandomWalkClassifier",
    "RandomWalkFeatures",
    "RandomWalkKernel",
    "RandomWalkRegressor",
    "StoreWriter",
    "Walk",
    "as_batch",
    "compare",
    "compute_gram",
    "datasets",
    "errors",
    "estimate",
    "estimate_on_product",
    "exact_kernel",
    "explore",
    "from_smiles",
    "io",
    "learn_series",
    "load_model",
    "node_kernel",
    "open_store",
    "profiles",
    "read_features",
    "return_probabilities",
    "search_nodes",
    "theory",
    "write_store",
]

_HOMES = {
    "estimators": ("RandomWalkFeatures", "RandomWalkKernel", "estimate"),
    "estimators.saving": ("load_model",),
    "estimators.classifier": ("RandomWalkClassifier",),
    "estimators.learned_series": ("learn_series",),
    "estimators.regressor": ("RandomWalkRegressor",),
    "exact": ("ExactKernel", "exact_kernel"),
    "estimators.compare": ("compare",),
    "graphs": ("GraphBatch",),
    "io": ("StoreWriter", "as_batch", "from_smiles", "open_store", "write_store"),
    "nodes": ("NodeClassifier", "NodeRegressor", "node_kernel", "search_nodes"),
    "paper": ("GraphRandomFeatures", "GraphVoyagers", "OneSidedVoyagers", "estimate_on_product", "theory"),
    "apps.scale.embed": ("read_features",),
    "search": ("Index",),
    "series": ("Coefficients", "Exponential", "Geometric"),
    "walks.methods": ("compute_gram", "profiles"),
    "walks.closed_walks": ("return_probabilities",),
    "walks.walk": ("Walk",),
}
_APPS = ("evaluation", "explain", "explore", "scale")
_PARTS = (
    "gpu",
    "datasets",
    "errors",
    "estimators",
    "exact",
    "graphs",
    "io",
    "nodes",
    "kernels",
    "paper",
    "search",
    "series",
    "walks",
)


def __getattr__(name: str) -> Any:
    """Import what is asked for, when it is: NumPy, SciPy and Numba take a second, which --help need not wait for."""
    if name in _PARTS:
        return import_module(f"gvoys.{name}")
    if name in _APPS:
        return import_module(f"gvoys.apps.{name}")
    for home, names in _HOMES.items():
        if name in names:
            value = globals()[name] = getattr(import_module(f"gvoys.{home}"), name)
            return value
    raise AttributeError(f"module 'gvoys' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
