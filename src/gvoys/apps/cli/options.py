"""Options of commands, each spelled once: groups of them that a command takes as one argument.

The docstring of a group is its title in --help.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import Field, dataclass, fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from gvoys.apps.cli.messages import naming
from gvoys.walk_fields import WalkFields

KINDS = (
    "SMILES (.smi, .csv, .tsv, .xlsx, .parquet), .g6, .s6, .jsonl, .json, .graphml, a store, a TU name, zip or folder, "
    "or - for standard input."
)
Data = Annotated[str, typer.Argument(help=KINDS)]
Targets = Annotated[
    list[str] | None,
    typer.Option(help="The column to predict; give it again for more. For TU datasets the class by default."),
]
Task = Annotated[
    str, typer.Option(help="classes or numbers; auto takes texts, and up to 20 different whole numbers, as classes.")
]
Folds = Annotated[int, typer.Option(help="Folds of the cross-validation.")]
OutFolder = Annotated[Path | None, typer.Option("--out", "-o", help="A folder for the results and plots.")]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace an output that is there; a run that was stopped starts anew.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON, and all else to standard error.")]
Jobs = Annotated[int | None, typer.Option(help="Threads; all by default.")]
Device = Annotated[str, typer.Option(help="cpu or cuda.")]
Attributes = Annotated[
    bool | None,
    typer.Option(
        "--attributes/--no-attributes", help="Use node attributes, or ignore them; by default, where they help."
    ),
]


@dataclass(frozen=True)
class Reading:
    """Reading the data"""

    smiles: Annotated[
        str | None,
        typer.Option(
            help="The column of a table that holds the SMILES: smiles, or that of the model's training table."
        ),
    ] = None
    id: Annotated[str | None, typer.Option(help="The column that holds the ids; else rows are numbered.")] = None
    root: Annotated[Path | None, typer.Option(help="A folder that holds the TU datasets, as NAME.zip or NAME/.")] = None
    node_label: Annotated[str | None, typer.Option(help="The field of nodes that is read as label; or none.")] = None
    edge_label: Annotated[str | None, typer.Option(help="The field of edges that is read as label; or none.")] = None
    weight: Annotated[str | None, typer.Option(help="The field of edges that is read as weight; or none.")] = None
    node_attributes: Annotated[
        list[str] | None, typer.Option(help="A field of numbers of the nodes, all by default; again for more; or none.")
    ] = None
    edge_attributes: Annotated[
        list[str] | None, typer.Option(help="A field of numbers of the edges, all by default; again for more; or none.")
    ] = None


_FIELDS = ("node_label", "edge_label", "weight", "node_attributes", "edge_attributes")


@dataclass(frozen=True)
class Molecules:
    """Molecules"""

    fragments: Annotated[str, typer.Option(help="keep all of a salt, or its largest fragment.")] = "keep"
    charges: Annotated[bool, typer.Option("--charges", help="Atoms that differ in charge have different labels.")] = (
        False
    )
    isotopes: Annotated[bool, typer.Option("--isotopes", help="Isotopes have different labels.")] = False
    stereo: Annotated[bool, typer.Option("--stereo", help="R and S, and E and Z bonds, have different labels.")] = False
    hydrogens: Annotated[str, typer.Option(help="count them in the label of their atom, ignore, or atoms.")] = "count"
    atoms: Annotated[str, typer.Option(help="usual labels; element alone; or fine, with charge, degree and rings.")] = (
        "usual"
    )


@dataclass(frozen=True)
class Splitting:
    """Folds"""

    split: Annotated[
        str,
        typer.Option(
            help="random; scaffold, for molecules; or group, which keeps rows with the same --group together."
        ),
    ] = "random"
    group: Annotated[str | None, typer.Option(help="The column that --split group goes by.")] = None
    duplicates: Annotated[
        str, typer.Option(help="keep, in one fold, or merge: molecules that have the same canonical SMILES become one.")
    ] = "keep"


def fields_of(walks: WalkFields) -> dict[str, Any]:
    """Return the fields of a walk that options stand for."""
    result = {item.name: _values(item, getattr(walks, item.name)) for item in fields(WalkFields)}
    return result | {"labels": None if walks.labels == "none" else walks.labels}


def _values(field: Field[Any], given: Any) -> Any:
    if given is None or not field.metadata["several"]:
        return given
    try:
        values = tuple(field.metadata["kind"](item.strip()) for item in given.split(","))
    except ValueError:
        raise typer.BadParameter(f"--{field.name.replace('_', '-')} takes numbers, not {given!r}") from None
    return values[0] if len(values) == 1 else values


@dataclass(frozen=True)
class Counting:
    """Kernel"""

    series: Annotated[str, typer.Option(help="geometric or exponential.")] = "geometric"
    decay: Annotated[
        float | None,
        typer.Option(
            help="Of the series. By default 1 / d_max² of the graphs; embed takes 1/16, so that any two runs compare."
        ),
    ] = None
    method: Annotated[
        str, typer.Option(help="auto, moments, sketch, voyagers, or sequences: counts of label sequences, sparse.")
    ] = "auto"
    components: Annotated[int, typer.Option(help="Width of the sketch.")] = 512
    columns: Annotated[int | None, typer.Option(help="Columns that sequences are hashed to; 1,048,576 by default.")] = (
        None
    )
    seed: Annotated[int, typer.Option(help="Seed of the sketch, or of the columns.")] = 0


@dataclass(frozen=True)
class Parts:
    """Parts of the run"""

    rows_per_part: Annotated[int, typer.Option(help="Rows of the input in a part.")] = 4096
    workers: Annotated[int | None, typer.Option(help="Processes on this machine (a local Dask cluster).")] = None
    scheduler: Annotated[str | None, typer.Option(help="The address of a Dask scheduler, as in tcp://host:8786.")] = (
        None
    )


def flat(command: Callable[..., None]) -> Callable[..., None]:
    """Make a command for typer, with the options of each group in the place of the group."""
    kinds: dict[str, Any] = get_type_hints(command, include_extras=True)
    grouped: dict[str, Any] = {name: kind for name, kind in kinds.items() if is_dataclass(kind)}
    parameters = inspect.signature(command).parameters
    options = [option for name in parameters for option in _spell_options(parameters[name], kinds[name])]

    @wraps(command)
    def called(**values: Any) -> None:
        groups = {
            name: group(**{field.name: values.pop(field.name) for field in fields(group)})
            for name, group in grouped.items()
        }
        with naming(values.get("out")):
            command(**values, **groups)

    # arguments and options with a default may stand in any order, but Python's signatures want one
    ordered = sorted(options, key=lambda option: option.default is not inspect.Parameter.empty)
    vars(called)["__signature__"] = inspect.Signature(ordered)
    called.__annotations__ = {option.name: option.annotation for option in ordered}
    return called


def _spell_options(parameter: inspect.Parameter, kind: Any) -> Iterator[inspect.Parameter]:
    """Yield the options that a parameter of a command stands for; several values of a walk are one text."""
    if not is_dataclass(kind):
        yield parameter.replace(annotation=kind, kind=inspect.Parameter.KEYWORD_ONLY)
        return
    hints = get_type_hints(kind, include_extras=True)
    for field in fields(kind):
        if kind is WalkFields:
            given = str if field.metadata["several"] else field.metadata["kind"]
            given, option = given | None if field.default is None else given, typer.Option(help=field.metadata["help"])
        else:
            given, option = hints[field.name].__origin__, copy(hints[field.name].__metadata__[0])
        option.rich_help_panel = (kind.__doc__ or "").partition(":")[0]
        shown: Any = Annotated[given, option]
        yield inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=shown)


def is_given(context: typer.Context, name: str) -> bool:
    """Return whether the user has given an option, by the name of its parameter."""
    source = context.get_parameter_source(name)
    return source is not None and source.name != "DEFAULT"


def given_options(reading: Reading) -> dict[str, Any]:
    """Return the options of `open_graphs` that were given."""
    given = {name: value for name, value in vars(reading).items() if value is not None}
    nothing: dict[str, Any] = {"none": None, "['none']": []}
    return {name: nothing.get(str(value), value) if name in _FIELDS else value for name, value in given.items()}


def read_options(reading: Reading, molecules: Molecules) -> dict[str, Any]:
    """Return the options of `open_graphs` that were given, and the chemistry."""
    return {**given_options(reading), "chemistry": vars(molecules)}


def columns_of(target: list[str] | None) -> list[Any]:
    """List the columns to predict once; None stands for the one that the data has."""
    return [*dict.fromkeys(target)] if target else [None]
