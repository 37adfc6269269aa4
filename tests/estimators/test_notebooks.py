"""What notebooks and tables show: batches, models, and features as data frames."""

import re
from dataclasses import replace
from html import unescape

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import sklearn
from spelling import with_walk

import gvoys as gv

BATCH = gv.datasets.molecules(20, mean_nodes=8, random_state=2)


def rows(html):
    """Names and texts of a table."""
    assert "<script>" not in html
    cells = [unescape(text) for text in re.findall(r"<t[hd]>(.*?)</t[hd]>", html)]
    return dict(zip(cells[::2], cells[1::2], strict=True))


def test_a_batch_is_a_small_table():
    graphs = [nx.path_graph(3), nx.cycle_graph(5)]
    expected = {"graphs": "2", "nodes": "8 (4.0 per graph)", "edges": "7 (3.5 per graph)", "directed": "no"}
    expected |= {"weighted": "no", "node labels": "none", "edge labels": "none", "node attributes": "none"}
    assert rows(gv.as_batch(graphs)._repr_html_()) == expected
    labelled = gv.GraphBatch.from_arrays(
        [[0, 1]] * 1, [2], node_labels=["<script>", "b" * 90], edge_labels=[7], edge_weights=[2.0], directed=True
    )
    found = rows(replace(labelled, node_attributes=np.ones((2, 3)))._repr_html_())
    assert found["node labels"].startswith("2, such as '<script>', 'bbb")
    assert len(found["node labels"]) < 80
    assert found["edge labels"] == "1, such as 7"
    assert (found["directed"], found["weighted"], found["node attributes"]) == ("yes", "yes", "3")
    assert rows(BATCH[:0]._repr_html_())["nodes"] == "0"


def test_models_show_their_parameters():
    model = gv.RandomWalkClassifier(gv.Walk(refine=1), C=1.0)
    assert "RandomWalkClassifier" in model._repr_html_()
    fitted = model.fit(BATCH, np.arange(20) % 2)
    assert "RandomWalkClassifier" in fitted._repr_html_()
    assert repr(fitted) == "RandomWalkClassifier(C=1.0, walk=Walk(refine=1))"


@pytest.mark.parametrize(
    ("how", "first", "last", "count"),
    [
        ({"method": "sketch", "n_components": 128}, "walk0_0", "walk2_127", 384),
        ({"method": "sketch", "n_components": 128, "refine": 1}, "walk0_round0_0", "walk2_round1_127", 768),
        ({"method": "sketch", "n_components": 128, "lengths": "summed"}, "walks_0", "walks_127", 128),
        ({"labels": None}, "walk0_0", "walk2_0", 3),
    ],
    ids=["sketch", "iterations", "summed", "moments"],
)
def test_features_as_frames(how, first, last, count):
    features = gv.RandomWalkFeatures(gv.Geometric(0.1), **with_walk(max_length=2, **how))
    expected = features.fit_transform(BATCH)
    frame = features.set_output(transform="pandas").fit_transform(BATCH)
    assert isinstance(frame, pd.DataFrame)
    assert (frame.columns[0], frame.columns[-1], len(set(frame.columns))) == (first, last, count)
    np.testing.assert_array_equal(frame.to_numpy(), expected)
    named = pd.Series(BATCH.to_networkx(), index=[f"molecule {i}" for i in range(20)])
    assert features.transform(named).index.tolist() == named.index.tolist()


def test_gram_matrices_as_frames():
    kernel = gv.RandomWalkKernel(gv.Geometric(0.1), gv.Walk(2))
    expected = kernel.fit_transform(BATCH[:15])
    assert isinstance(expected, np.ndarray)
    with sklearn.config_context(transform_output="pandas"):
        frame = kernel.fit_transform(BATCH[:15])
        new, error = kernel.transform(BATCH[15:], return_std=True)
    np.testing.assert_array_equal(frame.to_numpy(), expected)
    assert list(frame.columns) == list(new.columns) == [f"graph{i}" for i in range(15)]
    assert new.shape == error.shape == (5, 15)


def test_sparse_features_are_no_frame():
    features = gv.RandomWalkFeatures(gv.Geometric(0.1), gv.Walk(2), method="sequences")
    features.set_output(transform="pandas")
    with pytest.raises(ValueError, match=re.compile("sparse.*set_output", re.DOTALL)):
        features.fit_transform(BATCH)
