"""What kind of file some lines are the beginning of."""

from __future__ import annotations

import csv
from collections.abc import Callable
from contextlib import suppress

from gvoys.errors import GraphError, MissingDependencyError
from gvoys.io.chemistry.parse import fast_parser, parse_text, rdkit
from gvoys.io.graph6 import read_graph6
from gvoys.io.sources.ends import BOM, split_lines
from gvoys.io.sources.table import DELIMITERS

__all__ = ["HEAD", "guess_suffix"]

HEAD = 1 << 16  # bytes that are enough to guess
_LINES = 20  # of these
_HEADERS = (">>graph6<<", ">>sparse6<<")


def guess_suffix(head: bytes, smiles: str) -> str:
    """What the name of a file would end with.

    Parameters
    ----------
    head : bytes
        The beginning of the file, of up to HEAD bytes.
    smiles : str
        Column that holds the SMILES, if it is a table.

    Returns
    -------
    str
        ".csv" or ".tsv" for a header with that column, or one that is no SMILES, ".jsonl", ".g6", ".parquet", else
        ".smi".
    """
    lines = _first_lines(head)
    first = lines[0] if lines else ""
    if head.startswith(b"PAR1"):
        return ".parquet"
    if first.startswith(_HEADERS) or _is_graph6(lines):
        return ".g6"
    if first.startswith("{"):
        return ".jsonl"
    return _table(first, smiles) or ".smi"


def _first_lines(head: bytes) -> list[str]:
    lines = split_lines(head.removeprefix(BOM))
    if len(head) == HEAD and len(lines) > 1:
        del lines[-1]  # which may go on
    return [line.decode(errors="replace") for line in lines if line.strip()][:_LINES]


def _is_graph6(lines: list[str]) -> bool:
    """Whether all lines are graphs and one is no molecule: a few strings, such as CF, are both."""
    return bool(lines) and all(_reads(read_graph6, line.strip()) for line in lines) and not all(map(_is_smiles, lines))


def _is_smiles(line: str) -> bool:
    with suppress(MissingDependencyError):
        parse = fast_parser(rdkit())
        return _reads(lambda text: parse_text(text, parse), line.split()[0])
    return False


def _reads(read: Callable[[str], object], text: str) -> bool:
    try:
        read(text)
    except GraphError:
        return False
    return True


def _table(first: str, smiles: str) -> str | None:
    for suffix in (".csv", ".tsv"):
        names = next(csv.reader([first], delimiter=DELIMITERS[suffix]), [])
        if smiles.strip().lower() in [name.strip().lower() for name in names]:
            return suffix
    if "," in first.split("\t")[0].split(" ")[0]:  # no SMILES has a comma
        return ".csv"
    return ".tsv" if "\t" in first and not _is_smiles(first) else None
