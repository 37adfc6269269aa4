"""Models that predict together: one file, or a folder with one for each target."""

from __future__ import annotations

import functools
import hashlib
import operator
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any

from numpy.typing import NDArray

from gvoys.errors import ModelError
from gvoys.graphs.batch import GraphBatch
from gvoys.io.files import as_path
from gvoys.io.sources.base import digest_file


@dataclass(frozen=True)
class Models:
    """Models of the same kind of graphs."""

    by_name: dict[str, Any]  # the models
    digest: str  # what tells their files from others

    @property
    def reading(self) -> Mapping[str, Any]:
        """Return how the graphs were read that they were trained on; each model has the fields that it uses."""
        first, *others = map(_training, self.by_name.values())
        return first | {"fields": functools.reduce(operator.or_, map(_fields, others), _fields(first))}

    def predict_table(self, batch: GraphBatch) -> dict[str, NDArray[Any]]:
        """All columns of all models."""
        return {
            f"{name}{column}": values
            for name, model in self.by_name.items()
            for column, values in model.predict_table(batch).items()
        }

    def training_ids(self) -> dict[str, list[str]]:
        """Ids of the training graphs, by name of the column that numbers them."""
        known = {f"{name}nearest": _training(model).get("ids") for name, model in self.by_name.items()}
        return {column: ids for column, ids in known.items() if ids}


def _training(model: Any) -> dict[str, Any]:
    return getattr(model, "training_", None) or {}


def _fields(training: Mapping[str, Any]) -> dict[str, Any]:
    return training.get("fields") or {}


def load_models(path: str | PathLike[str]) -> Models:
    """Load a model, or all of the folder that `gvoys train` wrote for several targets."""
    from gvoys.estimators.saving import load_model  # all of the learners, which gvoys embed does without

    path = as_path(path)
    if not path.is_dir():
        return Models({"": load_model(path)}, digest_file(path))
    files = sorted(path.glob("*.gvoys"))
    if not files:
        raise ModelError(f"{path} is a folder without models, whose names end in .gvoys")
    loaded = {file: load_model(file) for file in files}
    digests = "".join(digest_file(file) for file in files)
    by_name = {f"{_training(model).get('target') or file.stem} ": model for file, model in loaded.items()}
    read = [{key: _training(model).get(key) for key in ("smiles", "chemistry")} for model in loaded.values()]
    models = Models(by_name, hashlib.blake2b(digests.encode(), digest_size=16).hexdigest())
    fields = models.reading["fields"].items()
    equal = all(training == read[0] for training in read) and all(
        _fields(_training(m)).items() <= fields for m in by_name.values()
    )
    if len(by_name) < len(files) or not equal:
        raise ModelError(
            f"the models of {path} do not predict together: two have the same target, or their graphs were read with "
            "other columns, fields or chemistry; use them one by one"
        )
    return models


def load_one(path: str | PathLike[str]) -> Any:
    """Load a model where one is wanted."""
    models = list(load_models(path).by_name.values())
    if len(models) > 1:
        raise ModelError(f"{path} holds {len(models)} models, and one is wanted: name its file in {path}")
    return models[0]
