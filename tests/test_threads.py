"""Sharing work among threads."""

import os
from itertools import pairwise

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gvoys.errors import ParameterError
from gvoys.threads import balanced_chunks, n_threads, start_threads, threads


@given(st.lists(st.integers(0, 1000), max_size=60), st.integers(1, 20))
def test_chunks_cover_everything_once_and_are_balanced(work, n_chunks):
    cuts = balanced_chunks(np.array(work, np.int64), n_chunks)
    assert cuts[0] == 0
    assert cuts[-1] == len(work)
    assert (np.diff(cuts) > 0).all()
    sums = [sum(work[a:b]) for a, b in pairwise(cuts)]
    assert max(sums, default=0) <= sum(work) / n_chunks + 2 * max(work, default=0)


def test_the_number_of_threads_is_put_back():
    before = n_threads()
    with threads(1):
        assert numba.get_num_threads() == 1
    assert n_threads() == before
    with pytest.raises(ZeroDivisionError), threads(1):
        _ = 1 / 0
    assert n_threads() == before


def test_starting_threads_leaves_the_environment_alone(monkeypatch):
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    start_threads.cache_clear()
    start_threads()
    assert "OMP_WAIT_POLICY" not in os.environ
    monkeypatch.setenv("OMP_WAIT_POLICY", "active")
    start_threads.cache_clear()
    start_threads()
    assert os.environ["OMP_WAIT_POLICY"] == "active"


@pytest.mark.parametrize("n_jobs", [0, -2, 1.5, "two", 10**6])
def test_refusals(n_jobs):
    with pytest.raises(ParameterError, match="n_jobs must be None, -1 or an integer from 1 to"), threads(n_jobs):
        pass
