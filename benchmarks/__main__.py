"""Run every section, or those named: python -m benchmarks [SECTION …], of those in SECTIONS below."""

import sys

from rich.console import Console

from benchmarks import conversion, learning, mutag, scaling, sketch, voyagers

SECTIONS = {
    "conversion": conversion.run,
    "mutag": mutag.run,
    "sketch": sketch.run,
    "scaling": scaling.run,
    "voyagers": voyagers.run,
    "learning": learning.run,
}


def main() -> None:
    wanted = sys.argv[1:] or list(SECTIONS)
    unknown = [name for name in wanted if name not in SECTIONS]
    if unknown:
        sys.exit(f"there is no section {unknown[0]!r}; choose among {', '.join(SECTIONS)}")
    console = Console(width=150)
    for name in wanted:
        SECTIONS[name](console)


if __name__ == "__main__":
    main()
