"""Models as files: parameters and what was fitted, as values and arrays, with the names of the classes they belong to.

A class that may occur in a file is listed here; a file cannot name any other, and loading runs no code of its own.
"""

from __future__ import annotations

import platform
from collections.abc import Callable
from dataclasses import fields
from importlib import metadata
from os import PathLike
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from gvoys.errors import ModelError, ParameterError
from gvoys.estimators.classifier import RandomWalkClassifier
from gvoys.estimators.learning.balance import Balance, BalancedProfiles
from gvoys.estimators.learning.base_kernels import BaseKernel, Nystroem
from gvoys.estimators.learning.blocks import WalkBlocks
from gvoys.estimators.learning.covariance import Term
from gvoys.estimators.learning.decisions import Logistic, SupportVectors
from gvoys.estimators.learning.engines import Calibrated, KernelMachine, LinearMachine
from gvoys.estimators.learning.kernel_sum import Induced, KernelSum
from gvoys.estimators.learning.posteriors import FeaturePosterior, GramPosterior, KernelPosterior
from gvoys.estimators.learning.profiler import LabelsAndAttributes, Profiler
from gvoys.estimators.learning.selection import Candidate, Choice
from gvoys.estimators.learning.views import Surroundings, Walks
from gvoys.estimators.regressor import RandomWalkRegressor
from gvoys.io.container import read_container, write_container
from gvoys.series import Coefficients, Exponential, Geometric
from gvoys.walks import Combined, CombinedProfiles, DenseProfiles, Moments, Sequences, Sketch, SparseProfiles, Walk
from gvoys.walks.sparse import Counts

__all__ = ["load_model", "read_parts", "write_model", "write_parts"]

_MODELS = {each.__name__: each for each in (RandomWalkClassifier, RandomWalkRegressor)}
_PLAIN = (
    Balance,
    BalancedProfiles,
    BaseKernel,
    Calibrated,
    Candidate,
    Choice,
    Combined,
    Exponential,
    FeaturePosterior,
    Geometric,
    GramPosterior,
    Induced,
    KernelMachine,
    KernelPosterior,
    KernelSum,
    LabelsAndAttributes,
    LinearMachine,
    Logistic,
    Moments,
    Nystroem,
    Profiler,
    Sequences,
    Sketch,
    SupportVectors,
    Surroundings,
    Term,
    Walk,
    WalkBlocks,
    Walks,
)  # dataclasses, which are made of their fields
_PARTS: dict[Any, tuple[str, ...]] = {
    CombinedProfiles: ("exact", "sketches", "rounding"),
    DenseProfiles: ("values", "exponents", "n_iterations", "rounding"),
    SparseProfiles: ("blocks", "exponents", "n_lengths"),
}  # of profiles
_LEFT_OUT = ("learner",)  # of a LinearMachine: what is loaded predicts, and does not learn from more graphs
_PACKAGES = ("gvoys", "numpy", "scipy", "numba", "scikit-learn")


def write_model(model: BaseEstimator, path: str | PathLike[str]) -> None:
    """Write a fitted model to a file.

    Parameters
    ----------
    model : RandomWalkClassifier or RandomWalkRegressor
        The fitted model.
    path : str or path-like
        The file, such as model.gvoys.

    Raises
    ------
    ParameterError
        If the model holds something that a file cannot, or the file cannot be written.
    """
    check_is_fitted(model)
    if type(model).__name__ not in _MODELS:
        raise ParameterError(f"a {type(model).__name__} cannot be saved; {' and '.join(_MODELS)} can")
    parameters = model.get_params(deep=False)
    if isinstance(parameters.get("random_state"), np.random.RandomState):
        parameters["random_state"] = None  # what was drawn from it is among the fitted values
    fitted = {name: value for name, value in vars(model).items() if name.endswith("_") and not name.startswith("_")}
    write_container(
        path,
        {
            "model": type(model).__name__,
            "packages": {"python": platform.python_version()} | {name: metadata.version(name) for name in _PACKAGES},
            "parameters": {name: _encode(value, name) for name, value in parameters.items()},
            "fitted": {name: _encode(value, name) for name, value in fitted.items()},
        },
    )


def load_model(path: str | PathLike[str]) -> Any:
    """Load a model that `save` wrote; its predictions are the same.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    RandomWalkClassifier or RandomWalkRegressor
        The fitted model.

    Raises
    ------
    ModelError
        If it is no model file, is damaged, or was written by a newer version.

    Examples
    --------
    >>> import gvoys as gv, tempfile, pathlib
    >>> graphs = gv.datasets.molecules(40)
    >>> model = gv.RandomWalkClassifier(refine=1, C=1.0).fit(graphs, graphs.graph_sizes > 28)
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "size.gvoys"
    >>> model.save(file)
    >>> bool((gv.load_model(file).predict(graphs) == model.predict(graphs)).all())
    True
    """
    content = read_container(path)
    try:
        model = _MODELS[content["model"]](**_decode_all(content["parameters"]))
        for name, value in _decode_all(content["fitted"]).items():
            if not name.isidentifier() or not name.endswith("_") or name.startswith("_"):
                raise ValueError
            setattr(model, name, value)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError):
        raise ModelError(f"{path} holds no model that this version of gvoys knows; train it again") from None
    return model


def write_parts(path: str | PathLike[str], **parts: Any) -> None:
    """Write what models are made of to a file.

    Parameters
    ----------
    path : str or path-like
        The file.
    **parts : object
        Values and arrays, and objects of the classes that models are made of.
    """
    write_container(path, {"parts": {name: _encode(value, name) for name, value in parts.items()}})


def read_parts(path: str | PathLike[str]) -> dict[str, Any]:
    """Read what `write_parts` wrote.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    dict of str to object
        The parts.

    Raises
    ------
    ModelError
        If it is no such file, or damaged.
    """
    content = read_container(path)
    try:
        return _decode_all(content["parts"])
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError):
        raise ModelError(f"{path} holds nothing that this version of gvoys knows") from None


def _decode_all(values: dict[str, Any]) -> dict[str, Any]:
    return {name: _decode(value) for name, value in values.items()}


# -- values to what a container holds, and back; what JSON does not have is a dictionary that says what it "is"


def _encode(value: Any, name: str) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value
    if isinstance(value, list):
        return [_encode(each, name) for each in value]
    kind, parts = _take_apart(value, name)
    return {"is": kind, **{part: _encode(each, name) for part, each in parts.items()}}


def _take_apart(value: Any, name: str) -> tuple[str, dict[str, Any]]:
    """What a value is, and what it is made of."""
    kind = type(value).__name__
    if isinstance(value, Counts):
        return kind, {"keys": value.keys, "matrix": value.matrix}
    if isinstance(value, Coefficients):
        return kind, value.get_params()
    if isinstance(value, _PLAIN):
        return kind, {each.name: getattr(value, each.name) for each in fields(value) if each.name not in _LEFT_OUT}
    for profiles, names in _PARTS.items():
        if isinstance(value, profiles):  # those on a GPU among the dense ones
            return profiles.__name__, {each: getattr(value, each) for each in names}
    if isinstance(value, sp.csr_array):
        names = ("data", "indices", "indptr", "shape")
        return kind, {each: getattr(value, each) for each in names}
    if isinstance(value, (tuple, np.ndarray)):  # the latter of objects
        return kind, {"items": list(value)}
    if isinstance(value, dict):
        return kind, {"items": [list(pair) for pair in value.items()]}
    raise ParameterError(f"the model's {name} is a {kind}, which a file cannot hold")


_MAKERS: dict[str, Callable[..., Any]] = {
    **{each.__name__: each for each in (*_PLAIN, Coefficients, Counts, *_PARTS)},
    "csr_array": lambda data, indices, indptr, shape: sp.csr_array((data, indices, indptr), shape=shape),
    "dict": lambda items: dict(items),
    "ndarray": lambda items: np.array(items, object),
    "tuple": lambda items: tuple(items),
}


def _decode(value: Any) -> Any:
    if isinstance(value, list):
        return [_decode(each) for each in value]
    if isinstance(value, dict):
        parts = {name: _decode(each) for name, each in value.items()}
        return _MAKERS[parts.pop("is")](**parts)
    return value
