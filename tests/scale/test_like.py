"""embed_file(like=…): the features of an earlier run, or those by which a model compares graphs."""

import json

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import spelling
from spelling import with_walk

pytest.importorskip("pyarrow")
pytest.importorskip("rdkit")

from processes import content
from raising import raises

import gvoys as gv
from gvoys.apps.scale import embed_file
from gvoys.apps.scale.job import Parameters, read_job
from gvoys.errors import DatasetError, GvoysError, ModelError, ParameterError, UnsupportedError
from gvoys.walks.walk import FIELDS

FIRST = ["CCO", "c1ccccc1N", "CC(=O)O", "C1CC", "O", "CCN", "CCCl"]
SECOND = ["CCBr", "c1ccccc1N", "xx", "CCO", "O", "[Na+].[Cl-]"]
SMALL = {"max_length": 3, "n_components": 32, "rows_per_part": 4}


@pytest.fixture
def files(tmp_path):
    for name, rows in (("first", FIRST), ("second", SECOND)):
        (tmp_path / f"{name}.smi").write_text("".join(f"{text} {text}\n" for text in rows))
        (tmp_path / f"{name}.csv").write_text("".join(["name,structure\n", *(f"{text},{text}\n" for text in rows)]))
    (tmp_path / "plain.g6").write_bytes(nx.to_graph6_bytes(nx.path_graph(4), header=False))
    return tmp_path


def found(folder, like=None):
    ids, features = gv.read_features(folder, like=like)
    return dict(zip(ids, features.toarray() if sp.issparse(features) else features, strict=True))


# -- a run
@pytest.mark.parametrize(
    "how",
    [
        {},
        {"labels": None},
        {"labels": "both", "refine": 1, "seed": 7},
        {"method": "moments", "series": "exponential", "decay": 0.2},
        {"method": "sequences", "refine": 1, "seed": 3},
        {"method": "sequences", "n_columns": 64},
        {"backtrack": False, "lengths": "stacked", "decay": 0.25},
    ],
    ids=str,
)
def test_the_features_of_an_earlier_run(files, how):
    embed_file(files / "first.smi", files / "one", with_walk(**SMALL | how))
    embed_file(files / "second.smi", files / "two", like=files / "one")
    one, two = found(files / "one"), found(files / "two", like=files / "one")
    for text in {*FIRST} & {*SECOND}:
        np.testing.assert_array_equal(two[text], one[text])
    job = read_job(files / "two")
    assert job["fitted"] == read_job(files / "one")["fitted"]
    assert job["parameters"]["rows_per_part"] == 4
    embed_file(files / "first.csv", files / "three", like=files / "two", smiles="structure")
    assert read_job(files / "three")["like"] == job["like"] != read_job(files / "one")["like"]
    embed_file(files / "first.smi", files / "other", with_walk(**SMALL | how | {"max_length": 2}))
    embed_file(files / "second.smi", files / "four", like=files / "other")
    assert read_job(files / "four")["like"] != job["like"]


@pytest.mark.parametrize("backtrack", [True, False])
def test_labels_that_were_chosen_are_kept(files, backtrack):
    """Graphs without labels have none that are used, also for molecules, which have some."""
    embed_file(files / "plain.g6", files / "one", {"walk": gv.Walk(backtrack=backtrack)})
    assert read_job(files / "one")["fitted"]["labels"] is None
    embed_file(files / "first.smi", files / "two", like=files / "one")
    chain, lengths = gv.as_batch([nx.path_graph(3)]), "stacked" if backtrack else "summed"
    model = gv.RandomWalkFeatures(gv.Geometric(1 / 16), gv.Walk(6, backtrack=backtrack), lengths=lengths)
    expected = model.fit_transform(chain)
    np.testing.assert_array_equal(found(files / "two", like=files / "one")["CCO"], expected[0])


def test_what_a_run_needs_and_graphs_lack(files, tmp_path):
    for labels, kind in (("node", "node"), ("both", "node"), ("edge", "edge")):
        embed_file(files / "first.smi", files / labels, with_walk(**SMALL | {"labels": labels}))
        with pytest.raises(UnsupportedError, match=f"{labels} used {kind} labels and the graphs of plain.g6 have none"):
            embed_file(files / "plain.g6", files / "two", like=files / labels)
    assert not (files / "two").exists()
    for name, directed in (("one", False), ("two", True)):
        graph = nx.node_link_data((nx.DiGraph if directed else nx.Graph)([(0, 1), (1, 2)]), edges="links")
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(graph))
    embed_file(tmp_path / "one.jsonl", tmp_path / "one", {"walk": gv.Walk(refine=1), "n_components": 8})
    with pytest.raises(UnsupportedError, match=r"one were undirected and those of two.jsonl are directed"):
        embed_file(tmp_path / "two.jsonl", tmp_path / "two", like=tmp_path / "one")
    embed_file(tmp_path / "one.jsonl", tmp_path / "plain", {"n_components": 8})
    embed_file(tmp_path / "two.jsonl", tmp_path / "two", like=tmp_path / "plain")


@pytest.mark.parametrize(
    ("name", "value"),
    [("max_length", 4), ("decay", 0.1), ("seed", 1), ("labels", None), ("method", "moments"), ("lengths", "stacked")],
)
def test_a_parameter_that_contradicts(files, name, value):
    embed_file(files / "first.smi", files / "one", with_walk(**SMALL))
    alone = {"walk": {name: value}} if name in FIELDS else {name: value}
    for given in (alone, Parameters(**with_walk(**SMALL | {name: value}))):
        with pytest.raises(ParameterError, match=rf"^{name} is {value!r}, and .*one, .*leave out {name}, or like$"):
            embed_file(files / "second.smi", files / "two", given, like=files / "one")
    assert not (files / "two").exists()


def test_parameters_that_agree_or_are_free(files):
    embed_file(files / "first.smi", files / "one", with_walk(**SMALL))
    given = {"walk": {"max_length": 3, "labels": "node"}, "method": "auto", "lengths": "summed", "rows_per_part": 2}
    summary = embed_file(files / "second.smi", files / "two", given, like=files / "one")
    assert summary.n_parts == 3
    embed_file(files / "second.smi", files / "three", Parameters(**with_walk(**SMALL)), like=files / "one")
    with pytest.raises(ParameterError, match="there is no parameter 'length'"):
        embed_file(files / "second.smi", files / "four", {"length": 3})


def test_columns_that_agree_or_contradict(files):
    """The number of columns is 2^20 where none was given, and one of the features then."""
    embed_file(files / "first.smi", files / "one", {"method": "sequences"})
    for count in (None, 2**20):
        embed_file(files / "second.smi", files / f"{count}", {"n_columns": count}, like=files / "one")
        assert found(files / f"{count}", like=files / "one").keys() == {*SECOND} - {"xx"}
    said = r"^n_columns is 64, and 1048576 in .*one, .*leave out n_columns, or like$"
    few = {"n_columns": 64}
    raises(ParameterError, said, embed_file, files / "second.smi", files / "two", few, like=files / "one")
    embed_file(files / "second.smi", files / "few", {"method": "sequences", "n_columns": 64})
    with pytest.raises(ParameterError, match=r"do not compare: they differ in width \(1048576 and 64\)"):
        gv.read_features(files / "few", like=files / "one")


# -- a model
def trained(files, kind, **how):
    graphs = gv.from_smiles([text for text in FIRST if text != "C1CC"] * 3)
    if kind == "classes":
        model = gv.RandomWalkClassifier(gv.Walk(2, refine=1), kernel="linear", C=1.0)
        model.fit(graphs, np.arange(len(graphs)) % 2)
    else:
        model = spelling.regressor(2, n_components=32, **how).fit(graphs, graphs.graph_sizes)
    model.training_ = {"smiles": "Structure", "ids": None}
    model.save(files / "m.gvoys")
    return model


@pytest.mark.parametrize(
    ("kind", "how"), [("classes", {}), ("numbers", {}), ("numbers", {"max_exact": 5})], ids=["classes", "exact", "many"]
)
@pytest.mark.parametrize("rows", [1, 3, 100])
def test_the_features_of_a_model(files, kind, how, rows):
    model = trained(files, kind, **how)
    embed_file(files / "second.csv", files / "out", {"rows_per_part": rows}, like=files / "m.gvoys", id="name")
    readable = [text for text in SECOND if text != "xx"]
    ids, features = gv.read_features(files / "out", like=files / "m.gvoys")
    assert ids == readable
    assert features.dtype == np.float32
    # kernels of distances are computed by BLAS, which rounds in another way for other numbers of rows
    np.testing.assert_allclose(features, model.transform(gv.from_smiles(readable)), rtol=1e-5, atol=1e-6)


def test_a_model_has_its_own_parameters(files):
    trained(files, "numbers")
    with pytest.raises(ParameterError, match=r"^max_length is given, and .*m.gvoys has its own; leave out max_length"):
        embed_file(files / "first.smi", files / "out", {"walk": {"max_length": 3}}, like=files / "m.gvoys")
    with pytest.raises(ParameterError, match="a part has 1 to"):
        embed_file(files / "first.smi", files / "out", {"rows_per_part": 0}, like=files / "m.gvoys")
    for kind in ("numbers", "classes"):
        trained(files, kind)
        with pytest.raises(UnsupportedError, match=r"m.gvoys cannot be used on these graphs: .* had node labels"):
            embed_file(files / "plain.g6", files / "out", like=files / "m.gvoys")
    assert not (files / "out").exists()


def test_graphs_with_edges_tell_whether_a_model_can_be_used(files):
    """Before the work begins: a graph without edges lacks no labels of edges."""
    trained(files, "numbers", labels="both")
    single = {"nodes": [{"id": 0, "label": "C"}], "links": []}
    pair = {"nodes": [{"id": 0, "label": "C"}, {"id": 1, "label": "C"}], "links": [{"source": 0, "target": 1}]}
    (files / "a.jsonl").write_text("\n".join(map(json.dumps, [single, pair, pair])))
    with pytest.raises(UnsupportedError, match="cannot be used on these graphs: the fitted graphs had edge labels"):
        embed_file(files / "a.jsonl", files / "out", like=files / "m.gvoys")
    assert not (files / "out").exists()
    (files / "b.smi").write_text("C single\nCC pair\n")
    assert embed_file(files / "b.smi", files / "out", like=files / "m.gvoys").n_graphs == 2


def test_one_graph_that_a_model_cannot_do_is_skipped_alone(files, monkeypatch):
    trained(files, "numbers")
    real = gv.RandomWalkRegressor.transform

    def transform(self, X):
        if X.graph_sizes.max(initial=0) > 5:
            raise UnsupportedError("label sequences take too many states")
        return real(self, X)

    monkeypatch.setattr(gv.RandomWalkRegressor, "transform", transform)
    (files / "b.smi").write_text("CCCCCCCC octane\nCC ethane\n")
    summary = embed_file(files / "b.smi", files / "out", like=files / "m.gvoys")
    assert (summary.n_graphs, summary.n_skipped) == (1, 1)
    assert "too many states" in (files / "out.skipped.csv").read_text()


# -- going on
def stop(*_):
    if _[0]:
        raise KeyboardInterrupt


@pytest.mark.parametrize("like", ["one", "m.gvoys"])
def test_a_run_goes_on_with_what_it_is_like(files, like):
    trained(files, "numbers")
    embed_file(files / "first.smi", files / "one", with_walk(**SMALL | {"rows_per_part": 2}))
    given = {"rows_per_part": 2}
    embed_file(files / "second.smi", files / "whole", given, like=files / like)
    with pytest.raises(KeyboardInterrupt):
        embed_file(files / "second.smi", files / "out", given, like=files / like, on_progress=stop)
    assert not (files / "out" / "_summary.json").exists()
    raises(ParameterError, "holds a run with other", embed_file, files / "second.smi", files / "out", given)
    embed_file(files / "second.smi", files / "out", given, like=files / like)
    assert content(files / "out") == content(files / "whole")


def test_another_model_or_run_does_not_go_on(files):
    trained(files, "numbers")
    embed_file(files / "second.smi", files / "out", like=files / "m.gvoys")
    trained(files, "numbers", random_state=1)
    with pytest.raises(ParameterError, match="holds a run with another like"):
        embed_file(files / "second.smi", files / "out", like=files / "m.gvoys")
    with pytest.raises(ParameterError, match="do not compare: they differ in model;"):
        gv.read_features(files / "out", like=files / "m.gvoys")
    with pytest.raises(ParameterError, match="has the features of a model; give the file of that model"):
        embed_file(files / "first.smi", files / "two", like=files / "out")
    embed_file(files / "first.smi", files / "plain", with_walk(**SMALL))
    raises(ParameterError, "they differ in model", gv.read_features, files / "out", like=files / "plain")
    embed_file(files / "second.smi", files / "same", with_walk(**SMALL))
    with pytest.raises(ParameterError, match="holds a run with"):  # the same features, by way of another run
        embed_file(files / "second.smi", files / "same", like=files / "plain")


def test_widths_of_one_model_differ(files):
    model = trained(files, "numbers", kernel="linear")
    model.set_params(n_components=64).save(files / "wide.gvoys")
    for name in ("m", "wide"):
        embed_file(files / "second.smi", files / name, like=files / f"{name}.gvoys")
    assert [gv.read_features(files / name)[1].shape[1] for name in ("m", "wide")] == [33, 65]


def test_what_is_neither_run_nor_model(files):
    for like, error, said in (
        (files / "none", ModelError, "there is no model file"),
        (files / "first.smi", ModelError, "damaged or no model file"),
        (files, DatasetError, "holds no run of gvoys embed"),
        (3, GvoysError, "a path is text"),
    ):
        raises(error, said, embed_file, files / "first.smi", files / "out", like=like)
    assert not (files / "out").exists()
