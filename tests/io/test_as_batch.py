"""as_batch: every format gives the same batch, and what is not a graph is refused by index."""

from types import SimpleNamespace

import igraph
import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from cpu_time import cpu_ratio
from raising import raises

import gvoys as gv
from gvoys.errors import GraphError, LabelError

EDGES = [(0, 1), (1, 2), (2, 2), (0, 3)]
WEIGHTS = [0.5, 2.0, 3.0, 1.5]
BONDS = ["-", "=", "o", "-"]
ATOMS = ["C", "N", "C", "O", "H"]  # node 4 is isolated
CHARGES = [[0.1, 1.0], [0.2, 2.0], [0.3, 3.0], [0.4, 4.0], [0.5, 5.0]]
BOTH_WAYS = [*EDGES, *[(v, u) for u, v in EDGES if u != v]]


def as_networkx(kind=nx.Graph):
    graph = kind()
    graph.add_nodes_from((i, {"label": a, "charge": c}) for i, (a, c) in enumerate(zip(ATOMS, CHARGES, strict=True)))
    graph.add_edges_from((u, v, {"weight": w, "label": b}) for (u, v), w, b in zip(EDGES, WEIGHTS, BONDS, strict=True))
    return graph


def as_igraph(directed=False):
    graph = igraph.Graph(n=5, edges=EDGES, directed=directed)
    graph.vs["label"], graph.vs["charge"] = ATOMS, CHARGES
    graph.es["weight"], graph.es["label"] = WEIGHTS, BONDS
    return graph


def as_pyg():
    """Like torch_geometric.data.Data: edge_index, num_nodes, and tensors under any name."""
    facts = {pair: (w, b) for pair, w, b in zip(EDGES, WEIGHTS, BONDS, strict=True)}
    facts |= {(v, u): fact for (u, v), fact in facts.items()}
    return SimpleNamespace(
        edge_index=np.array(BOTH_WAYS).T,
        num_nodes=5,
        edge_weight=np.array([facts[pair][0] for pair in BOTH_WAYS]),
        label_of_bond=np.array([facts[pair][1] for pair in BOTH_WAYS]),
        label=np.array(ATOMS),
        charge=np.array(CHARGES),
    )


def as_grakel():
    weights = dict(zip(EDGES, WEIGHTS, strict=True)) | {(v, u): w for (u, v), w in zip(EDGES, WEIGHTS, strict=True)}
    bonds = dict(zip(EDGES, BONDS, strict=True)) | {(v, u): b for (u, v), b in zip(EDGES, BONDS, strict=True)}
    return weights, dict(enumerate(ATOMS)), bonds


def as_arrays(**more):
    return gv.GraphBatch.from_arrays(EDGES, [5], node_labels=ATOMS, edge_labels=BONDS, edge_weights=WEIGHTS, **more)


def same(one, other, attributes=False):
    np.testing.assert_array_equal(one.adjacency().toarray(), other.adjacency().toarray())
    assert one.node_labels.decode() == other.node_labels.decode()
    assert one.edge_labels.decode() == other.edge_labels.decode()
    assert one.directed == other.directed
    if attributes:
        np.testing.assert_array_equal(one.node_attributes, other.node_attributes)


@pytest.mark.parametrize(
    ("graph", "names"),
    [
        (as_networkx(), {}),
        (as_networkx(nx.MultiGraph), {}),
        (as_igraph(), {}),
        (as_pyg(), {"edge_label": "label_of_bond"}),
    ],
    ids=["networkx", "multigraph", "igraph", "pyg"],
)
def test_formats_agree(graph, names):
    same(gv.as_batch([graph], node_attributes="charge", **names), as_arrays(node_attributes=CHARGES), attributes=True)


def test_grakel_tuples():
    same(gv.as_batch([as_grakel()]), as_arrays())
    batch = gv.as_batch([([("a", "b"), ("b", "a")], {"a": [0.5, 1.0], "b": [2.0, 3.0]})])
    assert batch.node_labels is None
    assert batch.node_attributes.tolist() == [[0.5, 1.0], [2.0, 3.0]]


@pytest.mark.parametrize("form", ["dictionary", "adjacency", "all"])
def test_graphs_of_grakel(form):
    grakel = pytest.importorskip("grakel")
    matrix = np.array([[0, 2, 0], [2, 0, 1], [0, 1, 0]])
    labels = {0: "a", 1: "b", 2: "a"}, {(0, 1): "x", (1, 0): "x", (1, 2): "y", (2, 1): "y"}
    edges = {0: {1: 2.0}, 1: {0: 2.0, 2: 1.0}, 2: {1: 1.0}}
    given = matrix if form == "adjacency" else edges
    graph = grakel.Graph(given, *labels, graph_format=form)
    same(gv.as_batch([graph, graph]), gv.as_batch([(edges, *labels)] * 2))
    assert gv.as_batch([grakel.Graph({0: [1], 1: [0], 2: []})]).graph_sizes.tolist() == [3]
    assert len(gv.io.open_graphs([graph]).read().batch) == 1


@pytest.mark.parametrize("kind", [nx.DiGraph, nx.MultiDiGraph])
def test_directed_formats_agree(kind):
    same(gv.as_batch([as_networkx(kind)]), as_arrays(directed=True))
    same(gv.as_batch([as_igraph(directed=True)]), as_arrays(directed=True))


@pytest.mark.parametrize(
    "edges",
    [
        {"a": ["b"], "b": ["a", "c"], "c": ["b"]},
        {"a": {"b": 1.0}, "b": {"a": 1, "c": 1}, "c": {"b": 1}},
        {("a", "b"): 1, ("b", "a"): 1, ("b", "c"): 1, ("c", "b"): 1},
        [("a", "b"), ("b", "a"), ("b", "c"), ("c", "b")],
        {("a", "b", 1.0), ("b", "a", 1.0), ("b", "c", 1.0), ("c", "b", 1.0)},
    ],
    ids=["lists", "dicts", "pairs", "list", "triples"],
)
def test_the_spellings_of_grakel_edges(edges):
    batch = gv.as_batch([(edges, {"a": 1, "b": 2, "c": 3})])
    assert batch.edge_weights is None
    np.testing.assert_array_equal(batch.adjacency().toarray(), [[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    assert batch.node_labels.decode() == [1, 2, 3]


@pytest.mark.parametrize("form", [list, np.array, lambda a: sp.csr_array(np.array(a))])
def test_grakel_tuples_with_a_matrix(form):
    bonds = {(0, 1): "-", (1, 0): "-", (1, 2): "=", (2, 1): "="}
    batch = gv.as_batch([(form([[0, 1, 0], [1, 0, 2], [0, 2, 0]]), ["C", "N", "O"], bonds)])
    assert batch.weights().tolist() == [1, 1, 2, 2]
    assert batch.edge_labels.decode() == ["-", "-", "=", "="]


def test_matrices():
    A = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    for form in (np.array, sp.csr_array, sp.coo_matrix, sp.lil_array, sp.csc_matrix):
        for dtype in (float, int, bool):
            batch = gv.as_batch([form(A.astype(dtype)), form(np.zeros((2, 2)))])
            np.testing.assert_array_equal(batch[0].adjacency().toarray(), A)
            assert batch.edge_weights is None
            assert batch.graph_sizes.tolist() == [3, 2]
    repeated = sp.coo_array(([1.0, 2.0, 3.0, 0.0], ([0, 0, 1, 1], [1, 1, 0, 1])), shape=(2, 2))
    batch = gv.as_batch([repeated])
    np.testing.assert_array_equal(batch.adjacency().toarray(), [[0, 3], [3, 0]])
    assert batch.n_entries == 2
    assert repeated.nnz == 4  # the caller's matrix is left alone
    A = sp.csr_array(np.array([[0, 2.0], [2.0, 0]]))
    batch = gv.as_batch([A])
    A.data[:] = 9.0
    assert batch.weights().tolist() == [2.0, 2.0]
    A = sp.coo_array((np.full(4, 100, np.int8), ([0, 0, 1, 1], [1, 1, 0, 0])), shape=(2, 2))
    assert gv.as_batch([A]).weights().tolist() == [200.0, 200.0]


def test_parallel_edges():
    graph = nx.MultiGraph([(0, 1), (0, 1), (1, 2)])
    np.testing.assert_array_equal(gv.as_batch([graph]).adjacency().toarray(), [[0, 2, 0], [2, 0, 1], [0, 1, 0]])
    labelled = nx.MultiGraph()
    labelled.add_edges_from([(0, 1, {"label": b, "weight": w}) for b, w in [("-", 1.0), ("=", 2.0), ("-", 4.0)]])
    batch = gv.as_batch([labelled])
    assert sorted(zip(batch.edge_labels.decode(), batch.weights(), strict=True)) == 2 * [("-", 5.0)] + 2 * [("=", 2.0)]
    graph = nx.MultiGraph()
    graph.add_edges_from([(0, 1, {"label": "-"}), (0, 1, {"label": "="})])
    (back,) = gv.as_batch([graph]).to_networkx()
    assert isinstance(back, nx.MultiGraph)
    assert sorted(label for _, _, label in back.edges(data="label")) == ["-", "="]
    graph = nx.MultiGraph([(0, 1, {"weight": 1e308})] * 2)
    raises(GraphError, r"graph 0: edge \(0, 1\) has weight inf", gv.as_batch, [graph])


def test_collections_of_every_kind():
    graphs = [nx.path_graph(n) for n in (3, 3, 3)]
    batch = gv.as_batch(graphs)
    assert gv.as_batch(batch) is batch
    assert gv.as_batch(list(batch)).graph_sizes.tolist() == [3, 3, 3]
    assert len(gv.as_batch(iter(graphs))) == 3
    boxed = np.empty(3, object)
    boxed[:] = graphs
    assert gv.as_batch(boxed).n_edges == 6

    class Dataset:
        def __len__(self):
            return 2

        def __getitem__(self, index):
            return as_pyg()

    class Uniterable(Dataset):
        __iter__ = None

    for dataset in (Dataset(), Uniterable()):
        assert len(gv.as_batch(dataset, edge_label="label_of_bond")) == 2


def test_back_to_networkx(monkeypatch):
    for kind in (nx.Graph, nx.DiGraph):
        (back,) = gv.as_batch([as_networkx(kind)], node_attributes="charge").to_networkx(node_attributes="charge")
        assert type(back) is kind
        assert dict(back.nodes(data="label")) == dict(enumerate(ATOMS))
        assert back[0][1] == {"weight": 0.5, "label": "-"}
        assert nx.is_isomorphic(back, as_networkx(kind))
        again, first = (gv.as_batch([each], node_attributes="charge") for each in (back, as_networkx(kind)))
        same(again, first, attributes=True)
    monkeypatch.setitem(__import__("sys").modules, "networkx", None)
    with pytest.raises(
        gv.errors.MissingDependencyError, match="to_networkx needs networkx; install it with: pip install networkx"
    ):
        gv.GraphBatch.from_arrays([[0, 1]], [2]).to_networkx()


# -- refusals
GOOD = nx.path_graph(3)


def partly(target, name, value=1, graph=None):
    graph = nx.path_graph(4) if graph is None else graph
    (graph.nodes[1] if target == "nodes" else graph.edges[0, 1])[name] = value
    return graph


def pyg(edges, n_nodes=2, **more):
    return SimpleNamespace(edge_index=np.array(edges), num_nodes=n_nodes, **more)


BACK, CO = [[0, 1], [1, 0]], {0: "C", 1: "O"}
PAIR = {(0, 1), (1, 0)}
UNEVEN = nx.Graph([(0, 1)])
nx.set_node_attributes(UNEVEN, {0: [1.0], 1: [1.0, 2.0]}, "charge")


@pytest.mark.parametrize(
    ("graphs", "message"),
    [
        (
            [GOOD, 7],
            "graph 1 is a 'int', which is not a graph; as_batch takes a list of networkx, igraph or PyG graphs",
        ),
        ([GOOD, None], "graph 1 is a 'NoneType', which is not a graph"),
        ([GOOD, "C1CCC1"], "graph 1 is a 'str', which is not a graph"),
        ("CCO", "as_batch takes a list of networkx.*not 'str'"),
        (3, "not 'int'"),
        ({0: [1]}, "not 'dict'"),
        (GOOD, r"was given a single graph; wrap it: as_batch\(\[graph\]\)"),
        (np.eye(3), r"was given a single graph"),
        ([GOOD, np.ones((2, 3))], r"graph 1: an adjacency matrix must be square, not of shape \(2, 3\)"),
        ([GOOD, sp.csr_array([[0, 1], [0, 0]])], r"graph 1: edge \(0, 1\) has no edge back, .* pass directed=True"),
        ([np.array([[0, 2.0], [3.0, 0]])], r"graph 0: edge \(0, 1\) and the edge back differ in weight.*directed=True"),
        ([GOOD, np.full((2, 2), np.nan)], r"graph 1: edge \(0, 0\) has weight nan; weights must be finite"),
        ([np.array([[0, 1j], [1j, 0]])], "graph 0 is a 'ndarray', which is not a graph"),
        ([sp.csr_array([[0, 1j], [1j, 0]])], "graph 0: an adjacency matrix must hold real numbers, not complex128"),
        ([GOOD, nx.DiGraph([(0, 1)])], "graph 1 is directed and graph 0 is not; make them alike"),
        ([pyg([[0, 5], [5, 0]])], "graph 0: an edge names node 5, but the nodes are numbered 0 to 1"),
        ([pyg([[0, -1], [-1, 0]])], "graph 0: an edge names node -1"),
        ([pyg(BACK, label=np.zeros(3))], "graph 0: 'label' has 3 rows for 2 nodes; give one for each"),
        ([pyg([[0, 1], [1, 0], [1, 2]], 3)], r"edge_index must be integers of shape \(2, n_edges\), not"),
        ([pyg([[0.5], [1.0]])], "edge_index must be integers"),
        ([pyg([[0], [1]], num_graphs=2)], r"a PyG Batch of several graphs; pass batch.to_data_list"),
        ([pyg(BACK, edge_weight=np.ones((2, 2)))], "edge weights must be one number"),
        ([(PAIR, {0: "C"})], "graph 0: 1 node labels for 2 nodes; give one for each"),
        (
            [(PAIR, CO, {(0, 1): "-"})],
            r"graph 0: edge \(1, 0\) has no label; give one to each edge, in both directions",
        ),
        ([({(0, 1)}, CO)], r"graph 0: edge \(0, 1\) has no edge back"),
        ([GOOD, (1, 2)], "graph 1 is a 'tuple', which is not a graph"),
        ([([1, 2, 3],)], "graph 0 looks like a graph but cannot be read"),
        (
            [as_networkx(), GOOD],
            "graph 1 has no edge labels and graph 0 has; give edge labels to all graphs or to none",
        ),
        ([({0: []}, {0: "C"}), GOOD], "graph 1 has no node labels and graph 0 has; give node labels to all graphs or"),
        ([GOOD, partly("nodes", "label")], "graph 1: 3 of 4 nodes have no 'label'; give it to all of them or to none"),
        ([GOOD, partly("edges", "label")], "graph 1: 2 of 3 edges have no 'label'"),
        ([GOOD, partly("edges", "weight")], "graph 1: 2 of 3 edges have no 'weight'"),
        ([GOOD, partly("edges", "weight", "heavy", nx.path_graph(2))], "graph 1: edge weights must be real numbers"),
        ([gv.as_batch([GOOD]), GOOD], "graph 0 is a GraphBatch among graphs of other kinds"),
        ([(PAIR,), (PAIR, None, None, None)], "graph 1 is a 'tuple', which is not a graph"),
        ([({key: [1, 2] for key in PAIR},)], "graph 0: edge weights must be one number each"),
    ],
)
def test_wrong_input_is_named_by_the_graphs_index(graphs, message):
    raises(GraphError, message, gv.as_batch, graphs)


@pytest.mark.parametrize(
    ("graph", "names", "message"),
    [
        (GOOD, {"node_attributes": 5}, "node_attributes must be the name or names"),
        (GOOD, {"node_label": "atom"}, "no graph has the node_label 'atom'; pass node_label=None to do without"),
        (GOOD, {"edge_label": "bond"}, "no graph has the edge_label 'bond'"),
        (GOOD, {"node_attributes": "charge"}, "graph 0: no node has the attribute 'charge' that node_attributes asks"),
        (GOOD, {"weight": "length"}, "no graph has the weight 'length'"),
        (UNEVEN, {"node_attributes": "charge"}, "graph 0: node attribute 'charge' must be real numbers of one shape"),
    ],
)
def test_names_that_cannot_be_read(graph, names, message):
    raises(GraphError, message, gv.as_batch, [graph], **names)


@pytest.mark.parametrize("label", [float("nan"), ["a", "b"], object()])
def test_labels_without_a_hash_name_their_graph(label):
    graphs = [partly("nodes", "label", each, nx.empty_graph([1])) for each in ("C", label)]
    raises(LabelError, "graph 2: a label", gv.as_batch, [graphs[0], nx.Graph(), graphs[1]])


def test_labels_of_tensors_and_names_of_nodes():
    labels = gv.as_batch([pyg(np.empty((2, 0), int), 3, x=np.eye(3)[[0, 2, 0]])], node_label="x").node_labels
    assert labels.codes.tolist()[0] == labels.codes.tolist()[2] != labels.codes.tolist()[1]
    graphs = [pyg(np.empty((2, 0), int), 1, label=np.array(labels)) for labels in ([1], ["1"])]
    assert gv.as_batch(graphs).node_labels.decode() == [1, "1"]
    assert gv.as_batch([nx.Graph([("a", (1, 2)), ((1, 2), 3.5)])]).n_edges == 2


def test_ignoring_what_is_there():
    batch = gv.as_batch([as_networkx()], node_label=None, edge_label=None, weight=None)
    assert (batch.node_labels, batch.edge_labels, batch.edge_weights) == (None, None, None)


# -- speed beside work that cannot be done without: the benchmark reports the seconds
@pytest.mark.alone
def test_networkx_molecules_convert_about_as_fast_as_they_are_read():
    graphs = gv.datasets.molecules(1000).to_networkx()

    def read():
        return [(list(graph.nodes(data=True)), list(graph.edges(data=True))) for graph in graphs]

    assert cpu_ratio(lambda: gv.as_batch(graphs), read) < 12  # 2.3 at the time of writing


@pytest.mark.alone
def test_ten_million_nonzeros_convert_in_a_few_passes():
    rng = np.random.default_rng(0)
    ends = rng.integers(0, 10**6, (2, 5_100_000))
    A = sp.csr_array((np.ones(ends.shape[1], np.float32), tuple(ends)), shape=(10**6, 10**6))
    A = sp.csr_array(A + A.T)
    assert A.nnz > 10**7
    assert cpu_ratio(lambda: gv.as_batch([A]), lambda: A.T.tocsr()) < 10  # 3 at the time of writing


def _broken(form, name, place, number):
    A = sp.random_array((30, 30), density=0.2, random_state=0)
    A = sp.csr_array(A + A.T)
    A = A.tobsr((3, 3)) if form == "bsr" else A.asformat(form)
    getattr(A, name)[place] = number
    return A


@pytest.mark.parametrize(
    ("form", "name", "place", "number", "message"),
    [
        *[
            (form, *fault)
            for form in ("csr", "csc", "bsr")
            for fault in (
                ("indices", 5, 2**30, "its indices has the number 1073741824, which is not among 0 to"),
                ("indices", 5, -9, "its indices has the number -9"),
                ("indptr", 3, 2**30, "its indptr falls from 1073741824 to"),
                ("indptr", 3, -9, "its indptr falls from .* to -9"),
                ("indptr", -1, 2**30, "its indptr goes from 0 to 1073741824, and there are"),
                ("indptr", 0, 1, "its indptr goes from 1 to"),
            )
        ],
        ("coo", "row", 3, 2**30, "its row has the number 1073741824"),
        ("coo", "col", 3, -9, "its col has the number -9"),
        ("lil", "data", 2, [1.0] * 99, "its row 2 has .* items and should have 99"),
        ("lil", "rows", 2, [2**30] * 15, "graph 0"),
    ],
)
def test_broken_matrices_do_not_reach_scipy(form, name, place, number, message):
    """Half of these ended the process."""
    with pytest.raises(GraphError, match=f"graph 0.*{message}" if message != "graph 0" else message):
        gv.as_batch([_broken(form, name, place, number)])


@pytest.mark.parametrize(
    ("form", "name", "change"),
    [
        ("csc", "indices", lambda a: a[:5]),
        ("csc", "indices", lambda a: a.astype(float)),
        ("csc", "indptr", lambda a: a[:4]),
        ("csc", "data", lambda a: a[:4]),
        ("csr", "data", lambda a: a[:, None]),
        ("coo", "data", lambda a: a[:4]),
        ("dia", "offsets", lambda a: a[:2]),
        ("dia", "data", lambda a: a[0]),
    ],
)
def test_matrices_whose_arrays_do_not_fit_each_other(form, name, change):
    A = sp.csr_array(np.ones((30, 30))).asformat(form)
    setattr(A, name, change(getattr(A, name)))
    raises(GraphError, "graph 0: its ", gv.as_batch, [A])
