"""Shared fixtures."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from gvoys.datasets.fetch import cache_folder

settings.register_profile(
    "gvoys", deadline=None, max_examples=40, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("gvoys")


@pytest.fixture
def tu_root() -> Path:
    """The folder with all seven datasets of the paper, where there is one."""
    folder = cache_folder()
    if not (folder / "NCI1.zip").is_file():
        pytest.skip(f"the TU zips are not in {folder}; set GVOYS_DATA to their folder")
    return folder
