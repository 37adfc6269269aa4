"""Files of graphs, read as those of a model or of an earlier run were."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gvoys.errors import ParameterError
from gvoys.io.chemistry import as_chemistry
from gvoys.io.open import name_fields, open_source
from gvoys.io.sources import FileSource, GraphSource
from gvoys.io.sources.molecules import MoleculeSource
from gvoys.io.sources.named import DEFAULTS, NamedSource


def open_file(
    path: Any,
    like: Mapping[str, Any],
    smiles: str | None = None,
    chemistry: Any = None,
    id: str | None = None,
    root: Any = None,
    **fields: Any,
) -> FileSource:
    """Open a file as other graphs were opened, whose "smiles", "chemistry" and "fields" count where none are given."""
    right = like.get("chemistry")
    if None not in (chemistry, right) and as_chemistry(chemistry) != as_chemistry(right):
        was = as_chemistry(right).as_dict() or "the defaults"
        raise ParameterError(f"the other molecules were read with the chemistry {was}; leave out its options")
    source = path
    if not isinstance(path, GraphSource):
        source = open_source(path, smiles or like.get("smiles") or "smiles", id, None, root, chemistry)
        known = like.get("fields") or {}
        name_fields(source, DEFAULTS | (known if isinstance(source, NamedSource) else {}) | fields)
    if not isinstance(source, FileSource):
        raise ParameterError("this takes a file; for graphs in memory use the estimators, or write_store first")
    if right is not None and isinstance(source, MoleculeSource):  # other graphs have no chemistry
        source.chemistry = as_chemistry(right)
    return source


def open_as_trained(path: Any, model: Any, how: Mapping[str, Any]) -> FileSource:
    """Open a file as the graphs of a model, or of none, were opened; `how` has the options that were given."""
    like = getattr(model, "training_", None) or {}
    chemistry = as_chemistry(how["chemistry"])
    given = chemistry if chemistry.as_dict() or not like else None
    return open_file(path, like, **{**how, "chemistry": given})
