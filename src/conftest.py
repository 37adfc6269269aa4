"""Examples of docstrings run in a folder of their own, so that the files they write are gone afterwards."""

import pytest


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
