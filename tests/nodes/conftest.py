"""Graphs that are treated as if they were large."""

import pytest

from gvoys.nodes import matrices, node_learner, priors


@pytest.fixture
def large(monkeypatch):
    """Single precision, reordered, learned and sampled by products alone."""
    monkeypatch.setattr(node_learner, "_SINGLE_PRECISION_NODES", 10)
    monkeypatch.setattr(matrices, "_LARGE_GRAPH_NODES", 10)
    monkeypatch.setattr(priors, "_MAX_DENSE_ENTRIES", 0.0)


@pytest.fixture(params=["exact", "sampled"])
def way(request):
    if request.param == "sampled":
        request.getfixturevalue("large")
