"""Errors of gvoys: each says what was given, what was expected, and what to do about it."""

__all__ = [
    "ClusterError",
    "ConvergenceError",
    "DatasetError",
    "DivergenceError",
    "GraphError",
    "GvoysError",
    "LabelError",
    "MissingDependencyError",
    "ModulationError",
    "ParameterError",
    "StoreError",
    "UnsupportedError",
    "VarianceWarning",
]


class GvoysError(ValueError):
    """Base class of all errors that gvoys raises for its input."""


class GraphError(GvoysError):
    """A graph, or a collection of graphs, that cannot be read."""


class LabelError(GraphError):
    """A node or edge label that is missing or has no stable hash."""


class DatasetError(GvoysError):
    """A dataset that cannot be found, or a file of it that is malformed."""


class StoreError(DatasetError):
    """A folder that is not a store, or one that is damaged or unfinished."""


class ParameterError(GvoysError):
    """A parameter outside its range."""


class DivergenceError(ParameterError):
    """An infinite series that does not converge on the given graphs."""


class ModulationError(ParameterError):
    """A series without a real, non-negative modulation function f with f * f = mu."""


class UnsupportedError(GvoysError):
    """A solver or method asked for something it cannot do."""


class ConvergenceError(GvoysError):
    """An iteration that stopped short of its tolerance."""


class ClusterError(GvoysError):
    """A cluster that lost its scheduler, or too many of its workers."""


class MissingDependencyError(GvoysError, ImportError):
    """An optional package that is needed here and is not installed."""


class VarianceWarning(UserWarning):
    """Sampled walks whose estimate is unbiased but has no finite variance, so that no number of them is enough."""
