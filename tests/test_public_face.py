"""What the package promises to the outside."""

import subprocess
import sys

import gvoys as gv

OPTIONAL = ("torch", "cupy", "dask", "rdkit", "matplotlib", "networkx", "igraph", "grakel", "rich", "typer", "pooch")
OPTIONAL += ("numba.cuda", "gvoys.gpu", "gvoys._compiled.cuda")


def test_importing_costs_no_optional_package():
    code = f"import gvoys, sys; print(*[name for name in {OPTIONAL!r} if name in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert loaded == []


def test_files_of_features_need_no_learners():
    """A tenth of a second that every gvoys embed would wait."""
    code = "import gvoys.apps.scale, sys; print(*[m for m in sys.modules if 'classifier' in m or 'saving' in m])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert loaded == []


def test_the_version_is_that_of_the_distribution():
    from importlib.metadata import version

    assert version("gvoys") == gv.__version__
