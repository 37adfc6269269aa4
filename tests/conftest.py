"""Shared fixtures."""

from collections.abc import Iterator
from pathlib import Path

import browser
import pytest
from hypothesis import HealthCheck, settings

from gvoys.io.fetch import data_folder

settings.register_profile(
    "gvoys", deadline=None, max_examples=40, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("gvoys")


# Files that take longest begin, so that no core waits for the last of them. The first two compile different kernels;
# what would compile theirs again at the same time comes later.
LONG = (
    "test_contract.py",
    "test_voyagers.py",
    "test_reproduce.py",
    "test_sketch.py",
    "test_cli_ends.py",
    "test_threads.py",
    "test_gpu.py",
    "test_cli.py",
    "test_memory.py",
    "test_classifier.py",
    "test_cluster.py",
)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """After the files were shuffled; the others stay in the order that they have."""
    items.sort(key=lambda item: LONG.index(item.path.name) if item.path.name in LONG else len(LONG))


@pytest.fixture
def tu_root() -> Path:
    """The folder with all seven datasets of the paper, where there is one."""
    folder = data_folder("tu")
    if not (folder / "NCI1.zip").is_file():
        pytest.skip(f"the TU zips are not in {folder}; set GVOYS_DATA to the folder that holds tu/")
    return folder


@pytest.fixture(scope="module")
def one_browser() -> Iterator[None]:
    """One browser for all tests of a module, and no longer: its event loop must not run into tests of others."""
    with browser.shared():
        yield
