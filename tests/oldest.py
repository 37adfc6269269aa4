"""Constraints for pip: the oldest version that pyproject.toml allows of each dependency (python tests/oldest.py)."""

import re
import tomllib
from pathlib import Path

EXTRAS = ("chem", "parquet", "cluster", "report", "explore", "test")


def constraints(project: dict) -> list[str]:
    """name==X for each name>=X; a dependency without a lower bound is an error."""
    asked = [*project["dependencies"], *(each for extra in EXTRAS for each in project["optional-dependencies"][extra])]
    return sorted({_oldest(each) for each in asked if not each.startswith("gvoys[")})


def _oldest(dependency: str) -> str:
    found = re.fullmatch(r"([\w.-]+)(?:\[[\w,]+\])?>=([\w.]+)", dependency)
    if found is None:
        raise SystemExit(f"{dependency!r} in pyproject.toml must have the form name>=version")
    return f"{found[1]}=={found[2]}"


if __name__ == "__main__":
    text = (Path(__file__).parents[1] / "pyproject.toml").read_text()
    print(*constraints(tomllib.loads(text)["project"]), sep="\n")
