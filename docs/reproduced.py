"""Write the page on the paper from the kept results: python docs/reproduced.py writes docs/reproduce.md.

Every number comes from a file in docs/results, which `python -m studies.paper` writes. In docs/reproduce.txt
{NAME} is the table of a result, {NAME: ROW: I} our number I of the first row that begins with ROW, and
{NAME: ROW: paper I} the paper's. Other names are computed.
"""

import json
import re
from pathlib import Path
from typing import Any

from comparison import table

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "results"
PAGE = ROOT / "docs" / "reproduce.md"
TEXT = ROOT / "docs" / "reproduce.txt"  # the page
N_PAIRS = 55  # of ten graphs, those of a graph with itself included
NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]\d+)?"


def result(name: str) -> Any:
    """The kept result of an experiment."""
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def rows(name: str) -> str:
    """All rows of a result, without columns that are empty."""
    lines = [(line["what"], line["paper"], line["faithful"], line["best"]) for line in result(name)["rows"]]
    kept = [i for i in range(4) if i == 0 or any(line[i] for line in lines)]
    header = ("", "the paper", "gvoys, the paper's method", "gvoys, the best method")
    return table([header[i] for i in kept], [[line[i] for i in kept] for line in lines])


def number(name: str, begin: str, place: str) -> str:
    """One number of ours, or the paper's, as the result has it."""
    line = next(line for line in result(name)["rows"] if line["what"].startswith(begin))
    *paper, i = place.split()
    return re.findall(NUMBER, line["paper"] if paper else line["faithful"] or line["best"])[int(i)]


def computed() -> dict[str, str]:
    """Numbers that no row has."""
    curves = {curve["name"]: curve for curve in result("fig4")["figures"][0]["curves"]}
    seconds, walks = (curves[name]["y"] for name in ("conjugate gradients", "voyagers, 100 walks"))
    *_, last = (value for value in seconds if value is not None)
    kinds = ("rademacher", "uniform", "gaussian")
    least, *others = (float(number("rademacher", f"variance with {kind}", "0")) for kind in kinds)
    growth = float(number("fig4", "conjugate gradients", "3"))
    factors = [float(f"{last * factor / walks[-1]:.2g}") for factor in (1, 2**growth)]
    return {
        "minutes": f"{sum(result(path.stem)['seconds'] for path in RESULTS.glob('*.json')) / 60:.0f}",
        "date": result("fig4")["machine"]["date"],
        "hours": f"{last / 3600:.1f}",
        "seconds of a pair": f"{last / N_PAIRS:.0f}",
        "at least": f"{factors[0]:,.0f}",
        "perhaps": f"{factors[1]:,.0f}",
        "variances": " and ".join(f"{other / least:.1f}" for other in others),
    }


def write() -> str:
    """The page."""
    texts = computed() | {path.stem: rows(path.stem) for path in RESULTS.glob("*.json")}

    def text(match: re.Match[str]) -> str:
        name = match[1]
        return number(*re.fullmatch("(.*?): (.*): (.*)", name).groups()) if ": " in name else texts[name].rstrip("\n")

    return re.sub(r"\{([^{}]+)\}(?!`)", text, TEXT.read_text(encoding="utf-8"))


if __name__ == "__main__":
    PAGE.write_text(write(), encoding="utf-8")
