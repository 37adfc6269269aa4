"""Whether what would be uploaded works without the repository: python tests/dist.py FOLDER, where make dist has built.

Wheel and sdist are installed into empty virtual environments, with the newest dependencies and with the oldest that
pyproject.toml allows, and used from an empty folder. pytest does not collect this file.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

from oldest import constraints

ROOT = Path(__file__).parents[1]
EXTRAS = "chem,explore,parquet"  # the last for gvoys predict
HIDDEN = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "GVOYS_DATA", "NUMBA_CACHE_DIR")
TABLE = "import gvoys.datasets.loaders as b; print(b.FREESOLV)"
FILES = """
import gvoys, json, pathlib
home = pathlib.Path(gvoys.__file__).parent
print(json.dumps([f"{file.relative_to(home)}" for file in home.rglob("*") if file.is_file()]))
"""


def package_files():
    """All files of the package, as the repository has them."""
    home = ROOT / "src" / "gvoys"
    found = (file.relative_to(home) for file in home.rglob("*") if file.is_file())
    return {str(file) for file in found if "__pycache__" not in file.parts}


class Environment:
    """A virtual environment with one package, and an empty folder to use it from."""

    def __init__(self, folder, python):
        self.folder, self.work = folder, folder / "work"
        self.work.mkdir(parents=True)
        self.environment = {key: value for key, value in os.environ.items() if key not in HIDDEN}
        self.seconds = {}
        self.run("venv", python, "-m", "venv", folder / "venv")

    def run(self, step, *command):
        """Run and time a command; what it prints. The first failure ends all."""
        begin = time.perf_counter()
        done = subprocess.run(
            list(map(str, command)), cwd=self.work, env=self.environment, capture_output=True, text=True, check=False
        )
        self.seconds[step] = time.perf_counter() - begin
        print(f"    {self.seconds[step]:6.1f} s  {step}", flush=True)
        if done.returncode:
            raise SystemExit(f"{step} failed: {' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
        return done.stdout

    def python(self, step, *arguments):
        """Python of the environment."""
        return self.run(step, self.folder / "venv" / "bin" / "python", *arguments)

    def gvoys(self, step, *arguments):
        """The command line, by its own script."""
        return self.run(step, self.folder / "venv" / "bin" / "gvoys", *arguments)

    def install(self, step, *what):
        """Install from the registry; only gvoys itself may be built."""
        self.python(step, "-m", "pip", "install", "-q", "--only-binary", ":all:", "--no-binary", "gvoys", *what)


def prove(artifact, environment, bounds):
    """The package alone, then with the extras that draw."""
    is_wheel = artifact.suffix == ".whl"
    how = [] if is_wheel else ["--no-binary", "gvoys"]
    environment.install("install", *bounds, *how, artifact)
    lacking = package_files() - set(json.loads(environment.python("import gvoys", "-c", FILES)))
    if lacking:
        raise SystemExit(f"{artifact.name} lacks {', '.join(sorted(lacking))}")
    table = Path(environment.python("where the table is", "-c", TABLE).strip())
    said(environment.gvoys("gvoys --help", "--help"), "Compare graphs by the walks they share")
    said(environment.gvoys("gvoys demo, kernels compiled", "demo"), "There is no page")
    said(environment.gvoys("gvoys demo again", "demo"), "There is no page")
    graphs = table.with_suffix(".jsonl.gz")
    use(environment, graphs, ("train", "search"))
    environment.install(f"install {EXTRAS}", *bounds, *how, f"gvoys[{EXTRAS}] @ {artifact.as_uri()}")
    said(environment.gvoys("gvoys demo with a page", "demo"), "Open gvoys-demo.html")
    holds(environment.work / "gvoys-demo.html", 1_000_000)
    use(environment, table, ("train", "predict", "search", "explain", "explore"))


def use(environment, table, commands):
    """The commands on the bundled table."""
    name = f"-{table.name}"
    model, hits = f"model{name}.gvoys", f"hits{name}.csv"
    arguments = {
        "train": (table, "--target", "expt", "--no-cv", "-o", model),
        "predict": (model, table, "-o", f"predictions{name}.csv"),
        "search": (table, table, "-k", "2", "-o", hits),
        "explain": (model, table, "--graphs", "20", "-o", "why.html"),
        "explore": (table, "--target", "expt", "--model", model, "--graphs", "100", "-o", "page.html"),
    }
    made = {"train": model, "predict": f"predictions{name}.csv", "search": hits, "explain": "why.html"}
    for command in commands:
        environment.gvoys(f"gvoys {command} {table.name}", command, *arguments[command])
        holds(environment.work / made.get(command, "page.html"), 10_000)


def said(output, words):
    """Check what was printed."""
    if words not in " ".join(output.split()):
        raise SystemExit(f"{words!r} was not printed:\n{output}")


def holds(file, size):
    """Check that a file was written."""
    if not file.is_file() or file.stat().st_size < size:
        raise SystemExit(f"{file} should have over {size:,} bytes")


def oldest_bounds(folder):
    """Options of pip that ask for the oldest versions."""
    file = folder / "constraints.txt"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    file.write_text("\n".join(constraints(project)))
    return ["--constraint", file]


def main():
    """Prove all that was built, or some of it."""
    parser = argparse.ArgumentParser("python tests/dist.py", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the wheel and the sdist are")
    parser.add_argument("--python", default=sys.executable, help="the interpreter of the environments")
    parser.add_argument("--only", choices=("wheel", "sdist"), help="one of the two")
    parser.add_argument("--with", dest="versions", choices=("newest", "oldest"), help="one set of dependencies")
    options = parser.parse_args()
    patterns = {"wheel": "gvoys-*.whl", "sdist": "gvoys-*.tar.gz"}
    for kind, pattern in patterns.items():
        (artifact,) = options.folder.resolve().glob(pattern)
        for versions in ("newest", "oldest"):
            if options.only in (None, kind) and options.versions in (None, versions):
                print(f"{artifact.name} with the {versions} dependencies", flush=True)
                with tempfile.TemporaryDirectory(prefix="gvoys-dist-") as name:
                    bounds = oldest_bounds(Path(name)) if versions == "oldest" else []
                    environment = Environment(Path(name), options.python)
                    prove(artifact, environment, bounds)
                    print(f"    {sum(environment.seconds.values()):6.1f} s  in all", flush=True)


if __name__ == "__main__":
    main()
