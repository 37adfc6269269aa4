"""The constraints with which make oldest installs."""

import tomllib
from pathlib import Path

import pytest
from oldest import constraints

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
