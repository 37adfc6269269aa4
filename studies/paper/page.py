"""One page on all experiments: the paper's number, ours by its method, our best, with the commands and the seed."""

from __future__ import annotations

import base64
from html import escape
from pathlib import Path

from gvoys.drawing.page import BASE_STYLE, content_policy
from gvoys.io.files import appearing
from studies.paper.result import Result

_COLUMNS = ("", "the paper", "gvoys, the paper's way", "gvoys, the best way")
_STYLE = """
main { max-width: 62rem; margin: 0 auto; padding: 1.2rem 1.2rem 3rem; }
p { margin: .6rem 0; max-width: 46rem; overflow-wrap: anywhere; }
h2 { margin: 2.2rem 0 0; scroll-margin-top: 1rem; }
a { color: var(--accent); }
nav ol { margin: .4rem 0; padding-left: 1.4rem; columns: 2; column-gap: 2rem; }
nav li { break-inside: avoid; margin-bottom: .2rem; }
table { border-collapse: collapse; margin: 1rem 0; width: 100%; }
th, td { border-bottom: 1px solid var(--line); padding: .3rem .8rem .3rem 0; text-align: left; vertical-align: top;
  overflow-wrap: break-word; }
th, .machine { color: var(--soft); font-weight: 400; font-size: .9rem; }
td:first-child { font-weight: 500; }
img { display: block; max-width: 100%; height: auto; margin: .8rem 0; background: #fff; border-radius: 4px; }
code { background: var(--paper); border: 1px solid var(--line); border-radius: 3px; padding: .1rem .3rem; }
.top { font-size: .9rem; }
@media (max-width: 44rem) {
  nav ol { columns: 1; }
  thead { display: none; }
  tr { display: block; border-bottom: 1px solid var(--line); padding: .5rem 0; }
  td { display: grid; grid-template-columns: 8.5rem 1fr; gap: .6rem; border: 0; padding: .1rem 0; }
  td:first-child { display: block; }
  td:empty { display: none; }
  td[data-of]::before { content: attr(data-of); color: var(--soft); font-size: .9rem; }
}
"""


def write_page(results: list[Result], folder: Path) -> Path:
    """report.html, which needs no other file."""
    page = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f"{content_policy()}"
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>gvoys: the paper, reproduced</title><style>{BASE_STYLE}{_STYLE}</style></head><body><main>"
        '<h1 id="top">The paper, reproduced</h1>'
        "<p>Choromanski, Reid, Sehanobish and Dubey: Optimal Time Complexity Algorithms for Computing General Random "
        f"Walk Graph Kernels on Sparse Graphs, AISTATS 2025.</p>{_contents(results)}"
        f"{''.join(_section(result, folder) for result in results)}</main></body></html>"
    )
    path = folder / "report.html"
    with appearing(path) as partial:
        partial.write_text(page, encoding="utf-8")
    return path


def _contents(results: list[Result]) -> str:
    items = "".join(f'<li><a href="#{result.name}">{escape(result.title)}</a></li>' for result in results)
    return f'<nav aria-label="Contents"><ol>{items}</ol></nav>'


def _section(result: Result, folder: Path) -> str:
    head = "".join(f"<th>{name}</th>" for name in _COLUMNS)
    rows = "".join(_row((row.what, row.paper, row.faithful, row.best)) for row in result.rows)
    pictures = "".join(_picture(folder / f"{figure.name}.png", figure.title) for figure in result.figures)
    notes = "".join(f"<p>{escape(note)}</p>" for note in result.notes)
    machine = ", ".join(f"{key} {value}" for key, value in result.machine.items())
    return (
        f'<section><h2 id="{result.name}">{escape(result.title)}</h2><p><code>{escape(result.command)}</code></p>'
        f'<p class="machine">{result.seconds:,.0f} s; {escape(machine)}</p>'
        f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{pictures}{notes}"
        '<p class="top"><a href="#top">to the contents</a></p></section>'
    )


def _row(cells: tuple[str, ...]) -> str:
    """On a phone every cell is a line of its own, with the name of its column before it."""
    named = (f' data-of="{of}"' if of else "" for of in _COLUMNS)
    return f"<tr>{''.join(f'<td{name}>{escape(cell)}</td>' for name, cell in zip(named, cells, strict=True))}</tr>"


def _picture(path: Path, title: str) -> str:
    if not path.is_file():  # of an earlier run, and taken away since
        return ""
    data = base64.b64encode(path.read_bytes()).decode()
    return f'<img alt="{escape(title)}" src="data:image/png;base64,{data}">'
