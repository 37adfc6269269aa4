"""Run every section, or those named: python -m benchmarks [SECTION …], of those in SECTIONS and LARGE below."""

import sys

from rich.console import Console

from benchmarks import conversion, coverage, gpu, huge, learning, loading, scale, scaling, sketch, voyagers

SECTIONS = {
    "conversion": conversion.run,
    "sketch": sketch.run,
    "coverage": coverage.run,
    "scaling": scaling.run,
    "voyagers": voyagers.run,
    "learning": learning.run,
    "scale": scale.run,
}
LARGE = {"huge": huge.run, "loading": loading.run, "gpu": gpu.run}  # only where named: minutes, and gigabytes of disk


def main() -> None:
    wanted = sys.argv[1:] or list(SECTIONS)
    known = SECTIONS | LARGE
    unknown = [name for name in wanted if name not in known]
    if unknown:
        sys.exit(f"there is no section {unknown[0]!r}; choose among {', '.join(known)}")
    console = Console(width=150)
    for name in wanted:
        known[name](console)


if __name__ == "__main__":
    main()
