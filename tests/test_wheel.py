"""What make dist and make oldest install: every file of the package, and the oldest dependencies."""

import subprocess
import tomllib
from pathlib import Path

import pytest
from dist import package_files
from oldest import constraints

pytest.importorskip("hatchling", reason="hatchling, which builds the wheel, is not installed")
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel():
    """Names in the wheel, which is not built."""
    builder = WheelBuilder(str(ROOT))
    with builder.config.set_build_data({"build_hooks": (), "artifacts": [], "force_include": {}}):
        return {file.distribution_path for file in builder.recurse_included_files()}


def test_every_file_of_the_package_is_in_the_wheel(wheel):
    assert {f"gvoys/{name}" for name in package_files()} == wheel


def test_the_sdist_builds_the_same_wheel():
    names = {file.distribution_path for file in SdistBuilder(str(ROOT)).recurse_included_files()}
    sources = {f"src/gvoys/{name}" for name in package_files()}
    assert names - {".gitignore"} == sources | {
        "CHANGELOG.md",
        "CITATION.cff",
        "CONTRIBUTING.md",
        "SECURITY.md",
    }  # the builder adds what else it needs


def test_what_is_read_beside_modules_is_under_version_control():
    """A file that git ignores would be in this folder and in no clone."""
    listed = subprocess.run(["git", "ls-files", "src/gvoys"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("this is no git repository")
    known = {name.removeprefix("src/gvoys/") for name in listed.stdout.splitlines()}
    no_code = {name for name in package_files() if not name.endswith((".py", ".cu"))}
    assert no_code <= known


PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]


def test_each_dependency_of_the_core_has_its_oldest_version():
    found = constraints(PROJECT)
    for dependency in PROJECT["dependencies"]:
        assert dependency.replace(">=", "==") in found
    assert any(line.startswith("dask==") for line in found)


@pytest.mark.parametrize("dependency", ["typer", "typer>=0.16,<1", "typer==0.16"])
def test_a_dependency_without_a_plain_lower_bound(dependency):
    with pytest.raises(SystemExit, match=r"must have the form name>=version"):
        constraints(PROJECT | {"dependencies": [dependency]})
