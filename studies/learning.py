"""How well the learners predict measured properties of molecules, and how fast they learn.

python -m studies learning [--only SECTION,…] [--sets NAME,…] [--again]: every result is kept in
studies/results/learning.jsonl as soon as it is there, so that a run that was ended goes on where it was. The tables
of all that is there are written to studies/results/learning.md.
"""

import argparse
from pathlib import Path

from rich.console import Console

import gvoys as gv
from gvoys.errors import DatasetError
from studies.against import HERE
from studies.learning_results import Results
from studies.learning_tables import SHEETS
from studies.learning_tasks import SECTIONS, Task, compute
from studies.timing import show

KEPT = HERE / "results" / "learning.jsonl"


def main(arguments: list[str], console: Console) -> int:
    """Compute what is missing, then show all."""
    parser = argparse.ArgumentParser("python -m studies learning", description=__doc__)
    parser.add_argument("--only", type=_sections, default=list(SECTIONS), help=f"some of {','.join(SECTIONS)}")
    parser.add_argument("--sets", type=lambda text: text.split(","), help="only these sets")
    parser.add_argument("--again", action="store_true", help="compute what is there already anew")
    options = parser.parse_args(arguments)
    results = Results(KEPT)
    for section in options.only:
        tasks = [task for task in SECTIONS[section] if not options.sets or task.set in options.sets]
        try:
            _run([task for task in tasks if options.again or task not in results], results, console)
        except DatasetError as error:
            console.print(f"{section} is skipped: {error}", markup=False)
    for section in options.only:
        rows = results.rows(SECTIONS[section])
        if rows:
            console.print(SHEETS[section](rows).rich())
    write_tables(KEPT.with_suffix(".md"), results)
    return 0


def _sections(text: str) -> list[str]:
    names = text.split(",")
    unknown = [name for name in names if name not in SECTIONS]
    if unknown:
        raise argparse.ArgumentTypeError(f"there is no section {unknown[0]!r}; choose among {', '.join(SECTIONS)}")
    return names


def _run(tasks: list[Task], results: Results, console: Console) -> None:
    warm: set[str] = set()
    for place, task in enumerate(tasks, 1):
        what = f"{task.section} {place}/{len(tasks)}: {task.set}, {task.split}, {task.method.name}"
        with console.status(f"{what} …"):
            found = compute(task, warm)
        results.add(task, found)
        skipped = f", {found['n_skipped']} rows skipped" if found["n_skipped"] else ""
        console.print(f"{what}: fitted in {show(found['seconds'])}{skipped}", markup=False)


def write_tables(path: Path, results: Results) -> None:
    """The tables of all sections of which something is known."""
    found = {section: results.rows(tasks) for section, tasks in SECTIONS.items()}
    sheets = [SHEETS[section](rows).markdown() for section, rows in found.items() if rows]
    path.write_text("\n".join([f"# `python -m studies learning`, gvoys {gv.__version__}\n", *sheets]))
