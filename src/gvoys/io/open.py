"""open_graphs: the one entry point for files of graphs, tables of molecules and graphs in memory."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import Any

from gvoys.errors import DatasetError, GraphError, MissingDependencyError, ParameterError
from gvoys.graphs.batch import GraphBatch
from gvoys.io.chemistry.parse import Chemistry, as_chemistry, fast_parser, parse_text, rdkit
from gvoys.io.convert import as_list
from gvoys.io.copies import CONVERTED, TemporaryCopy, convert, copy_pipe, copy_stdin, unpack
from gvoys.io.fetch import find_dataset
from gvoys.io.files import did_you_mean, names_in
from gvoys.io.graph_formats import GRAPH6_HEADERS, read_graph6
from gvoys.io.sources.graph_sources import (
    DEFAULTS,
    BatchSource,
    JsonSource,
    NamedSource,
    ObjectsSource,
    StoreSource,
    TuSource,
)
from gvoys.io.sources.lines import BOM, Graph6Source, SmilesSource, split_lines
from gvoys.io.sources.source import GraphSource, MoleculeSource
from gvoys.io.sources.table_sources import DELIMITERS, ColumnsSource, ParquetSource, TextTableSource

KINDS = (
    ".smi, .csv, .tsv, .txt, .xlsx or .parquet (SMILES), .g6, .s6, .jsonl, .json, .graphml, a TU .zip or folder, or a "
    "store; text may be compressed, as in .smi.gz"
)
_SMILES = {".smi", ".smiles"}
_GRAPH6 = {".g6", ".s6", ".graph6", ".sparse6"}
_JSON = {".jsonl", ".ndjson"}
_TEXT = _SMILES | _GRAPH6 | _JSON | set(DELIMITERS) | CONVERTED

HEAD = 1 << 16  # bytes that are enough to guess the kind of a file
_GUESSED_LINES = 20  # of these

Target = str | Sequence[str] | None


def open_graphs(
    source: Any,
    *,
    smiles: str = "smiles",
    id: str | None = None,
    target: str | Sequence[str] | None = None,
    root: str | PathLike[str] | None = None,
    chemistry: Chemistry | dict[str, Any] | None = None,
    node_label: str | None = "label",
    edge_label: str | None = "label",
    weight: str | None = "weight",
    node_attributes: str | Sequence[str] | None = None,
    edge_attributes: str | Sequence[str] | None = None,
) -> GraphSource:
    """Open graphs of any kind: a file, a dataset by its name, a table of SMILES, or graphs in memory.

    Rows that cannot be read are skipped, and listed with the reason. Rows of a text file have the numbers of its lines,
    so that the first one after a header is row 2; those of a workbook likewise. All others are numbered from 1.

    Parameters
    ----------
    source : path, str, DataFrame or list
        - a table of SMILES: .csv, .tsv or .txt, whose columns are separated by commas, tabs, semicolons (then 1,5 is
          a number) or bars; .parquet, .xlsx (the first sheet, by openpyxl), or a DataFrame; a row of text is one line;
        - SMILES: .smi, with an id after each SMILES, or a list of strings;
        - graphs: .g6, .s6, a store; .jsonl, .json (node-link, one graph per line, or one or a list of them), .graphml,
          whose columns are what each graph says under "graph" or of itself;
        - any of these text files compressed by gzip, as in .smi.gz, or "-" for standard input or a named pipe, whose
          kind is guessed from the first lines; all are read from a temporary copy;
        - a dataset of the TU collection: a zip, a folder, or its name, such as "MUTAG"; its column is "class", or
          "target" for real numbers;
        - what `open_graphs` returned, as it is;
        - a GraphBatch, or a list of anything that `as_batch` takes: networkx, igraph, PyG, SciPy, GraKeL, RDKit.
    smiles : str, default="smiles"
        Column of a table that holds the SMILES. Case does not matter in names of columns.
    id : str or None, default=None
        Column that holds the ids; None numbers the rows from 1, whatever the form. A row without an id is skipped.
    target : str, sequence of str or None, default=None
        Column or columns to predict. A row without a target is skipped.
    root : str, path-like or None, default=None
        A folder that holds TU datasets, as NAME.zip or NAME/, where `source` is a name; None looks where
        `datasets.load_tu` does.
    chemistry : Chemistry, dict or None, default=None
        What a molecule's graph contains: `gvoys.io.Chemistry`, or a dictionary of its options; None means
        the defaults. RDKit molecules are always read by the defaults.
    node_label, edge_label, weight : str or None
        Names of the fields that hold labels and weights, in .jsonl, .json, .graphml and graphs in memory; None reads
        none.
    node_attributes, edge_attributes : str, sequence of str or None, default=None
        Names of the fields that hold real attributes, numbers or vectors. None takes, in files, the fields which in all
        nodes (or edges) of the first graph hold vectors, or numbers that are not all whole; [] takes none.

    Returns
    -------
    GraphSource
        Its method `read` gives all graphs with ids, columns and skipped rows, `batches` the same piece by piece.

    Raises
    ------
    DatasetError
        If there is no such file, column or field, the file is of no kind that can be read, or `chemistry` is given
        and the graphs do not come from SMILES.

    Examples
    --------
    >>> graphs = open_graphs(["CCO", "C1CC", "c1ccccc1"]).read()
    >>> graphs.batch, graphs.ids
    (GraphBatch(2 graphs, 9 nodes, 8 edges, 4 node labels, 2 edge labels), ['1', '3'])
    >>> graphs.skipped
    [Skipped(row=2, text='C1CC', reason="RDKit cannot read the SMILES 'C1CC'")]
    """
    if isinstance(source, GraphSource):
        return source
    opened = open_source(source, smiles, id, target, root, chemistry)
    values = (node_label, edge_label, weight, node_attributes, edge_attributes)
    name_fields(opened, dict(zip(DEFAULTS, values, strict=True)))
    return opened


def name_fields(opened: GraphSource, fields: Mapping[str, Any]) -> None:
    """Say which fields a source reads, where some are not those that it reads by default."""
    given = {name: value for name, value in fields.items() if value != DEFAULTS[name]}
    if isinstance(opened, NamedSource):
        opened.name_fields(given)
    elif given:
        raise DatasetError(f"{opened} has no fields with names; leave out {', '.join(given)}")


def open_source(
    source: Any,
    smiles: str = "smiles",
    id: str | None = None,
    target: Target = None,
    root: Any = None,
    chemistry: Chemistry | dict[str, Any] | None = None,
) -> GraphSource:
    """Open graphs as `open_graphs` does, and leave it to `name_fields` which fields are read."""
    _check_names(smiles, id, target)
    try:
        opened = _open(source, smiles, id, target, root)
    except OSError as error:
        raise DatasetError(f"{source} cannot be read: {error.strerror or error}") from None
    if target is not None and not opened.target_names:
        raise no_columns(opened)
    if id is not None and not opened.has_ids:
        raise DatasetError(f"{opened} has no column of ids; leave out id=… or --id")
    set_chemistry(opened, as_chemistry(chemistry))
    return opened


def set_chemistry(opened: GraphSource, chemistry: Chemistry) -> None:
    """Choose what of its molecules becomes part of the graphs of a source."""
    if isinstance(opened, MoleculeSource):
        opened.chemistry = chemistry
    elif chemistry != Chemistry():
        names = ", ".join(chemistry.as_dict())
        raise DatasetError(f"{opened} holds no SMILES, and only these have options of chemistry; leave out {names}")


def _check_names(smiles: Any, id: Any, target: Any) -> None:
    for option, name in (("smiles", smiles), ("id", id)):
        if not isinstance(name, str) and (name is not None or option == "smiles"):
            raise ParameterError(f"{option} must be the name of a column, not {name!r}")
    names = [target] if isinstance(target, str) else [] if target is None else target
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
        raise ParameterError(f"target must be the name or names of columns, not {target!r}")


def no_columns(source: GraphSource) -> DatasetError:
    """Return what to raise where there is nothing to predict."""
    needed = 'a table, a TU dataset, or .jsonl with values under "graph"'
    return DatasetError(f"{source} has no columns to predict; a target needs {needed}")


def _open(source: Any, smiles: str, id: str | None, target: Target, root: Any) -> GraphSource:
    if isinstance(source, str) and source == "-":
        return _open_stdin(smiles, id, target)
    if isinstance(source, (str, PathLike)):
        return _open_path(_locate(source, root), smiles, id, target)
    if hasattr(source, "iloc") and hasattr(source, "columns"):  # a DataFrame, without importing pandas
        columns: dict[str, Any] = {}
        for number, name in enumerate(source.columns):
            columns.setdefault(str(name), source.iloc[:, number].tolist())  # of two alike, the first
        return ColumnsSource("the DataFrame", columns, smiles, id, target)
    if isinstance(source, GraphBatch):
        return BatchSource(source)
    if getattr(source, "ndim", None) == 1 and hasattr(source, "tolist"):  # a Series or an array of strings
        source = source.tolist()
    items = as_list(source, "open_graphs")
    if any(isinstance(item, str) for item in items):
        return ColumnsSource("the list", {"smiles": items}, "smiles", id, target)
    if items and all(isinstance(item, GraphBatch) for item in items):
        return BatchSource(GraphBatch.concatenate(items))
    return ObjectsSource(items)


def _locate(source: str | PathLike[str], root: Any) -> Path:
    """Return the path, or the path of the dataset of this name."""
    path = Path(source)
    named = isinstance(source, str) and path.name == source and not path.exists() and not path.suffix
    if named or (root is not None and path.suffix.lower() not in _TEXT | {".parquet", ".gz"}):
        return find_dataset(str(source), root, names_in(Path()) if named else ()).absolute()
    if not path.exists():
        folder = "" if path.parent == Path() else f"{path.parent}{os.sep}"
        near = did_you_mean(path.name, names_in(path.parent), folder)
        raise DatasetError(f"there is no file or folder {path}{near}")
    return path.absolute()  # workers may stand elsewhere


def _open_path(path: Path, smiles: str, id: str | None, target: Target, kind: str = "") -> GraphSource:
    suffix = kind or path.suffix.lower()
    if path.is_fifo():
        return _open_pipe(copy_pipe(path), path.stem if suffix == ".gz" else path.name, smiles, id, target)
    if path.is_dir():
        return StoreSource(path) if (path / "manifest.json").exists() else TuSource(path, target)
    path.open("rb").close()  # an error of the system is told here, and not in the middle of a run
    if suffix == ".zip":
        return TuSource(path, target)
    copy, kind = convert(path, suffix) if suffix in _TEXT and not kind else (None, "")
    if copy is not None:
        return _open_copy(copy, smiles, id, target, kind)
    if suffix in DELIMITERS:
        return TextTableSource(path, smiles, id, target)
    if suffix == ".parquet":
        return ParquetSource(path, smiles, id, target)
    if suffix in _JSON:
        return JsonSource(path, id, target)
    if suffix in _SMILES:
        return SmilesSource(path)
    if suffix in _GRAPH6:
        return Graph6Source(path)
    if suffix == ".gz" and Path(path.stem).suffix.lower() in _TEXT:
        return _open_copy(unpack(path, path.stem), smiles, id, target)
    raise DatasetError(f"{path.name} is not one of {KINDS}")


def _open_stdin(smiles: str, id: str | None, target: Target) -> GraphSource:
    return _open_pipe(copy_stdin(), "stdin", smiles, id, target)


def _open_pipe(copy: TemporaryCopy, name: str, smiles: str, id: str | None, target: Target) -> GraphSource:
    """Open a copy under a name, to which a suffix that is guessed is added unless it has one."""
    if Path(name).suffix.lower() not in _TEXT | {".parquet", ".gz", ".zip"}:
        with copy.path.open("rb") as file:
            name += guess_suffix(file.read(HEAD), smiles)
    copy.rename(name)
    return _open_copy(copy, smiles, id, target)


def _open_copy(copy: TemporaryCopy, smiles: str, id: str | None, target: Target, kind: str = "") -> GraphSource:
    opened = _open_path(copy.path, smiles, id, target, kind)
    opened.temporary = [copy, opened.temporary]  # which live as long
    return opened


def guess_suffix(head: bytes, smiles: str) -> str:
    """Return what the name of a file would end with; a table has a column of SMILES, or a header that is no SMILES."""
    is_utf16 = head.startswith((b"\xff\xfe", b"\xfe\xff"))
    lines = _first_lines(head.decode("utf-16", errors="replace").encode() if is_utf16 else head)
    first = lines[0].strip() if lines else ""
    if head.startswith(b"PAR1"):
        return ".parquet"
    if head.startswith(b"PK") and b"[Content_Types].xml" in head:
        return ".xlsx"
    if first.startswith("<"):
        return ".graphml"
    if first.startswith("[{") or first in ("{", "["):
        return ".json"
    if first.startswith(GRAPH6_HEADERS) or _is_graph6(lines):
        return ".g6"
    if first.startswith("{"):
        return ".jsonl"
    return _table_suffix(first, smiles) or ".smi"


def _first_lines(head: bytes) -> list[str]:
    lines = split_lines(head.removeprefix(BOM))
    if len(head) == HEAD and len(lines) > 1:
        del lines[-1]  # which may go on
    return [line.decode(errors="replace") for line in lines if line.strip()][:_GUESSED_LINES]


def _is_graph6(lines: list[str]) -> bool:
    """Return whether all lines are graphs and one is no molecule: a few strings, as CF, are both."""
    are_graphs = bool(lines) and all(_can_read(read_graph6, line.strip()) for line in lines)
    return are_graphs and not all(map(_is_smiles, lines))


def _is_smiles(line: str) -> bool:
    with suppress(MissingDependencyError):
        parse = fast_parser(rdkit())
        return _can_read(lambda text: parse_text(text, parse), line.split()[0])
    return False


def _can_read(read: Callable[[str], object], text: str) -> bool:
    try:
        read(text)
    except GraphError:
        return False
    return True


def _table_suffix(first: str, smiles: str) -> str | None:
    for delimiter, suffix in ((",", ".csv"), ("\t", ".tsv"), (";", ".csv"), ("|", ".csv")):
        names = next(csv.reader([first], delimiter=delimiter), [])
        if smiles.strip().lower() in [name.strip().lower() for name in names]:
            return suffix
    if {",", ";"} & set(first.split("\t")[0].split(" ")[0]):  # which no SMILES has
        return ".csv"
    return ".tsv" if "\t" in first and not _is_smiles(first) else None
