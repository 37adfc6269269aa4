"""Run every section, or those named: python -m studies [SECTION …], of those in SECTIONS and LARGE below.

Comparisons have options, which --help lists: `python -m studies against` of times with those of an older revision,
`golden` of results with it, `accuracy` of the classifier's, `learning` of predictions with those by fingerprints,
`peers` with other packages; `structure` measures the code itself;
`soak` runs for minutes and tells whether anything grows.
"""

import signal
import sys

from rich.console import Console

from gvoys.errors import GvoysError
from studies import (
    accuracy,
    against,
    brec,
    closed,
    combined,
    coverage,
    explain,
    golden,
    gpu,
    huge,
    learning,
    loading,
    newcomer,
    nodes,
    pairs,
    parts,
    scale,
    scaling,
    search,
    sketch,
    soak,
    structure,
    unlabelled,
    voyagers,
)
from studies.peers import command as peers

SECTIONS = {
    "sketch": sketch.run,
    "combined": combined.run,
    "coverage": coverage.run,
    "scaling": scaling.run,
    "voyagers": voyagers.run,
    "scale": scale.run,
}
# only where named: they take minutes, gigabytes of disk, or data that do not come with a package
LARGE = {
    "huge": huge.run,
    "loading": loading.run,
    "gpu": gpu.run,
    "newcomer": newcomer.run,
    "nodes": nodes.run,
    "nodes-gpu": nodes.run_on_gpu,
    "pairs": pairs.run,
    "parts": parts.run,
    "brec": brec.run,
    "closed": closed.run,
    "explain": explain.run,
    "search": search.run,
    "unlabelled": unlabelled.run,
}

COMPARISONS = {
    "accuracy": accuracy.main,
    "against": against.main,
    "golden": golden.main,
    "learning": learning.main,
    "peers": peers.main,
    "soak": soak.main,
    "structure": structure.main,
}


def main() -> None:
    if sys.argv[1:2] and sys.argv[1] in COMPARISONS:  # these have options and a status
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # the worktree goes away then too
        try:
            sys.exit(COMPARISONS[sys.argv[1]](sys.argv[2:], Console(width=150)))
        except (against.CannotRun, GvoysError, OSError) as error:
            sys.exit(f"studies: {error}")
    wanted = sys.argv[1:] or list(SECTIONS)
    known = SECTIONS | LARGE
    unknown = [name for name in wanted if name not in known]
    if unknown:
        sys.exit(f"there is no section {unknown[0]!r}; choose among {', '.join([*known, *COMPARISONS])}")
    console = Console(width=150)
    for name in wanted:
        known[name](console)


if __name__ == "__main__":
    main()
