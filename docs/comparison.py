"""Write the comparison with other packages from the kept results: python docs/comparison.py writes docs/comparison.md,
and the table of the README.

Every number comes from a file in studies/results. What others have published, and what a package offers, is typed
below, with its source.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from statistics import mean
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "studies" / "results"
PAGE = ROOT / "docs" / "comparison.md"
README = ROOT / "README.md"
TEXT = ROOT / "docs" / "comparison.txt"  # the page, with a name in braces for each table
MARKS = ("<!-- written by docs/comparison.py -->\n", "<!-- end -->\n")

# Accuracies as published, on splits of their own: Choromanski et al. (AISTATS 2025) for the exact kernel and their
# walks, the better of their two rows; Nikolentzos and Vazirgiannis (NeurIPS 2020) for random walk neural networks;
# Togninalli et al. (NeurIPS 2019) for Wasserstein Weisfeiler–Lehman kernels.
PUBLISHED = {
    "exact random walk kernel": {"MUTAG": 81.4, "PTC_MR": 54.4, "ENZYMES": 16.7, "PROTEINS": 69.5, "AIDS": 79.0},
    "graph voyagers": {
        "MUTAG": 84.1,
        "PTC_MR": 61.6,
        "ENZYMES": 20.0,
        "PROTEINS": 71.6,
        "AIDS": 97.8,
        "NCI1": 64.2,
    },
    "random walk neural network": {"MUTAG": 89.2, "ENZYMES": 57.6, "PROTEINS": 74.7, "NCI1": 73.9},
    "Wasserstein WL": {"MUTAG": 87.3, "PTC_MR": 66.3, "ENZYMES": 59.1, "PROTEINS": 74.3, "NCI1": 85.8},
}
# chemprop's README: tuned, on its own splits.
D_MPNN = {"ESOL": "0.555", "FreeSolv": "1.075", "Lipophilicity": "0.555"}
# MoleculeACE's own results: an SVM on ECFP, the best of its 24 methods on these ten sets.
BEST_OF_24 = ("0.691", "0.735")


def latest(pattern: str) -> Any:
    """The newest result of a kind; names end with the date."""
    return json.loads(max(RESULTS.glob(pattern)).read_text(encoding="utf-8"))


def table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table in Markdown."""
    header = list(header)
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def seconds(value: float) -> str:
    """Two digits, and a unit that suits them."""
    if value < 0.0995:
        return f"{1000 * value:.2g} ms" if value < 0.00995 else f"{1000 * value:.0f} ms"
    return f"{value:.2g} s" if value < 9.95 else f"{value:.0f} s"


def power(value: float) -> str:
    """One digit: 4e-11."""
    mantissa, exponent = f"{value:.0e}".split("e")
    return f"{mantissa}e{int(exponent)}" if value < 0.1 else f"{value:.1f}"


def evaluated() -> dict[str, Any]:
    """Results of `gvoys evaluate`, by dataset."""
    return {each["data"]: each for each in latest("evaluate-*.json")["results"]}


def cells(result: Any, method: str, measure: str) -> list[str]:
    """A measure with its spread over folds, and seconds of fitting one fold."""
    if method not in result["methods"]:
        return ["", ""]
    found = result["methods"][method]
    scale = 100 if measure == "accuracy" else 1
    digits = 1 if measure == "accuracy" else 3
    value = found["measures"][measure]
    n_fits = result["folds"] * len(result["seeds"])
    shown = f"{scale * value['mean']:.{digits}f} ± {scale * value['deviation']:.{digits}f}"
    return [shown, seconds(found["fit_seconds"] / n_fits)]


def classes() -> str:
    """Accuracies on the TU collection."""
    rows = []
    for name in ("MUTAG", "PTC_MR", "ENZYMES", "PROTEINS", "NCI1", "AIDS"):
        result = evaluated()[name]
        published = [f"{of[name]:.1f}" if name in of else "" for of in PUBLISHED.values()]
        ours, theirs = cells(result, "gvoys", "accuracy"), cells(result, "WL + SVC", "accuracy")
        rows.append([name, *ours, *theirs, *published])
    header = ["accuracy, %", "gvoys", "fit", "WL + SVC", "fit", *(f"{name}, published" for name in PUBLISHED)]
    return table(header, rows)


def molecules() -> str:
    """Errors and ROC-AUC on tables of molecules."""
    rows = []
    for name, measure, machine in (
        ("ESOL", "RMSE", "GP"),
        ("FreeSolv", "RMSE", "GP"),
        ("bace", "ROC-AUC", "SVC"),
        ("bbbp", "ROC-AUC", "SVC"),
    ):
        result = evaluated()[name]
        methods = ["gvoys", f"Tanimoto + {machine}", "ECFP4 + RF", f"WL + {machine}"]
        rows.append([f"{name}, {measure}", *(cell for each in methods for cell in cells(result, each, measure))])
    methods = ["gvoys", "Tanimoto kernel on ECFP4", "random forest on ECFP4", "WL"]
    return table(["", *(cell for each in methods for cell in (each, "fit"))], rows)


def learned() -> list[dict[str, Any]]:
    """Rows of learning.jsonl; later lines replace earlier ones."""
    lines = (RESULTS / "learning.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return list({tuple(row[name] for name in ("section", "set", "split", "method")): row for row in rows}.values())


def of_learning(section: str, method: str, measure: str, name: str | None = None) -> float:
    """The mean of a measure over splits and sets."""
    rows = [row for row in learned() if (row["section"], row["method"]) == (section, method)]
    return mean(row[measure] for row in rows if name in (None, row["set"]))


def splits() -> str:
    """Many splits of each set, and what others have published."""
    rows = []
    for measure, name, best in (
        ("RMSE", "MoleculeACE, mean of ten sets", BEST_OF_24[0]),
        ("cliff RMSE", "their activity cliffs", BEST_OF_24[1]),
    ):
        ours, theirs = (of_learning("moleculeace", each, measure) for each in ("gvoys", "ECFP4 Tanimoto"))
        rows.append([name, f"{ours:.3f}", f"{theirs:.3f}", f"{best} (SVM on ECFP, the best of 24 methods)"])
    for name in ("ESOL", "FreeSolv", "Lipophilicity", "Photoswitch"):
        ours, theirs = (of_learning("gauche", each, "RMSE", name) for each in ("gvoys", "ECFP4 Tanimoto"))
        digits = 1 if ours > 2 else 3
        published = f"{D_MPNN[name]} (D-MPNN)" if name in D_MPNN else "20.9 nm (fragprints, Gaussian process)"
        rows.append([f"{name}, ten random splits", f"{ours:.{digits}f}", f"{theirs:.{digits}f}", published])
    return table(["RMSE", "gvoys", "ECFP4 counts, Tanimoto, Gaussian process", "published, other protocols"], rows)


def kernels() -> str:
    """Times and errors of random walk kernels."""
    found = latest("peers-*.json")["measurements"]
    tasks = list(dict.fromkeys(each["task"] for each in found))
    rows = []
    for task in tasks:
        of = {each["way"]: each for each in found if each["task"] == task}
        ours = [way for way in of if way.startswith("gvoys")]
        shown = [f"{seconds(of[way]['seconds'])}, {power(of[way]['error'])} ({way[7:]})" for way in ours]
        others = [f"{seconds(of[way]['seconds'])}, {power(of[way]['error'])}" for way in ("GraKeL", "graphkit-learn")]
        rows.append([task, "; ".join(shown), *others])
    return table(["time and relative error", "gvoys", "GraKeL", "graphkit-learn"], rows)


def gpu() -> str:
    """Times of features on a GPU."""
    found = latest("gpu-*.json")
    names = {
        "MUTAG": "188 molecules, MUTAG",
        "NCI1": "4110 molecules, NCI1",
        "DD": "1178 proteins, DD",
        "10^6 molecules": "a million molecules",
        "one graph of 10^8 entries": "one graph of 10^8 entries",
    }
    rows = [
        [names[each["graphs"]], seconds(each["cpu"]), seconds(each["gpu"]), f"{each['ratio']:.0f}"]
        for each in found["table"]
    ]
    return table(["features of", "two CPU cores", found["device"], "ratio"], rows)


def memory() -> str:
    """Times and memory of large fits."""
    rows = [
        [f"{row['n_train']:,}", seconds(row["seconds"]), f"{row['memory'] / 2**30:.1f} GiB"]
        for row in learned()
        if row["section"] == "speed"
    ]
    return table(["molecules to learn from", "fit, two cores", "memory beyond the graphs"], rows)


def readme() -> str:
    """The table of the README."""
    found = evaluated()
    rows = []
    for name, what, measure, other in (
        ("MUTAG", "mutagenic or not, 188 molecules", "accuracy", "WL + SVC"),
        ("ENZYMES", "class of 600 enzymes", "accuracy", "WL + SVC"),
        ("NCI1", "active or not, 4110 molecules", "accuracy", "WL + SVC"),
        ("ESOL", "solubility, 1128 molecules", "RMSE", "WL + GP"),
        ("FreeSolv", "hydration energy, 642 molecules", "RMSE", "WL + GP"),
        ("bbbp", "crosses the blood–brain barrier or not, 2039 molecules", "ROC-AUC", "WL + SVC"),
    ):
        ecfp = "Tanimoto + GP" if measure == "RMSE" else "Tanimoto + SVC"
        unit = {"accuracy": "accuracy, %", "RMSE": "error (RMSE)", "ROC-AUC": "ROC-AUC"}[measure]
        shown = [
            f"{value}, {time}" if value else "–"
            for value, time in (cells(found[name], method, measure) for method in ("gvoys", other, ecfp))
        ]
        rows.append([f"{what}: {unit}", *shown])
    return table(["ten-fold cross-validation, then the time of one fit", "gvoys", "WL", "ECFP4"], rows)


def write() -> str:
    """The page."""
    commands = "\n".join(f"$ {command}" for command in latest("evaluate-*.json")["commands"])
    about = latest("evaluate-*.json")["machine"]
    peers = latest("peers-*.json")["machine"]
    texts = {
        "classes": classes(),
        "molecules": molecules(),
        "splits": splits(),
        "kernels": kernels(),
        "gpu": gpu(),
        "memory": memory(),
        "commands": commands,
        "machine": f"{about['processor']}, gvoys {about['gvoys']}, {about['date']}",
        "peers": f"{peers['date']}, {peers['cores']} cores, GraKeL {peers['grakel']}, "
        f"graphkit-learn {peers['graphkit-learn'].split('.post')[0]}",
    }
    page = TEXT.read_text(encoding="utf-8")
    for name, text in texts.items():
        page = page.replace(f"{{{name}}}", text.rstrip("\n"))
    return page


def with_table(text: str) -> str:
    """The README with its table between the two marks."""
    before, rest = text.split(MARKS[0])
    return before + MARKS[0] + readme() + MARKS[1] + rest.split(MARKS[1])[1]


if __name__ == "__main__":
    PAGE.write_text(write(), encoding="utf-8")
    README.write_text(with_table(README.read_text(encoding="utf-8")), encoding="utf-8")
