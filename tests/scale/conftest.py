"""Inputs of every kind, written once."""

import pytest


@pytest.fixture(scope="session")
def inputs(tmp_path_factory):
    pytest.importorskip("pyarrow")
    from input_files import write_inputs

    folder = tmp_path_factory.mktemp("inputs")
    write_inputs(folder)
    return folder
