"""What kind of file some lines are the beginning of."""

from __future__ import annotations

import csv
from collections.abc import Callable
from contextlib import suppress

from gvoys.errors import GraphError, MissingDependencyError
from gvoys.io.chemistry.parse import fast_parser, parse_text, rdkit
from gvoys.io.graph6 import read_graph6
from gvoys.io.sources.ends import BOM, split_lines

HEAD = 1 << 16  # bytes that are enough to guess
_LINES = 20  # of these
_HEADERS = (">>graph6<<", ">>sparse6<<")


def guess_suffix(head: bytes, smiles: str) -> str:
    """Return what the name of a file would end with; a table has a column of SMILES, or a header that is no SMILES."""
    lines = _first_lines(_as_utf8(head))
    first = lines[0].strip() if lines else ""
    if head.startswith(b"PAR1"):
        return ".parquet"
    if head.startswith(b"PK") and b"[Content_Types].xml" in head:
        return ".xlsx"
    if first.startswith("<"):
        return ".graphml"
    if first.startswith("[{") or first in ("{", "["):
        return ".json"
    if first.startswith(_HEADERS) or _is_graph6(lines):
        return ".g6"
    if first.startswith("{"):
        return ".jsonl"
    return _table(first, smiles) or ".smi"


def _as_utf8(head: bytes) -> bytes:
    is_utf16 = head.startswith((b"\xff\xfe", b"\xfe\xff"))
    return head.decode("utf-16", errors="replace").encode() if is_utf16 else head


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
    for delimiter, suffix in ((",", ".csv"), ("\t", ".tsv"), (";", ".csv"), ("|", ".csv")):
        names = next(csv.reader([first], delimiter=delimiter), [])
        if smiles.strip().lower() in [name.strip().lower() for name in names]:
            return suffix
    if {",", ";"} & set(first.split("\t")[0].split(" ")[0]):  # which no SMILES has
        return ".csv"
    return ".tsv" if "\t" in first and not _is_smiles(first) else None
