"""The shape of the code in numbers: python -m studies structure [SOURCE]

Lines in the wheel, functions of many parameters, how often the options of a walk are spelled out, how often a method is
told by its name, and how many files and functions three requests of users go through.
"""

import argparse
import ast
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.table import Table

HERE = Path(__file__).parent
MOST = 8  # parameters of a function
OPTIONS = {"start", "stop", "refine", "backtrack", "attribute_bandwidth"}
METHODS = {"moments", "sequences", "sketch", "voyagers", "exact"}
REQUESTS = {
    "RandomWalkKernel.fit_transform on networkx": """
import networkx as nx, gvoys as gv
graphs = [nx.path_graph(5), nx.cycle_graph(6)]
request = lambda: gv.RandomWalkKernel(gv.Geometric(0.05)).fit_transform(graphs)
""",
    "gvoys evaluate a .csv": """
import sys
from pathlib import Path
from gvoys.apps.cli import app
Path("a.csv").write_text("smiles,y\\n" + "".join(f"{'C' * (1 + k % 7)}O,{k % 2}\\n" for k in range(40)))
request = lambda: app(["classify", "a.csv", "--target", "y", "--folds", "2", "--seed", "0"], standalone_mode=False)
""",
    "gvoys embed a .smi": """
from pathlib import Path
from gvoys.apps.cli import app
Path("a.smi").write_text("CCO\\nCCN\\n")
request = lambda: app(["embed", "a.smi", "-o", "out"], standalone_mode=False)
""",
}
TRACE = """
import json, sys, threading
seen = set()
def look(frame, event, argument):
    code = frame.f_code
    if event == "call" and "/gvoys/" in code.co_filename and not code.co_name.startswith("<"):
        seen.add((code.co_filename, code.co_qualname))
threading.setprofile(look)
sys.setprofile(look)
request()
sys.setprofile(None)
print("\\n" + json.dumps([len({name for name, _ in seen}), len(seen)]))
"""


def functions(source: Path) -> Iterator[tuple[Path, str, ast.FunctionDef]]:
    """Every function with its file and its class."""
    for path in sorted(source.rglob("*.py")):
        tree = ast.parse(path.read_text())
        for node in ast.walk(tree):
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.FunctionDef):
                    yield path, getattr(node, "name", ""), child


def parameters(function: ast.FunctionDef) -> list[str]:
    """Names of the parameters, without self."""
    every = function.args
    names = [each.arg for each in (*every.posonlyargs, *every.args, *every.kwonlyargs)]
    return [name for name in names if name not in ("self", "cls")]


def is_public(owner: str, function: ast.FunctionDef, names: set[str]) -> bool:
    """Whether users call it: a public function, or the constructor of a public class."""
    return function.name in names or (function.name == "__init__" and owner in names)


def public_names(source: Path) -> set[str]:
    """What gvoys and its public modules offer."""
    files = [source / "__init__.py", *source.glob("datasets/*.py"), *source.glob("*/gpytorch.py")]
    names: set[str] = set()
    for path in files:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
                names |= set(ast.literal_eval(node.value))
    return names | {"embed", "kernel", "evaluate", "learn", "explore", "sketch_on_device", "WalkKernel"}


def measure(source: Path) -> dict[str, object]:
    """All the numbers but those of the requests."""
    names = public_names(source)
    many, spelled, lines = [], [], 0
    compared = 0
    for path in sorted(source.rglob("*.py")):
        text = path.read_text()
        lines += text.count("\n")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Compare):
                constants = {each.value for each in ast.walk(node) if isinstance(each, ast.Constant)}
                compared += bool({each for each in constants if isinstance(each, str)} & METHODS)
    for path, owner, function in functions(source):
        if is_public(owner, function, names):
            continue
        found, name = parameters(function), f"{path.relative_to(source)}:{function.name}"
        if len(found) > MOST:
            many.append(f"{name} {len(found)}")
        if len(OPTIONS & set(found)) >= 3:
            spelled.append(name)
    return {
        "source lines": lines,
        "functions over 8 parameters": many,
        "spellings of a walk's options beside public signatures and Walk": spelled,
        "comparisons with the name of a method": compared,
    }


def crossed(source: Path, setup: str, folder: Path) -> tuple[int, int]:
    """Files and functions of gvoys that a request goes through, what it imports and compiles included."""
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", setup + TRACE],
        env=os.environ | {"PYTHONPATH": str(source.parent)},
        cwd=folder, capture_output=True, text=True, check=True,
    )  # fmt: skip
    files, calls = json.loads(done.stdout.strip().splitlines()[-1])
    return files, calls


def main(arguments: list[str], console: Console) -> int:
    """Print the numbers."""
    parser = argparse.ArgumentParser("python -m studies structure", description=__doc__)
    parser.add_argument("source", type=Path, nargs="?", default=HERE.parent / "src" / "gvoys")
    source = parser.parse_args(arguments).source.resolve()
    table = Table("what", "number", "which")
    for what, found in measure(source).items():
        which = "\n".join(found) if isinstance(found, list) else ""
        table.add_row(what, str(len(found) if isinstance(found, list) else found), which)
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, setup) in enumerate(REQUESTS.items()):
            files, calls = crossed(source, setup, Path(folder) / str(number))
            table.add_row(name, f"{files} files, {calls} functions", "")
    console.print(table)
    return 0
