"""Labels from structure."""

from collections import Counter

import networkx as nx
import numpy as np
import pytest

import gvoys as gv
from gvoys._compiled.cpu.closed_hashes import PRIMES
from gvoys._compiled.cpu.node_loops import core_numbers, ring_sizes
from gvoys.errors import UnsupportedError
from gvoys.walks.structure import STRUCTURES, in_layer, layers_of, structural_labels, usual_structure

LENGTH = 5
GRAPHS = [
    nx.cycle_graph(6),
    nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3)),
    nx.path_graph(5),
    nx.star_graph(4),
    nx.petersen_graph(),
    nx.circular_ladder_graph(5),  # of degree three, as the one before
    nx.gnp_random_graph(9, 0.4, seed=1),
    nx.empty_graph(2),
    nx.Graph([(0, 0), (0, 1), (1, 2)]),
]


def cores_of(batch):
    out = np.zeros(batch.n_nodes, np.int64)
    core_numbers(batch.node_offsets, batch.indptr, batch.columns(), out)
    return out


def counts(A, length):
    """Of walks between all pairs, (n, n), for every length from 1 on."""
    power, found = A, []
    for _ in range(length):
        found.append(power)
        power = power @ A
    return np.array(found) if found else np.empty((0, *A.shape))


def closed_of(A, length):
    return [tuple(row) for row in np.einsum("kuu->uk", counts(A, length))]


def rows_of(A, length):
    walks = counts(A, length)
    return [(tuple(walks[:, u, u]), tuple(sorted(map(tuple, walks[:, u].T)))) for u in range(len(A))]


def ball_of(A, length, radius):
    steps = np.array(nx.floyd_warshall_numpy(nx.from_numpy_array((A != 0).astype(float))))
    found = []
    for u in range(len(A)):
        inside = np.flatnonzero(steps[u] <= radius)
        within = closed_of(A[np.ix_(inside, inside)], length)
        found.append(tuple(sorted((steps[u, v], each) for v, each in zip(inside, within, strict=True))))
    return found


def deleted_of(A, length):
    """Deleting the node, and counting again."""
    whole, found = closed_of(A, length), []
    for u in range(len(A)):
        others = np.delete(np.arange(len(A)), u)
        again = closed_of(A[np.ix_(others, others)], length)
        found.append((whole[u], tuple(sorted((whole[v], each) for v, each in zip(others, again, strict=True)))))
    return found


DEFINITIONS = {
    "closed": closed_of,
    "rows": rows_of,
    "ball1": lambda A, length: ball_of(A, length, 1),
    "ball2": lambda A, length: ball_of(A, length, 2),
    "deleted": deleted_of,
}


def expected(graphs, name, length):
    matrices = [nx.to_numpy_array(graph).astype(int).astype(object) for graph in graphs]
    return [value for A in matrices for value in DEFINITIONS[name](A, length)]


def tells_apart_as_much(fine, coarse):
    """Whether what is equal under the first is equal under the second."""
    return len(set(zip(fine, coarse, strict=True))) == len(set(fine))


@pytest.mark.parametrize("name", ["closed", "rows", "ball1", "ball2"])
def test_labels_are_equal_where_walks_are(name):
    found = structural_labels(gv.as_batch(GRAPHS), name, LENGTH).codes.tolist()
    wanted = expected(GRAPHS, name, LENGTH)
    assert tells_apart_as_much(found, wanted)
    assert tells_apart_as_much(wanted, found)


def test_walks_between_nodes_tell_what_deleting_tells():
    """Walks of one length between a node and another tell of closed walks up to twice that, and no more."""
    found = structural_labels(gv.as_batch(GRAPHS), "deleted", LENGTH).codes.tolist()
    assert tells_apart_as_much(found, expected(GRAPHS, "deleted", LENGTH))
    assert tells_apart_as_much(expected(GRAPHS, "deleted", 2 * LENGTH), found)


def test_numbers_beyond_64_bits_count():
    """Closed walks of a complete graph after 40 steps have over 200 bits; a missing edge shows."""
    whole, without = nx.complete_graph(40), nx.complete_graph(40)
    without.remove_edge(0, 1)
    labels = structural_labels(gv.as_batch([whole, without]), "closed", 40).codes
    assert len(np.unique(labels[:40])) == 1
    assert len(np.unique(labels)) == 3


def test_the_primes_are_primes():
    for prime in PRIMES:
        odd, halvings = prime - 1, 0
        while odd % 2 == 0:
            odd, halvings = odd // 2, halvings + 1
        for base in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37):  # enough below 2^64
            value = pow(base, odd, prime)
            assert value == 1 or any(pow(value, 2**k, prime) == prime - 1 for k in range(halvings))


@pytest.mark.parametrize("name", STRUCTURES)
def test_numbering_of_nodes_does_not_count(name):
    rng = np.random.default_rng(0)
    for graph in GRAPHS:
        order = rng.permutation(len(graph)).tolist()
        other = nx.relabel_nodes(graph, dict(enumerate(order)))
        relabelled = nx.Graph()
        relabelled.add_nodes_from(range(len(graph)))
        relabelled.add_edges_from(other.edges)
        labels = structural_labels(gv.as_batch([graph, relabelled]), name, LENGTH).hashed
        first, second = np.split(labels, 2)
        np.testing.assert_array_equal(first, second[order])


@pytest.mark.parametrize("name", STRUCTURES)
def test_a_label_is_a_function_of_its_graph_alone(name):
    batch = gv.datasets.molecules(30)
    together = structural_labels(batch, name).hashed
    apart = np.concatenate([structural_labels(batch[i], name).hashed for i in range(30)])
    np.testing.assert_array_equal(together, apart)


def sequences_of(graph, colours, length):
    """Of every node the label sequences of its closed walks, and how often each is spelled."""
    found = []
    for u in graph:
        walks, counts_of = [(u,)], []
        for _ in range(length):
            walks = [(*walk, v) for walk in walks for v in graph[walk[-1]]]
            spelled = Counter(tuple(colours[v] for v in walk) for walk in walks if walk[-1] == u)
            counts_of.append(tuple(sorted(spelled.items())))
        found.append((colours[u], tuple(counts_of)))
    return found


def test_closed_walks_with_labels_are_told_apart_by_their_sequences():
    rng, graphs, wanted = np.random.default_rng(0), [], []
    for seed in range(12):
        graph = nx.gnp_random_graph(6, 0.5, seed=seed // 3)  # thrice each, in other colours
        colours = rng.integers(2, size=6).tolist()
        nx.set_node_attributes(graph, dict(enumerate(colours)), "label")
        graphs.append(graph)
        wanted += sequences_of(graph, colours, 4)
    found = structural_labels(gv.as_batch(graphs), "closed", 4, labelled=True).codes.tolist()
    assert tells_apart_as_much(found, wanted)
    assert tells_apart_as_much(wanted, found)
    plain = structural_labels(gv.as_batch(graphs), "closed", 4).codes.tolist()
    assert len(set(plain)) < len(set(found))


@pytest.mark.parametrize("name", ["rows", "deleted", "ball1", "ball2"])
def test_labels_count_and_the_numbering_of_nodes_does_not(name):
    graph, order = nx.gnp_random_graph(9, 0.4, seed=1), [4, 0, 8, 2, 6, 1, 7, 3, 5]
    colours = dict(enumerate("aabababba"))
    nx.set_node_attributes(graph, colours, "label")
    other = nx.Graph()
    other.add_nodes_from((k, {"label": colours[order.index(k)]}) for k in range(9))
    other.add_edges_from((order[u], order[v]) for u, v in graph.edges)
    batch = gv.as_batch([graph, other])
    first, second = np.split(structural_labels(batch, name, LENGTH, labelled=True).hashed, 2)
    np.testing.assert_array_equal(first, second[order])
    nx.set_node_attributes(graph, "a", "label")
    alike = structural_labels(gv.as_batch([graph]), name, LENGTH, labelled=True).hashed
    assert not set(alike) & set(first)


def separated(pair, **options):
    """Whether features of two graphs differ."""
    features = gv.RandomWalkFeatures(gv.Geometric(0.1), gv.Walk(4, **options)).fit_transform(pair)
    return not np.allclose(features[0], features[1], rtol=1e-5)


def test_refinement_does_not_see_what_closed_walks_see():
    pair = GRAPHS[:2]
    assert not separated(pair)
    assert not separated(pair, refine=3)
    assert separated(pair, structure="closed")


def test_balls_tell_strongly_regular_graphs_apart():
    """The Shrikhande graph and the rook's graph: 16 nodes, degree 6, and as many walks between nodes."""
    shrikhande = nx.Graph()
    for x in range(4):
        for y in range(4):
            for dx, dy in ((0, 1), (1, 0), (1, 1)):
                shrikhande.add_edge(4 * x + y, 4 * ((x + dx) % 4) + (y + dy) % 4)
    rook = nx.convert_node_labels_to_integers(nx.line_graph(nx.complete_bipartite_graph(4, 4)))
    assert not separated([shrikhande, rook], structure=["closed", "rows", "deleted"], refine=2)
    assert separated([shrikhande, rook], structure="ball1")


def test_unknown_structure_is_refused():
    with pytest.raises(gv.errors.ParameterError, match=r"structure must be None or some of 'degree', .*'ball3'"):
        gv.RandomWalkKernel(walk=gv.Walk(structure="ball3")).fit(GRAPHS)
    with pytest.raises(gv.errors.ParameterError, match="structure must be one or some of"):
        structural_labels(gv.as_batch(GRAPHS), None)


@pytest.mark.parametrize("p", [0.02, 0.1, 0.3, 0.9])
def test_core_numbers_are_those_of_networkx(p):
    graphs = [nx.gnp_random_graph(n, p, seed=n) for n in (0, 1, 2, 17, 40, 60)]
    expected_cores = [value for graph in graphs for _, value in sorted(nx.core_number(graph).items())]
    np.testing.assert_array_equal(cores_of(gv.as_batch(graphs)), expected_cores)
    assert cores_of(gv.GraphBatch.from_arrays([[0, 0], [0, 1]], [2])).tolist() == [1, 1]  # loops are no neighbours


def test_directed_graphs_have_degrees():
    directed = gv.GraphBatch.from_arrays([[0, 1], [1, 2]], [3], directed=True)
    assert usual_structure(directed) == "degree"
    assert usual_structure(gv.datasets.molecules(1)) == "core"


def sizes_of(graphs, longest=8):
    batch = gv.as_batch(graphs)
    found = np.zeros(batch.n_nodes, np.uint64)
    ring_sizes(batch.node_offsets, batch.indptr, batch.columns(), longest, found)
    return found


def smallest_cycles(graph, longest=8):
    """Bit k: the smallest cycle through some edge of the node is k long."""
    found = dict.fromkeys(graph, 0)
    for u, v in [edge for edge in graph.edges if edge[0] != edge[1]]:
        rest = graph.copy()
        rest.remove_edge(u, v)
        if nx.has_path(rest, u, v) and (length := nx.shortest_path_length(rest, u, v) + 1) <= longest:
            found[u] |= 1 << length
            found[v] |= 1 << length
    return [found[node] for node in graph]


@pytest.mark.parametrize("longest", [5, 6, 8])
def test_rings_are_smallest_cycles(longest):
    sizes = [(6, 7), (9, 11), (12, 13), (14, 30), (20, 22), (30, 33)]
    graphs = [nx.gnm_random_graph(n, m, seed=n * m) for n, m in sizes]
    graphs += [nx.cycle_graph(n) for n in range(3, 11)] + [nx.path_graph(4), nx.Graph([(0, 0), (0, 1)])]
    graphs += [nx.petersen_graph(), nx.hypercube_graph(3), nx.ladder_graph(5)]
    graphs = [nx.convert_node_labels_to_integers(graph) for graph in graphs]
    wanted = [size for graph in graphs for size in smallest_cycles(graph, longest)]
    assert sizes_of(graphs, longest).tolist() == wanted


def test_layers_of_molecules():
    rdkit = pytest.importorskip("rdkit")
    assert rdkit
    batch = gv.from_smiles(["CCO", "c1ccccc1C", "C1CCCC1"])
    assert layers_of(batch) == ("coarse", "given", "fine")
    assert set(in_layer(batch, "coarse").node_labels.values) == {"C", "O"}
    assert in_layer(batch, "given") is batch
    fine = in_layer(batch, "fine").node_labels.hashed
    assert len(np.unique(fine[:3])) == 3
    assert len(np.unique(fine[3:10])) == 3  # the ring's carbons, the one that is substituted, the methyl group
    assert fine[9] == fine[0]  # CH3 of degree one, in no ring
    np.testing.assert_array_equal(in_layer(batch[1:], "fine").node_labels.hashed, fine[3:])


def test_other_labels_have_one_layer():
    batch = gv.GraphBatch.from_arrays([[0, 1]], [2], node_labels=["a", "b"])
    assert layers_of(batch) == ("given",)
    assert in_layer(batch, "coarse").node_labels.decode() == ["a", "b"]
    directed = gv.GraphBatch.from_arrays([[0, 1]], [2], node_labels=[("a",), ("b",)], directed=True)
    assert layers_of(directed) == ("given",)
    with pytest.raises(UnsupportedError, match="directed graphs do not have"):
        in_layer(directed, "fine")
