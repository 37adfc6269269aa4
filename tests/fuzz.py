"""Every format as a function of bytes: an answer or one sentence, whatever they are.

    python tests/fuzz.py [FORMAT …] [--seconds 60]

looks for bytes that break a format, guided by coverage, where Atheris is installed (pip install atheris);
tests/test_fuzz.py changes examples at random. A file of another format is an example in input_files.py, or a row here.
"""

import hashlib
import importlib.util
import inspect
import io
import shutil
import subprocess
import sys
import tempfile
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from input_files import write_inputs
from mutations import check_valid

import gvoys as gv
from gvoys.errors import GvoysError
from gvoys.estimators.saving import load_model
from gvoys.io import open_graphs
from gvoys.search.folder import read_index

PARSERS = ("gvoys.io", "gvoys.estimators.saving", "gvoys.search.folder")  # whose branches guide
GRAPHS = gv.datasets.molecules(12, mean_nodes=6)


def read_graphs(path):
    """Open a file, and look at its graphs."""
    batch = open_graphs(path).read().batch
    check_valid(batch, mirrored=not batch.directed)


def read_model(path):
    """Load a model, and predict."""
    load_model(path).predict(GRAPHS)


def search_index(path):
    """Open an index, and search."""
    read_index(path).nearest(GRAPHS, 3)


@dataclass(frozen=True)
class Format:
    """A file or folder of some format; bytes stand for the file, or for a number and that file of the folder."""

    source: Path
    read: Callable[[Path], None] = read_graphs

    @property
    def files(self):
        """The files of a folder."""
        return sorted(file for file in self.source.rglob("*") if file.is_file())

    @property
    def examples(self):
        """Bytes that are read."""
        if self.source.is_dir():
            return [bytes([number]) + file.read_bytes() for number, file in enumerate(self.files)]
        return [self.source.read_bytes()] if self.read is not read_model else [text_of(self.source)]

    def write(self, data, folder):
        """Write bytes as this format."""
        target = folder / self.source.name
        if self.source.is_dir():
            shutil.copytree(self.source, target)
            file = self.files[data[0] % len(self.files)] if data else self.files[0]
            (target / file.relative_to(self.source)).write_bytes(data[1:])
        elif self.read is read_model:
            write_text(self.source, data, target)
        else:
            target.write_bytes(data)
        return target

    def outcome(self, data):
        """\"answer\" or \"sentence\"; anything else raises."""
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                self.read(self.write(data, Path(folder)))
            except GvoysError as error:
                if len(str(error).splitlines()) == 1:
                    return "sentence"
                raise AssertionError(f"not one sentence: {error!r}") from error
        return "answer"


def text_of(model):
    """The JSON of a model file."""
    with zipfile.ZipFile(model) as file:
        return file.read("model.json")


def write_text(model, text, target):
    """A model file with another text, and a digest that fits."""
    held = io.BytesIO()
    with zipfile.ZipFile(model) as old, zipfile.ZipFile(held, "w") as new:
        for name in old.namelist():
            digest = hashlib.sha256(text).hexdigest().encode()
            new.writestr(name, {"model.json": text, "sha256.txt": digest}.get(name) or old.read(name))
    target.write_bytes(held.getvalue())


def make_formats(folder):
    """All formats by name, with examples in a folder."""
    found = {path.name.removeprefix("a."): Format(path) for path in write_inputs(folder)}
    shutil.make_archive(str(folder / "TINY"), "zip", folder, "TINY")
    found["TU zip"] = Format(folder / "TINY.zip")
    gv.RandomWalkRegressor(gv.Walk(1), max_iterations=1).fit(GRAPHS, GRAPHS.graph_sizes).save(folder / "model")
    gv.Index(width=4).add(GRAPHS).save(folder / "index")
    return found | {"model": Format(folder / "model", read_model), "index": Format(folder / "index", search_index)}


def parsing_functions():
    """All functions and methods of the parsers."""
    modules = [module for name, module in sys.modules.items() if name.startswith(PARSERS)]
    values = [
        each
        for module in modules
        for each in vars(module).values()
        if getattr(each, "__module__", "") == module.__name__
    ]
    values += [
        getattr(each, "__func__", each) for kind in values if inspect.isclass(kind) for each in vars(kind).values()
    ]
    return list(filter(inspect.isfunction, values))


def fuzz(name, seconds):
    """Let Atheris look for bytes that break a format; the process ends with it."""
    import atheris

    for function in parsing_functions():
        atheris.instrument_func(function)
    with tempfile.TemporaryDirectory() as folder:
        one = make_formats(Path(folder, "examples"))[name]
        corpus = Path(folder, "corpus")
        corpus.mkdir()
        for number, example in enumerate(one.examples):
            (corpus / str(number)).write_bytes(example)
        one.outcome(one.examples[0])  # kernels are compiled
        atheris.Setup(
            [name, str(corpus), f"-max_total_time={seconds}", "-timeout=60", "-rss_limit_mb=8000"], one.outcome
        )
        atheris.Fuzz()


def main(arguments):
    """Fuzz some formats, or all, each in a process of its own."""
    seconds = int(arguments.pop(arguments.index("--seconds") + 1)) if "--seconds" in arguments else 60
    names = [each for each in arguments if each != "--seconds"]
    if importlib.util.find_spec("atheris") is None:
        sys.exit("Atheris is not installed: pip install atheris")
    if len(names) == 1:
        fuzz(names[0], seconds)
    with tempfile.TemporaryDirectory() as folder:
        names = names or list(make_formats(Path(folder, "examples")))
    for name in names:
        subprocess.run([sys.executable, __file__, name, "--seconds", str(seconds)], check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
