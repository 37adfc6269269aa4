"""Files of graphs, read as those of a model or of an earlier run were."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gvoys.errors import ParameterError
from gvoys.io.chemistry import as_chemistry
from gvoys.io.open import open_graphs
from gvoys.io.sources import FileSource
from gvoys.io.sources.molecules import MoleculeSource

__all__ = ["open_as_trained", "open_file"]


def open_file(path: Any, like: Mapping[str, Any], smiles: str | None, chemistry: Any, **where: Any) -> FileSource:
    """Open a file as other graphs were opened.

    Parameters
    ----------
    path : str, path-like or FileSource
        A file, folder or name of a dataset that `open_graphs` takes.
    like : mapping
        How others were read: their "smiles", the column of SMILES, and "chemistry", where known.
    smiles : str or None
        Column of SMILES; None means theirs, or "smiles".
    chemistry : Chemistry, dict or None
        Options of chemistry; None means theirs.
    **where : object
        Options of `open_graphs`: `id` and `root`.

    Returns
    -------
    FileSource
        The file.

    Raises
    ------
    ParameterError
        If the graphs are in memory, or `chemistry` is not theirs.
    """
    theirs = like.get("chemistry")
    if None not in (chemistry, theirs) and as_chemistry(chemistry) != as_chemistry(theirs):
        was = as_chemistry(theirs).as_dict() or "the defaults"
        raise ParameterError(f"the other molecules were read with the chemistry {was}; leave out its options")
    source = open_graphs(path, smiles=smiles or like.get("smiles") or "smiles", chemistry=chemistry, **where)
    if not isinstance(source, FileSource):
        raise ParameterError("this takes a file; for graphs in memory use the estimators, or write_store first")
    if theirs is not None and isinstance(source, MoleculeSource):  # other graphs have no chemistry
        source.chemistry = as_chemistry(theirs)
    return source


def open_as_trained(path: Any, model: Any, how: Mapping[str, Any]) -> FileSource:
    """Open a file as the graphs of a model were opened; options that were left at their defaults are the model's.

    Parameters
    ----------
    path : str, path-like or FileSource
        A file, folder or name of a dataset that `open_graphs` takes.
    model : estimator or None
        A fitted model; None takes the options as they are.
    how : mapping
        Options of `open_graphs`: `smiles`, `chemistry`, `id` and `root`.

    Returns
    -------
    FileSource
        The file.
    """
    like = getattr(model, "training_", None) or {}
    chemistry = as_chemistry(how["chemistry"])
    smiles = None if how["smiles"] == "smiles" and like else how["smiles"]
    given = chemistry if chemistry.as_dict() or not like else None
    return open_file(path, like, smiles, given, id=how["id"], root=how["root"])
