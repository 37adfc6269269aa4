"""One page on all experiments: the paper's number, ours by its method, our best, with the commands and the seed."""

from __future__ import annotations

import base64
from html import escape
from pathlib import Path

from gvoys.io.files import appearing
from reproduce.result import Result

__all__ = ["write_page"]

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { border-bottom: 1px solid #ccc; padding: .3rem .8rem; text-align: left; }
img { max-width: 100%; } code { background: #f2f2f2; padding: .1rem .3rem; }
.machine { color: #666; font-size: .85rem; }
"""


def write_page(results: list[Result], folder: Path) -> Path:
    """report.html, which needs no other file."""
    body = "".join(_section(result, folder) for result in results)
    page = (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>gvoys: the paper, reproduced</title><style>{_STYLE}</style><h1>The paper, reproduced</h1>"
        f"<p>Choromanski, Reid, Sehanobish and Dubey: Optimal Time Complexity Algorithms for Computing General Random "
        f"Walk Graph Kernels on Sparse Graphs, AISTATS 2025.</p>{body}</html>"
    )
    path = folder / "report.html"
    with appearing(path) as partial:
        partial.write_text(page, encoding="utf-8")
    return path


def _section(result: Result, folder: Path) -> str:
    head = "".join(f"<th>{name}</th>" for name in ("", "the paper", "gvoys, the paper's way", "gvoys, the best way"))
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in (row.what, row.paper, row.faithful, row.best)) + "</tr>"
        for row in result.rows
    )
    pictures = "".join(_picture(folder / f"{figure.name}.png", figure.title) for figure in result.figures)
    notes = "".join(f"<p>{escape(note)}</p>" for note in result.notes)
    machine = ", ".join(f"{key} {value}" for key, value in result.machine.items())
    return (
        f"<h2>{escape(result.title)}</h2><p><code>{escape(result.command)}</code></p>"
        f'<p class="machine">{result.seconds:,.0f} s; {escape(machine)}</p>'
        f"<table><tr>{head}</tr>{rows}</table>{pictures}{notes}"
    )


def _picture(path: Path, title: str) -> str:
    if not path.is_file():  # of an earlier run, and taken away since
        return ""
    data = base64.b64encode(path.read_bytes()).decode()
    return f'<img alt="{escape(title)}" src="data:image/png;base64,{data}">'
