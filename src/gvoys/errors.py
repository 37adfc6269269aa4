"""Errors of gvoys: each says what was given, what was expected, and what to do about it."""

import re

_SPACES = re.compile(r"(\s)")
_LONGEST = 500  # characters of a message; a name or label that it repeats may have any length


class GvoysError(ValueError):
    """Base class of all errors that gvoys raises for its input; the message is one line, without its middle if long."""

    def __init__(self, message: str = "") -> None:
        super().__init__(_as_one_line(str(message)))


def _as_one_line(message: str) -> str:
    if len(message.splitlines()) > 1:
        message = "".join(repr(part)[1:-1] if part.splitlines() == [""] else part for part in _SPACES.split(message))
    if len(message) <= _LONGEST:
        return message
    return f"{message[: 2 * _LONGEST // 3]}… {message[-_LONGEST // 3 :].lstrip()}"


class GraphError(GvoysError):
    """A graph, or a collection of graphs, that cannot be read."""


class LabelError(GraphError):
    """A node or edge label that is missing or has no stable hash."""


class DatasetError(GvoysError):
    """A dataset that cannot be found, or a file of it that is malformed."""


class StoreError(DatasetError):
    """A folder that is not a store, or one that is damaged or unfinished."""


class ModelError(DatasetError):
    """A file that is no model, or one that is damaged or was written by a newer version."""


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


class InputWarning(UserWarning):
    """Input that can be read, but perhaps not as it was meant."""


class VarianceWarning(UserWarning):
    """Sampled walks whose estimate is unbiased but has no finite variance, so that no number of them is enough."""
