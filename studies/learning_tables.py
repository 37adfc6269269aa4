"""Tables of the results, on the console and in Markdown."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from rich.table import Column, Table

from studies.learning_methods import PARTS
from studies.learning_results import Row
from studies.learning_tasks import SPEED
from studies.timing import show

REQUIRED = (0.650, 0.700)  # mean RMSE over the ten sets, and that of cliffs
PUBLISHED = (0.691, 0.735)  # SVM on ECFP, the best of 24 methods on these ten in the benchmark's own results


@dataclass
class Sheet:
    """A table that can be printed and written."""

    title: str
    header: list[str]
    rows: list[list[str]] = field(default_factory=list)

    def rich(self) -> Table:
        """For the console."""
        table = Table(Column(self.header[0], no_wrap=True), *self.header[1:], title=self.title)
        for row in self.rows:
            table.add_row(*row)
        return table

    def markdown(self) -> str:
        """For a file."""
        lines = [self.header, ["---"] * len(self.header), *self.rows]
        return f"## {self.title}\n\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _by(rows: list[Row], *names: str) -> dict[Any, list[Row]]:
    """Rows by what they have under some names, in their order."""
    groups: dict[Any, list[Row]] = {}
    for row in rows:
        groups.setdefault(row[names[0]] if len(names) == 1 else tuple(row[name] for name in names), []).append(row)
    return groups


def _spread(values: Any) -> str:
    return f"{np.mean(values):.3f}" + (f" ± {np.std(values):.3f}" if len(values) > 1 else "")


def moleculeace(rows: list[Row]) -> Sheet:
    """Every set on its own split."""
    methods = list(_by(rows, "method"))
    columns = ("RMSE", "of cliffs", "95 % cover", "fit")
    sheet = Sheet("MoleculeACE, own split", ["set", "molecules", *(f"{m}: {c}" for m in methods for c in columns)])
    for name, some in [*_by(rows, "set").items(), (None, rows)]:
        n_sets = len(_by(some, "set"))
        cells = [cell for method in methods for cell in _own_split([r for r in some if r["method"] == method])]
        size = str(some[0]["n_train"] + some[0]["n_test"]) if name else ""
        sheet.rows.append([name or f"mean of {n_sets}", size, *cells])
    rest = [""] * (len(sheet.header) - 4)
    for name, bars in (("required", REQUIRED), ("best published", PUBLISHED)):
        sheet.rows.append([name, "", *(f"{bar:.3f}" for bar in bars), *rest])
    return sheet


def _own_split(rows: list[Row]) -> list[str]:
    if not rows:
        return [""] * 4
    measures = ("RMSE", "cliff RMSE", "coverage", "seconds")
    error, cliffs, coverage, seconds = (np.mean([row[name] for row in rows]) for name in measures)
    return [f"{error:.3f}", f"{cliffs:.3f}", f"{coverage:.1%}", show(seconds)]


def gauche(rows: list[Row]) -> Sheet:
    """Random splits, paired."""
    return _paired("Random splits 80/20", rows, "RMSE", ("set",), cover=True)


def classes(rows: list[Row]) -> Sheet:
    """Random and scaffold splits, paired."""
    rows = [row | {"kind": row["split"].split()[0]} for row in rows]
    return _paired("Two classes, 80/20", rows, "ROC-AUC", ("set", "kind"))


def qm7(rows: list[Row]) -> Sheet:
    """One random split."""
    return _paired("QM7, one random split 80/20, kcal/mol", rows, "MAE", ("set",), cover=True)


def _paired(title: str, rows: list[Row], measure: str, names: tuple[str, ...], cover: bool = False) -> Sheet:
    """Means of two methods over splits, and their difference on the splits that both have."""
    methods = list(_by(rows, "method"))
    columns = [f"{method}: {measure}" for method in methods] + ["difference, ± standard error"]
    columns += [f"{method}: 95 % cover" for method in methods] if cover else []
    columns += [f"{method}: fit" for method in methods]
    sheet = Sheet(title, [*names, "molecules", "splits", *columns])
    for key, some in _by(rows, *names).items():
        of = {method: {row["split"]: row for row in some if row["method"] == method} for method in methods}
        cells = [_spread([row[measure] for row in each.values()]) if each else "" for each in of.values()]
        cells.append(_difference([{split: row[measure] for split, row in each.items()} for each in of.values()]))
        if cover:
            cells += [_cover([row["coverage"] for row in each.values()]) for each in of.values()]
        cells += [show(np.mean([row["seconds"] for row in each.values()])) if each else "" for each in of.values()]
        size = some[0]["n_train"] + some[0]["n_test"]
        sheet.rows.append([*([key] if len(names) == 1 else key), str(size), str(len(_by(some, "split"))), *cells])
    return sheet


def _difference(found: list[dict[str, float]]) -> str:
    """First less second."""
    both = [split for split in found[0] if split in found[1]] if len(found) == 2 else []
    if not both:
        return ""
    values = np.array([found[0][split] - found[1][split] for split in both])
    error = f" ± {values.std(ddof=1) / np.sqrt(len(values)):.3f}" if len(values) > 1 else ""
    return f"{values.mean():+.3f}{error}"


def _cover(shares: list[float]) -> str:
    return f"{np.mean(shares):.1%}" if shares and not np.isnan(shares).any() else ""


def parts(rows: list[Row]) -> Sheet:
    """What each part adds."""
    names = [method.name for method in PARTS]
    sheet = Sheet("RMSE by parts, 80/20 of training rows", ["set", "molecules", *names])
    ratios: dict[str, list[float]] = {name: [] for name in names}
    for set_, some in _by(rows, "set").items():
        found = {row["method"]: row["RMSE"] for row in some}
        size = str(some[0]["n_train"] + some[0]["n_test"])
        sheet.rows.append([set_, size, *(f"{found[name]:.3f}" if name in found else "" for name in names)])
        if len(found) == len(names):
            for name in names:
                ratios[name].append(np.log(found[name] / found[names[-1]]))
    if ratios[names[-1]]:
        sheet.rows.append(["ratio to the default", "", *(f"{np.exp(np.mean(each)):.3f}" for each in ratios.values())])
    return sheet


def speed(rows: list[Row]) -> Sheet:
    """Seconds and memory of one fit."""
    sheet = Sheet("Fit with two threads, kernels compiled", ["set", "molecules", "fit", "at most", "memory"])
    bars = {(name, f"first {count}"): bar for (name, count), bar in SPEED.items()}
    for row in rows:
        bar = bars[row["set"], row["split"]]
        memory = f"{row['memory'] / 2**30:.2f} GiB beyond the graphs"
        cells = [show(row["seconds"]), "" if bar is None else show(bar), memory]
        sheet.rows.append([row["set"], f"{row['n_train']:,}", *cells])
    return sheet


SHEETS: dict[str, Callable[[list[Row]], Sheet]] = {
    "moleculeace": moleculeace,
    "gauche": gauche,
    "classes": classes,
    "qm7": qm7,
    "parts": parts,
    "speed": speed,
}
