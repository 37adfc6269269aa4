"""Every command and option in the pages exists, and the API page lists every public name."""

import importlib.util
import inspect
import re
import shlex
from pathlib import Path

import pytest
import typer

import gvoys as gv
from gvoys.apps.cli import app

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]


def commands():
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        blocks = re.findall(r"```console\n(.*?)```", text, re.DOTALL)
        found = [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ gvoys")]
        found += [span for span in re.findall(r"`(gvoys [^`]*)`", text) if "…" not in span]
        yield from (pytest.param(line, id=f"{page.name}: {line}") for line in dict.fromkeys(found))


@pytest.mark.parametrize("line", list(commands()))
def test_commands_are_understood(line):
    words = shlex.split(line, comments=True)[1:]
    group = typer.main.get_command(app)
    if "|" in words:  # a list of commands
        words = [word for word in words if word != "|"]
        assert all(word in group.commands for word in words if not word.startswith("["))
        return
    name, arguments = words[0], ["1" if re.fullmatch("[A-Z]", word) else word for word in words[1:]]
    assert name in group.commands
    try:
        group.commands[name].make_context(name, arguments)
    except Exception as error:
        if type(error).__name__ != "MissingParameter":  # else a mention rather than a call; options are checked first
            raise


def test_make_commands_are_there():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for page in PAGES:
        for target in re.findall(r"(?:^\$ |`)make ([a-z-]+)", page.read_text(encoding="utf-8"), re.MULTILINE):
            assert target in targets, f"{page.name}: make {target}"


def test_the_api_page_lists_every_public_name():
    listed = set(re.findall(r"^   ([\w.]+)$", (ROOT / "docs" / "api.md").read_text(), re.MULTILINE))
    modules = {"": gv, "datasets.": gv.datasets, "io.": gv.io, "evaluation.": gv.evaluation}
    public = {start + name for start, module in modules.items() for name in module.__all__}
    public |= {f"errors.{name}" for name, value in vars(gv.errors).items() if inspect.isclass(value)}
    public -= {f"io.{name}" for name in gv.__all__}  # listed by their shorter names
    assert {name for name in public if not inspect.ismodule(getattr(gv, name, None))} <= listed


def _loaded(*path):
    spec = importlib.util.spec_from_file_location(path[-1], ROOT.joinpath("docs", *path).with_suffix(".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_map_of_imports_is_made_from_the_code():
    module = _loaded("import_graph")
    assert module.PICTURE.read_text() == module.draw(), "run python docs/import_graph.py"


@pytest.mark.parametrize("name", ["comparison", "reproduced"])
def test_pages_are_written_from_the_kept_results(name, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs")
    module = _loaded(name)
    assert module.PAGE.read_text(encoding="utf-8") == module.write(), f"run python docs/{name}.py"


def test_the_table_of_the_readme_is_written_from_the_kept_results():
    module = _loaded("comparison")
    text = module.README.read_text(encoding="utf-8")
    assert module.with_table(text) == text, "run python docs/comparison.py"


def test_the_page_of_commands_has_every_option():
    """With any version of Typer, whose own objects for options have changed before."""
    group = typer.main.get_command(app)
    extension = _loaded("_extensions", "commands")
    for name, command in group.commands.items():
        rows = dict(extension.rows(command))
        assert len(rows) == sum(option.name != "help" for option in command.params), name
        assert all(rows.values()), name
    search = dict(extension.rows(group.commands["search"]))
    assert {"QUERIES", "--out, -o PATH", "-k INT", "--library-smiles TEXT", "--json"} <= set(search)
    assert search["-k INT"].endswith("[default: 10]")


def test_pages_of_classes_leave_out_what_scikit_learn_adds():
    template = (ROOT / "docs" / "_templates" / "autosummary" / "class.rst").read_text()
    for name in gv.__all__:
        if inspect.isclass(found := getattr(gv, name)):
            added = {method for method in dir(found) if re.fullmatch("set_[a-z_]+_request", method)}
            assert added <= set(re.findall(r"\w+", template)), name
