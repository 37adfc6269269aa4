"""What the numbers of a TU dataset's labels stand for, where its notes tell."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from gvoys.io.tu.archive import open_archive
from gvoys.io.tu.dataset import dataset_name

_SECTION = re.compile(r"(node|edge|class) labels\b", re.IGNORECASE)
_END = re.compile(r"===|component [1-9]", re.IGNORECASE)  # the first of several components names labels well enough
_ENTRY = re.compile(r"\s*(\d{1,18})\s+(\S+)\s*$")


@dataclass(frozen=True)
class LabelNames:
    """Names of node and edge labels, by their numbers."""

    nodes: dict[int, str] = field(default_factory=dict)
    edges: dict[int, str] = field(default_factory=dict)


# GraKeL's copy of the dataset comes without its notes.
_MUTAG = LabelNames(
    dict(enumerate(("C", "N", "O", "F", "I", "Cl", "Br"))), dict(enumerate(("aromatic", "single", "double", "triple")))
)


def read_names(path: Path) -> LabelNames:
    """Names of labels by the notes in a dataset's zip or folder, empty where these give none."""
    name = dataset_name(path)
    with open_archive(path, name) as archive:
        notes = archive.read_notes()
    found = parse_names(notes.decode("utf-8", "replace")) if notes else LabelNames()
    return _MUTAG if name == "MUTAG" and not found.nodes else found


def parse_names(notes: str) -> LabelNames:
    """Find the lines of a number and a name below a line that begins with "Node labels" or "Edge labels".

    >>> parse_names("Node labels:\\n\\n  0  C\\n  1  N\\n\\nEdge labels:\\n  0  single\\n")
    LabelNames(nodes={0: 'C', 1: 'N'}, edges={0: 'single'})
    """
    sections: dict[str, dict[int, str]] = {"node": {}, "edge": {}, "class": {}}
    section = "class"
    for line in notes.splitlines():
        if head := _SECTION.match(line):
            section = head[1].lower()
        elif _END.match(line):
            section = "class"
        elif entry := _ENTRY.match(line):
            sections[section][int(entry[1])] = entry[2]
    return LabelNames(sections["node"], sections["edge"])
