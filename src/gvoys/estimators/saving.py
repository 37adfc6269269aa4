"""Models as files: parameters and what was fitted, as values and arrays, with the names of the classes they belong to.

A class that may occur in a file is listed here; a file cannot name any other, and loading runs no code of its own. What
is loaded must be complete, with the types that constructors name and shapes that fit, and predict what it did when it
was saved.
"""

from __future__ import annotations

import math
import platform
import warnings
from collections.abc import Callable, Iterator, Set
from contextlib import suppress
from copy import copy
from dataclasses import fields, replace
from functools import partial
from importlib import metadata
from os import PathLike
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from gvoys.errors import ModelError, ParameterError
from gvoys.estimators.classifier import RandomWalkClassifier
from gvoys.estimators.regressor import RandomWalkRegressor
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.labels import Labels
from gvoys.io.container import read_container, write_container
from gvoys.kernels.balance import Balance, BalancedProfiles
from gvoys.kernels.base_kernels import BaseKernel, Nystroem
from gvoys.kernels.blocks import WalkBlocks
from gvoys.kernels.covariance import Term
from gvoys.kernels.engines import Calibrated, KernelMachine, LinearMachine
from gvoys.kernels.kernel_sum import Induced, KernelSum
from gvoys.kernels.machines import Logistic, SupportVectors
from gvoys.kernels.posteriors import FeaturePosterior, GramPosterior, KernelPosterior
from gvoys.kernels.profiler import LabelsAndAttributes, Profiler
from gvoys.kernels.selection import Candidate, Choice
from gvoys.kernels.views import Surroundings, Walks
from gvoys.series import Coefficients, Exponential, Geometric
from gvoys.threads import threads
from gvoys.walks import Combined, CombinedProfiles, DenseProfiles, Moments, Sequences, Sketch, SparseProfiles, Walk
from gvoys.walks.sparse import Counts

_Array = NDArray[np.float64]
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
_PARTS: dict[type[Any], tuple[str, ...]] = {
    **{each: tuple(part.name for part in fields(each) if part.name != "learner") for each in _PLAIN},
    Coefficients: ("mu",),
    CombinedProfiles: ("exact", "sketches", "rounding"),
    Counts: ("keys", "matrix"),
    DenseProfiles: ("values", "exponents", "n_iterations", "rounding"),
    SparseProfiles: ("blocks", "exponents", "n_lengths"),
}  # what is kept of each; without its learner a LinearMachine predicts, and does not learn from more graphs
_SHAPES = {
    "Balance": "lengths:l attributes:a",
    "CombinedProfiles": "exact:n sketches:n.w rounding:n",
    "Counts": "keys:k matrix:nk",
    "DenseProfiles": "values:n.. exponents:n rounding:n",
    "FeaturePosterior": "root:c factor:cc weights:c",
    "GramPosterior": "fitted:n mu:b factor:nn weights:n",
    "Induced": "landmarks:m factor:mm",
    "KernelPosterior": "fitted:n factor:nn weights:n*",
    "LabelsAndAttributes": "labels:n attributes:n",
    "Logistic": "weights:cf intercepts:c",
    "Nystroem": "landmarks:m root:m.",
    "Profiler": "centre:a deviation:a",
    "RandomWalkClassifier": "classes_:. contributions_:.. kept_:. seen_labels_:.",
    "RandomWalkRegressor": "mean_:t deviation_:t mu_:. kept_:. seen_labels_:.",
    "SparseProfiles": "blocks:n exponents:n",
    "SupportVectors": "places:v weights:pv intercepts:p",
    "Term": "weights:b",
    "WalkBlocks": "traces:b",
}  # a letter for each dimension, the same where sizes are equal; "." is any size, and "*" one dimension more or none
_LEARNED = {
    "directed_": bool,
    "kept_": NDArray[np.int64],
    "seen_labels_": Annotated[NDArray[np.uint64], lambda hashes: _is_increasing(hashes)] | None,
    "similarity_floor_": Annotated[float, lambda cosine: abs(cosine) <= 1.0] | None,
    "training_": dict[str, Any],
    "walk_": Walk | tuple[Walk, ...],
}
_FITTED: dict[str, dict[str, Any]] = {
    "RandomWalkClassifier": _LEARNED
    | {
        "balance_": Balance,
        "chosen_": Choice,
        "classes_": NDArray[Any] | list[NDArray[Any]],
        "contributions_": _Array,
        "engine_": KernelMachine | LinearMachine,
        "kernel_": BaseKernel,
        "profiler_": Profiler,
        "seed_": int,
        "series_": Coefficients,
    },
    "RandomWalkRegressor": _LEARNED
    | {
        "blocks_": list[str],
        "curve_": list[float],
        "deviation_": float | _Array,
        "kernel_": str,
        "log_marginal_likelihood_": float,
        "mean_": float | _Array,
        "mu_": _Array,
        "noise_": float,
        "posterior_": FeaturePosterior | GramPosterior | KernelPosterior,
        "stretch_": float,
    },
}  # what `fit` leaves
_NOT_ALWAYS = {"contributions_", "kept_", "training_"}
_HELD_TWICE = "walks_"  # and by the posterior
_HUGE = 1e250  # where no number that was fitted is, and products are not finite
_LARGEST = 10_000  # of lengths and the like, by which a file could ask for all memory
_LARGEST_OF = {"n_components": 1 << 16, "width": 1 << 16, "refine": 100}
_FREE = {"budget", "n_jobs", "per_graph", "seed"}
_SAME = 1e-5  # how far the answers of another machine may be from ours, relative to the largest
_MOST_LABELS = 64
_PACKAGES = ("gvoys", "numpy", "scipy", "numba", "scikit-learn")


def write_model(model: BaseEstimator, path: str | PathLike[str]) -> None:
    """Write a fitted model to a file, with its answers on some small graphs."""
    check_is_fitted(model)
    if type(model).__name__ not in _MODELS:
        raise ParameterError(f"a {type(model).__name__} cannot be saved; {' and '.join(_MODELS)} can")
    parameters = model.get_params(deep=False)
    if isinstance(parameters.get("random_state"), np.random.RandomState):
        parameters["random_state"] = None  # what was drawn from it is among the fitted values
    names = [name for name in vars(model) if name.endswith("_") and not name.startswith("_") and name != _HELD_TWICE]
    content = {
        "model": type(model).__name__,
        "packages": {"python": platform.python_version()} | {name: metadata.version(name) for name in _PACKAGES},
        "parameters": {name: _encode(value, name) for name, value in parameters.items()},
        "fitted": {name: _encode(getattr(model, name), name) for name in names},
    }
    try:
        answers = _compute_answers(_restore_model(content))
    except _Unfit as error:
        raise ParameterError(f"the model cannot be saved: {error}") from None
    write_container(path, content | {"answers": answers})


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
    >>> model = gv.RandomWalkClassifier(gv.Walk(refine=1), C=1.0).fit(graphs, graphs.graph_sizes > 28)
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "size.gvoys"
    >>> model.save(file)
    >>> bool((gv.load_model(file).predict(graphs) == model.predict(graphs)).all())
    True
    """
    content = read_container(path)
    try:
        answers = content.pop("answers")
        model = _restore_model(content)
        same = answers is None or _agree(_compute_answers(model), answers)
    except Exception as error:  # whatever comes of a file that may say anything
        reason = f": {error}" if isinstance(error, _Unfit) else ""
        raise ModelError(f"{path} holds no model that this version of gvoys knows{reason}; train it again") from None
    if not same:
        raise ModelError(f"{path} does not predict what it did when it was saved; train the model again")
    return model


def write_parts(path: str | PathLike[str], **parts: Any) -> None:
    """Write values, arrays, and objects of the classes that models are made of, to a file."""
    write_container(path, {"parts": {name: _encode(value, name) for name, value in parts.items()}})


def read_parts(path: str | PathLike[str]) -> dict[str, Any]:
    """Read what `write_parts` wrote; raise ModelError for any other file."""
    content = read_container(path)
    try:
        return _decode_all(content["parts"])
    except Exception:  # whatever comes of a file that may say anything
        raise ModelError(f"{path} holds nothing that this version of gvoys knows") from None


class _Unfit(Exception):
    """A fault of a model, as a part of a sentence."""


# -- values to what a container holds, and back; what JSON does not have is a dictionary that says what it "is"


def _encode(value: Any, name: str) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return {"is": "float", "text": str(value)}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.ndarray) and value.dtype != object:
        return np.asarray(value, order="C")
    if isinstance(value, list):
        return [_encode(item, name) for item in value]
    kind, parts = _take_apart(value, name)
    return {"is": kind, **{part: _encode(item, name) for part, item in parts.items()}}


def _take_apart(value: Any, name: str) -> tuple[str, dict[str, Any]]:
    """Return a value's kind and its parts."""
    if isinstance(value, Coefficients):
        return "Coefficients", value.get_params()
    for kind, names in _PARTS.items():
        if isinstance(value, kind):  # profiles on a GPU among the dense ones
            return kind.__name__, {item: getattr(value, item) for item in names}
    if isinstance(value, sp.csr_array):
        return "csr_array", {item: getattr(value, item) for item in ("data", "indices", "indptr", "shape")}
    if isinstance(value, (tuple, np.ndarray)):  # the latter of objects
        return type(value).__name__, {"items": list(value)}
    if isinstance(value, dict):
        return "dict", {"items": [list(pair) for pair in value.items()]}
    raise ParameterError(f"the model's {name} is a {type(value).__name__}, which a file cannot hold")


def _decode(value: Any) -> Any:
    if isinstance(value, list):
        return [_decode(item) for item in value]
    if isinstance(value, dict):
        parts = _decode_all(value)
        return _MAKERS[parts.pop("is")](**parts)
    return value


def _decode_all(values: dict[str, Any]) -> dict[str, Any]:
    return {name: _decode(value) for name, value in values.items()}


def _build(kind: type[Any], /, **parts: Any) -> Any:
    """Build an object of one of our classes from parts that are checked."""
    _check(kind.__name__, parts, get_type_hints(kind.__init__), set(_PARTS[kind]))
    for name in parts.keys() - _FREE:
        numbers = parts[name] if isinstance(parts[name], tuple) else (parts[name],)
        if any(type(number) is int and abs(number) > _LARGEST_OF.get(name, _LARGEST) for number in numbers):
            raise _Unfit(f"{name} of {kind.__name__} is too large")
    return kind(**_limit_threads(parts))


def _build_csr(data: Any, indices: Any, indptr: Any, shape: Any) -> sp.csr_array:
    if not _has_type(data, _Array) or not {indices.dtype, indptr.dtype} <= {np.dtype(np.int32), np.dtype(np.int64)}:
        raise _Unfit("counts of label sequences have another type")
    made = sp.csr_array((data, indices, indptr), shape=shape)
    made.check_format(full_check=True)
    return made


def _build_dict(items: list[Any]) -> dict[Any, Any]:
    if len(dict(items)) < len(items):
        raise _Unfit("a name is there twice")
    return dict(items)


_MAKERS: dict[str, Callable[..., Any]] = {
    **{each.__name__: partial(_build, each) for each in _PARTS},
    "csr_array": _build_csr,
    "dict": _build_dict,
    "float": lambda text: {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[text],
    "ndarray": lambda items: np.array(items, object),
    "tuple": lambda items: tuple(items),
}


# -- whether what was read is a model


def _restore_model(content: dict[str, Any]) -> Any:
    """Build the model of a file, if all parameters and all that `fit` leaves are there."""
    if content.keys() != {"model", "packages", "parameters", "fitted"}:
        raise _Unfit("it has other parts than a model")
    kind, name = _MODELS[content["model"]], content["model"]
    parameters, fitted = _decode_all(content["parameters"]), _decode_all(content["fitted"])
    hints = get_type_hints(kind.__init__)
    _check(name, parameters, hints, hints.keys() - {"return"})
    _check(name, fitted, _FITTED[name], _FITTED[name].keys() - _NOT_ALWAYS)
    model = kind(**_limit_threads(parameters))
    vars(model).update(fitted)
    ids = fitted.get("training_", {}).get("ids")
    if ids is not None and not (_has_type(ids, list[str]) and len(ids) > _last_training_graph(model)):
        raise _Unfit("the ids are not those of its training graphs")
    if "balance_" in fitted and model.profiler_.walk.n_lengths != len(model.balance_.lengths):
        raise _Unfit("its walks have another length")
    return model


def _last_training_graph(model: Any) -> int:
    """Return the largest number of a training graph that a prediction may name, or -1."""
    graphs = getattr(getattr(model, "engine_", None) or model.posterior_, "fitted", [])
    last = len(graphs[0] if isinstance(graphs, list) and graphs else graphs) - 1
    return int(model.kept_[last]) if hasattr(model, "kept_") else last


def _check(kind: str, parts: dict[str, Any], hints: dict[str, Any], needed: Set[str]) -> None:
    """Raise _Unfit unless all that is needed is there, and everything has its type and shape."""
    for name in (needed - parts.keys()) | (parts.keys() - hints.keys()):
        raise _Unfit(f"{name} of {kind} is {'missing' if name in needed else 'not known'}")
    sizes: dict[str, int] = {}
    dimensions = dict(item.split(":") for item in _SHAPES.get(kind, "").split())
    for name, value in parts.items():
        if not _has_type(value, hints[name]):
            raise _Unfit(f"{name} of {kind} has another type")
        for shape in _list_shapes(value) if name in dimensions else ():
            if not _has_shape(shape, dimensions[name], sizes):
                raise _Unfit(f"{name} of {kind} has another shape")
    if kind in _RULES and not _RULES[kind](**parts):
        raise _Unfit(f"the parts of {kind} do not belong together")


def _match_walks(profiles: list[SparseProfiles], walks: tuple[Walk, ...]) -> bool:
    """Return whether profiles have the iterations and lengths of their walks."""
    pairs = zip(profiles, walks, strict=True)
    return all((a.n_iterations, a.n_lengths) == (b.n_iterations, b.n_lengths) for a, b in pairs)


_RULES: dict[str, Callable[..., bool]] = {
    "Counts": lambda keys, **_: _is_increasing(keys),
    "Walk": lambda refine, backtrack, **_: _has_type(refine, int | str) and _has_type(backtrack, bool | str),
    "GramPosterior": lambda fitted, walks, **_: _match_walks(fitted, walks.walks),
    "Induced": lambda landmarks, kernel, **_: _match_walks(landmarks, kernel.walks),
    "KernelPosterior": lambda fitted, kernel, **_: _match_walks(fitted, kernel.walks),
    "SupportVectors": lambda weights, n_classes, **_: 2 * len(weights) == n_classes * (n_classes - 1),
    "WalkBlocks": lambda walks, traces, **_: sum(w.n_iterations * w.n_lengths for w in walks) == len(traces),
}


def _has_type(value: Any, hint: Any) -> bool:
    """Return whether a value is what an annotation says; for a protocol, whether it is of one of our classes."""
    origin, inside = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(_has_type(value, item) for item in inside)
    if origin is Annotated:
        return _has_type(value, inside[0]) and bool(inside[1](value))
    if origin is np.ndarray:
        kind = get_args(inside[1])[0]
        return isinstance(value, np.ndarray) and (kind is Any or value.dtype == kind) and _is_finite(value)
    if origin in (list, tuple):
        return isinstance(value, origin) and all(_has_type(item, inside[0]) for item in value)
    if origin is dict:
        return isinstance(value, dict) and all(
            _has_type(k, inside[0]) and _has_type(v, inside[1]) for k, v in value.items()
        )
    if getattr(hint, "_is_protocol", False):
        return type(value) in _PARTS
    if hint is float:
        return type(value) in (int, float) and not abs(value) > _HUGE
    return origin is not None or hint is Any or type(value) is hint


def _is_increasing(hashes: NDArray[np.uint64]) -> bool:
    return bool((hashes[1:] > hashes[:-1]).all())


def _is_finite(array: NDArray[Any]) -> bool:
    """Return whether all numbers are finite, and their products too."""
    return array.dtype.kind != "f" or not array.size or -_HUGE < float(array.min()) <= float(array.max()) < _HUGE


def _list_shapes(value: Any) -> Iterator[tuple[int, ...]]:
    """Yield the shapes of arrays; other collections of graphs have the shape (n_graphs,)."""
    if isinstance(value, list):
        for item in value:
            yield from _list_shapes(item)
    elif isinstance(value, Counts):
        yield value.matrix.shape[:1]
    elif value is not None and not isinstance(value, (int, float)):
        yield value.shape if hasattr(value, "shape") else (len(value),)


def _has_shape(shape: tuple[int, ...], letters: str, sizes: dict[str, int]) -> bool:
    """Return whether a shape fits its letters; the sizes of new letters are noted."""
    plain = letters.rstrip("*")
    pairs = [(letter, size) for letter, size in zip(plain, shape, strict=False) if letter != "."]
    right = len(plain) <= len(shape) <= len(letters)
    return right and all(sizes.setdefault(letter, size) == size for letter, size in pairs)


def _limit_threads(parts: dict[str, Any]) -> dict[str, Any]:
    """Drop a number of threads that this machine does not have."""
    with suppress(ParameterError), threads(parts.get("n_jobs")):
        return parts
    return parts | {"n_jobs": None}


def _compute_answers(model: Any) -> dict[str, Any] | None:
    """Predict some small graphs: numbers by column, the types of other columns, or None where that raises."""
    model = copy(model)
    model.device = "cpu" if model.device == "cuda" else model.device  # which this machine may lack
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            graphs = _probe_graphs(model)
            table = model.predict_table(graphs)
            if hasattr(model, "decision_function"):
                made = model.decision_function(graphs)
                table["decision"] = np.column_stack(made if isinstance(made, list) else [made])
    except Exception:  # whatever comes of a model that a file made
        return None
    return {
        name: np.asarray(item, order="C") if item.dtype.kind in "fb" else item.dtype.str for name, item in table.items()
    }


def _probe_graphs(model: Any) -> GraphBatch:
    """Make a node, a path and a cycle with labels and attributes that a model knows."""
    known = np.arange(5, dtype=np.uint64) if model.seen_labels_ is None else model.seen_labels_[:_MOST_LABELS]
    sizes = [1, 3, max(len(known), 5)]
    labels, ring = np.resize(known, sum(sizes)), np.arange(sizes[2])
    edges = [[1, 2], [2, 3], *np.column_stack([ring, np.roll(ring, 1)]) + 4, [4, 6]]
    centre = getattr(getattr(model, "profiler_", None), "centre", None)
    attributes = None if centre is None else np.outer(np.arange(len(labels)) % 3, np.ones(len(centre)))
    batch = GraphBatch.from_arrays(
        edges,
        sizes,
        edge_labels=[1 + (index % 2) for index in range(len(edges))],
        node_attributes=attributes,
        directed=model.directed_,
    )
    has_labels = model.seen_labels_ is not None or model._uses_node_labels()
    return replace(batch, node_labels=Labels.from_hashes(labels) if has_labels else None)


def _agree(new: dict[str, Any] | None, old: dict[str, Any]) -> bool:
    """Return whether answers are the same but for the rounding of another machine."""
    return new is not None and list(new) == list(old) and all(map(_is_same, new.values(), old.values()))


def _is_same(new: Any, old: Any) -> bool:
    if isinstance(new, str) or new.dtype.kind == "b" or (new.shape, new.dtype) != (old.shape, old.dtype):
        return np.array_equal(new, old)
    return bool((np.abs(new - old) <= _SAME * np.abs(old).max(initial=0.0)).all())
