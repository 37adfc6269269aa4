"""The paper's figures as experiments: each with its numbers, a picture, and the paper's number beside ours.

One module per figure, table or theorem; `EXPERIMENTS` lists them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from gvoys.drawing.page import describe_machine
from gvoys.errors import ParameterError
from studies.paper import bound, fig3, fig4, fig5, learn, protocol, rademacher, table1, unbiased
from studies.paper.page import write_page
from studies.paper.result import Plan, Result, read_result, write_result

__all__ = ["EXPERIMENTS", "Plan", "Result", "reproduce"]

EXPERIMENTS: dict[str, Callable[[Plan], Result]] = {
    "fig3": fig3.run,
    "fig4": fig4.run,
    "fig5": fig5.run,
    "table1": table1.run,
    "protocol": protocol.run,
    "learn": learn.run,
    "unbiased": unbiased.run,
    "rademacher": rademacher.run,
    "bound": bound.run,
}


@dataclass(frozen=True)
class Report:
    """What was run now, and the page on that and on what had been run into the same folder before."""

    results: list[Result]
    page: Path


def reproduce(names: list[str], plan: Plan, out: Path) -> Report:
    """Run experiments and write a JSON file and pictures for each, and one page on all that the folder has."""
    wanted = list(EXPERIMENTS) if "all" in names or not names else list(dict.fromkeys(names))
    unknown = next((name for name in wanted if name not in EXPERIMENTS), None)
    if unknown is not None:
        raise ParameterError(f"there is no experiment {unknown!r}; choose among {', '.join(EXPERIMENTS)} and all")
    out.mkdir(parents=True, exist_ok=True)
    before = [out / f"{name}.json" for name in EXPERIMENTS if name not in wanted]
    kept = {path.stem: read_result(path) for path in before if path.is_file()}
    results = []
    for name in wanted:
        plan.tell(name)
        begin = time.perf_counter()
        result = EXPERIMENTS[name](plan)
        results.append(replace(result, seconds=round(time.perf_counter() - begin, 1), machine=describe_machine()))
        write_result(results[-1], out)
    everything = kept | {result.name: result for result in results}
    return Report(results, write_page([everything[name] for name in EXPERIMENTS if name in everything], out))
