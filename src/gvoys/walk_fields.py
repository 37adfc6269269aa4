"""The fields of a walk with their defaults and help, where --help finds them without NumPy and Numba."""

from dataclasses import dataclass, field
from typing import Any


def _option(default: Any, kind: type, text: str, several: bool = False) -> Any:
    """Make a field, with its type on the command line, where `several` values may be given, and its help."""
    return field(default=default, metadata={"kind": kind, "several": several, "help": text})


_STRUCTURE = "Structural labels of nodes, as in core,closed: degree, core, closed, rows, deleted, ball1 or ball2."
_BANDWIDTH = "Compare node attributes by a Gaussian of this bandwidth; several, as in 0.5,2, are for one each."


@dataclass(frozen=True, eq=False, repr=False)
class WalkFields:
    """Walks: the fields of `gvoys.Walk`, which documents them."""

    max_length: int | None = _option(6, int, "The longest walk.")
    labels: str | None = _option("auto", str, "auto (of nodes, where there are any), node, edge, both or none.")
    refine: Any = _option(0, int, "Weisfeiler–Lehman iterations.")  # noqa: RUF009
    backtrack: Any = _option(True, bool, "Whether walks may backtrack.")  # noqa: RUF009
    structure: Any = _option(None, str, _STRUCTURE, several=True)  # noqa: RUF009
    attribute_bandwidth: Any = _option(None, float, _BANDWIDTH, several=True)  # noqa: RUF009
    edge_attribute_bandwidth: Any = _option(None, float, "Compare edge attributes in the same way.", several=True)  # noqa: RUF009
    start: Any = _option("uniform", str, "Weight of a node as the start of a walk: uniform (1 / n) or ones.")  # noqa: RUF009
    stop: Any = _option("uniform", str, "Weight of a node as the end of a walk: uniform or ones.")  # noqa: RUF009
