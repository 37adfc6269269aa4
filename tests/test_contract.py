"""Every field of a walk at every entry point: the numbers of the plain reference, or the sentence that says why not.

A new field of `Walk` needs a row in ROWS, and a new entry point one in ENTRIES. The GPU's rows run where there is one;
tests/gpu holds it against the CPU in a simulator.
"""

import tempfile
from dataclasses import fields, replace
from functools import partial
from itertools import product
from pathlib import Path

import networkx as nx
import numpy as np
import oracles
import pytest
from numba import cuda
from typer.testing import CliRunner

import gvoys as gv
from gvoys import reference
from gvoys.apps.scale import embed_file, write_gram
from gvoys.apps.scale.job import Parameters
from gvoys.errors import GvoysError, UnsupportedError
from gvoys.walks import Combined, Moments, SampledWalks, Sequences, Sketch
from gvoys.walks.methods import method_named

RNG = np.random.default_rng(2)
DEVICES = ("cpu", "cuda") if cuda.is_available() else ("cpu",)
DECAY, WIDTH = 0.3, 4096
SERIES = gv.Exponential(DECAY)
BASE = gv.Walk(3, labels=None)


def some_graphs():
    """Four graphs with labels of two kinds, two attributes of nodes, one of edges, and weights."""
    graphs = [nx.gnp_random_graph(n, 0.55, seed=n) for n in (5, 6, 7, 6)]
    for graph in graphs:
        for node in graph:
            graph.nodes[node].update(label=int(RNG.integers(2)), a=RNG.normal(size=2).tolist())
        for *_, edge in graph.edges(data=True):
            edge.update(label=int(RNG.integers(2)), weight=float(RNG.uniform(0.7, 1.3)))
    batch = gv.as_batch(graphs, node_attributes="a")
    pairs = np.sort(np.column_stack([batch.rows(), batch.columns()]), axis=1)
    return replace(batch, edge_attributes=np.sin(3.0 * pairs[:, :1] + 5.0 * pairs[:, 1:]))


BATCH = some_graphs()
WEIGHTS = RNG.uniform(0.1, 1.0, BATCH.n_nodes)
ROWS = {
    "max_length": [1],
    "labels": ["node", "edge", "both"],
    "refine": [1],
    "backtrack": [False],
    "structure": ["degree", "closed", ("degree", "core")],
    "attribute_bandwidth": [0.8, (0.5, 2.0)],
    "edge_attribute_bandwidth": [0.5],
    "start": ["ones", WEIGHTS],
    "stop": ["ones", WEIGHTS],
}
WALKS = [(field, BASE.set_params(**{field: value})) for field, values in ROWS.items() for value in values]


def structural(graph, names, max_length):
    """Labels from the structure of one graph, counted by hand."""
    A = (graph.adjacency().toarray() != 0).astype(int)
    closed = np.array([np.linalg.matrix_power(A, k).diagonal() for k in range(1, max_length + 1)]).T.tolist()
    core = nx.core_number(nx.from_numpy_array(A))
    labels = {"degree": A.sum(axis=1), "core": [*zip(A.sum(axis=1), core.values(), strict=True)], "closed": closed}
    return [str([labels[name][u] for name in names]) for u in range(len(A))]


def as_dense(graph, walk, ends):
    """One graph for the reference, with what the walk uses of it."""
    n, rows, columns = graph.n_nodes, graph.rows(), graph.columns()
    names = () if walk.structure is None else np.atleast_1d(walk.structure).tolist()
    parts = [graph.node_labels.decode()] if walk.node_labels else []
    parts += [structural(graph, names, walk.max_length)] if names else []
    edges, scaled = np.zeros((n, n), object), np.zeros((n, n, 1))
    edges[rows, columns] = graph.edge_labels.decode()
    if walk.edge_attribute_bandwidth:
        scaled[rows, columns] = graph.edge_attributes / np.array(walk.edge_attribute_bandwidth)
    return reference.DenseGraph(
        graph.adjacency().toarray(),
        *ends,
        list(zip(*parts, strict=True)) if parts else None,
        edges.tolist() if walk.edge_labels else None,
        graph.node_attributes / np.array(walk.attribute_bandwidth) if walk.attribute_bandwidth else None,
        scaled if walk.edge_attribute_bandwidth else None,
    )


def reference_blocks(batch, walk):
    """K_i after each Weisfeiler–Lehman iteration, (n_iterations, n_lengths, n, n)."""
    named = {"uniform": np.repeat(1.0 / batch.graph_sizes, batch.graph_sizes), "ones": np.ones(batch.n_nodes)}
    ends = [named[end] if isinstance(end, str) else np.asarray(end) for end in (walk.start, walk.stop)]
    cuts = batch.node_offsets[1:-1]
    apart = zip(*(np.split(end, cuts) for end in ends), strict=True)
    dense = [as_dense(graph, walk, its_ends) for graph, its_ends in zip(batch, apart, strict=True)]
    compute = reference.kernel_by_product_graph if walk.backtrack else oracles.kernel_without_backtracking
    blocks = []
    for _ in range(walk.refine + 1):
        values = np.array([[compute(g, h, walk.max_length) for h in dense] for g in dense])
        blocks.append(np.moveaxis(values, 2, 0))
        dense = [oracles.refined(g) for g in dense]
    return np.array(blocks)


def kernel_of(blocks):
    return np.einsum("rlgh,l->gh", blocks, SERIES.coefficients(blocks.shape[1] - 1))


def cosines_of(K):
    norms = np.sqrt(np.where(K.diagonal() > 0, K.diagonal(), 1.0))
    return K / np.outer(norms, norms)


def prediction_of(blocks):
    """The mean of a Gaussian process with equal weights of all blocks, of their cosines, and of a constant."""
    plain = blocks.reshape(-1, *blocks.shape[2:])
    parts = (
        [K / (K.diagonal().mean() or 1.0) for K in plain] + [cosines_of(K) for K in plain] + [np.ones_like(plain[0])]
    )
    K, y = np.mean(parts, axis=0), TARGETS - TARGETS.mean()
    return TARGETS.mean() + K @ np.linalg.solve(K + 0.1 * np.eye(len(K)), y)


def balanced(blocks):
    """Lengths of equal trace, half-normalised, as the classifier has them."""
    K = sum(K / (K.diagonal().mean() or 1.0) for K in blocks.sum(axis=0))
    return K / np.outer(K.diagonal(), K.diagonal()) ** 0.25


def products(X):
    X = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    return X.astype(float) @ X.T.astype(float)


def by_method(method, walk, device):
    method = replace(method, device=device)
    return method.fitted(walk, BATCH).profile(BATCH, walk).gram(SERIES)


def by_pairs(value):
    pairs = product(range(len(BATCH)), repeat=2)
    return np.array([value(*map(BATCH.__getitem__, pair), _of_pair(pair)) for pair in pairs]).reshape(4, 4)


def _of_pair(pair):
    """What cuts weights that are arrays for all graphs to two of them."""

    def cut(walk):
        ends = {name: end for name in ("start", "stop") if not isinstance(end := getattr(walk, name), str)}
        parts = {name: np.split(end, BATCH.node_offsets[1:-1]) for name, end in ends.items()}
        return walk.set_params(**{name: np.concatenate([part[i] for i in pair]) for name, part in parts.items()})

    return cut


def in_folder(work):
    """The numbers of something that reads a file of the graphs and writes to a folder."""

    def call(walk, device):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            gv.write_store(BATCH, folder / "graphs")
            return work(folder, walk, device)

    return call


def parameters(walk, device):
    return Parameters("exponential", DECAY, walk, n_components=WIDTH, device=device)


def embedded(folder, walk, device):
    embed_file(folder / "graphs", folder / "X", parameters(walk, device))
    return products(gv.read_features(folder / "X")[1])


def gram_file(folder, walk, device):
    write_gram(folder / "graphs", folder / "K.npy", parameters(walk, device))
    return np.load(folder / "K.npy")


def command(folder, walk, device):
    flags = ["--series", "exponential", "--decay", str(DECAY), "--components", str(WIDTH), "--device", device]
    for name, value in walk.get_params().items():
        flag = name.replace("_", "-")
        if isinstance(value, bool):
            flags += [f"--{flag}" if value else f"--no-{flag}"]
        elif value is not None or name == "labels":
            flags += [f"--{flag}", ",".join(map(str, value)) if np.ndim(value) else str(value).lower()]
    from gvoys.apps.cli import app

    done = CliRunner().invoke(app, ["kernel", str(folder / "graphs"), "-o", str(folder / "K.npy"), *flags])
    if done.exit_code:
        raise done.exception if isinstance(done.exception, GvoysError) else GvoysError(done.output)
    return np.load(folder / "K.npy")


def page(folder, walk, device):
    blocks = gv.explore(BATCH, np.arange(4), folder / "page.html", series=SERIES, walk=walk).blocks
    parts = zip(blocks.mu, blocks.means, blocks.lengths, strict=True)
    return products(np.hstack([np.sqrt(mu * mean) * length.values for mu, mean, length in parts]))


def indexed(walk, device):
    index = gv.Index(gv.RandomWalkKernel(SERIES, walk, n_components=WIDTH)).add(BATCH)
    ids, similarities, _ = index.nearest(BATCH, k=4)
    return np.take_along_axis(similarities, np.argsort(ids, axis=1), axis=1)


def classified(walk, device):
    model = gv.RandomWalkClassifier(walk, "linear", C=1.0, method=Sketch(WIDTH), device=device).fit(BATCH, [0, 1, 0, 1])
    made = model.profiler_.profile(BATCH)
    return made.attributes.gram(SERIES) if made.attributes else model.balance_.of(made).pairs().inner


TARGETS = np.array([1.0, 3.0, 2.0, 5.0])
METHODS = ("moments", "sequences", "sketch", "voyagers")
HOW = {"n_components": WIDTH}
ENTRIES = {
    **{
        f"profiles {name}": lambda walk, device, m=name: gv.compute_gram(
            gv.profiles(BATCH, walk, m, WIDTH, device=device), SERIES
        )
        for name in ("auto", *METHODS)
    },
    **{
        f"features {name}": lambda walk, device, m=name: products(
            gv.RandomWalkFeatures(SERIES, walk, m, **HOW, device=device).fit_transform(BATCH)
        )
        for name in ("auto", *METHODS)
    },
    **{
        f"kernel {name}": lambda walk, device, m=name: gv.RandomWalkKernel(
            SERIES, walk, m, **HOW, device=device
        ).fit_transform(BATCH)
        for name in ("auto", *METHODS, "combined", "exact")
    },
    **{
        f"method {made.name}": partial(by_method, made)
        for made in (Moments(), Sequences(), Sketch(WIDTH), SampledWalks(WIDTH), Combined(WIDTH))
    },
    "one-sided voyagers": lambda walk, device: products(
        gv.OneSidedVoyagers(SERIES, walk, WIDTH).set_params(device=device).fit_transform(BATCH)
    ),
    "estimate": lambda walk, device: by_pairs(lambda g, h, cut: gv.estimate(g, h, SERIES, cut(walk), 0.02, 1e-4).value),
    "exact_kernel": lambda walk, device: by_pairs(lambda g, h, cut: gv.exact_kernel(g, h, SERIES, cut(walk))),
    "compare": lambda walk, device: by_pairs(lambda g, h, cut: gv.compare(g, h, SERIES, cut(walk)).value),
    "embed_file": in_folder(embedded),
    "write_gram": in_folder(gram_file),
    "gvoys kernel": in_folder(command),
    "explore": in_folder(page),
    "Index": indexed,
    "regressor": lambda walk, device: (
        gv.RandomWalkRegressor(walk, "linear", max_iterations=0).fit(BATCH, TARGETS).predict(BATCH)
    ),
    "classifier": classified,
}
ON_DEVICE = {"profiles", "features", "kernel", "method", "one-sided", "embed_file", "write_gram", "gvoys", "classifier"}
EXPECTED = {"Index": lambda K: cosines_of(kernel_of(K)), "regressor": prediction_of, "classifier": balanced}

ATTRIBUTES = ("attribute_bandwidth", "edge_attribute_bandwidth")
COUNTED = dict.fromkeys(ATTRIBUTES, "cannot use (node|edge) attributes; use method='sketch'")
SAMPLED = dict.fromkeys(("refine", "backtrack", *ATTRIBUTES), "sampled walks cannot use refine, backtrack=False or")
PLAIN = dict.fromkeys(("labels", "refine", "backtrack", "structure", *ATTRIBUTES), "cannot use labels, attributes")
ARRAYS = dict.fromkeys(("start array", "stop array"), "not an array|cannot use arrays|is none of uniform")
SOLVED = dict.fromkeys(("refine", "backtrack", *ATTRIBUTES), "cannot use refine, backtrack=False or attributes")
REFUSED = {  # by the name of an entry or its last word: fields that it cannot use, and the words that say so
    "moments": PLAIN,
    "sequences": COUNTED,
    "combined": COUNTED,
    "voyagers": SAMPLED,
    "exact": SOLVED | ARRAYS,
    "exact_kernel": SOLVED,
    "compare": dict.fromkeys(("refine", "structure", *ATTRIBUTES), "compare cannot spell refine, structure or"),
    "embed_file": ARRAYS,
    "write_gram": ARRAYS,
    "gvoys kernel": dict.fromkeys(ARRAYS, ""),
    "explore": {"refine": "a page cannot show"},
    "regressor": dict.fromkeys(ATTRIBUTES, "cannot use (node|edge) attributes; pass") | ARRAYS,
    "classifier": {"edge_attribute_bandwidth": "cannot use edge attributes"} | ARRAYS,
}
ON_CUDA = {"sequences": "cannot run on a GPU", "combined": "cannot run on a GPU"}


def refusal(entry, field, walk, device):
    """The words with which an entry says that it cannot use a field; None where it can."""
    array = not isinstance(getattr(walk, field), str) and field in ("start", "stop")
    said = {**REFUSED.get(entry.split()[-1], {}), **REFUSED.get(entry, {})}
    if device == "cuda" and field == "edge_attribute_bandwidth" and entry.split()[-1] not in ("moments", "voyagers"):
        return "edge attributes have no kernel for a GPU|cannot"
    return said.get(f"{field} array" if array else field, ON_CUDA.get(entry.split()[-1]) if device == "cuda" else None)


def shown(field, walk):
    value = getattr(walk, field)
    return f"{field} {value if np.size(value) < 3 else 'array'}"


CASES = [
    pytest.param(entry, field, walk, device, id=f"{entry}-{shown(field, walk)}-{device}")
    for entry in ENTRIES
    for field, walk in WALKS
    for device in (DEVICES if entry.split()[0] in ON_DEVICE else ("cpu",))
]


def test_every_field_has_a_row_that_matters():
    assert ROWS.keys() == {each.name for each in fields(gv.Walk)}
    plain = kernel_of(reference_blocks(BATCH, BASE))
    for _, walk in WALKS:
        K = kernel_of(reference_blocks(BATCH, walk))
        assert (np.abs(K - plain) > 0.25 * np.sqrt(np.outer(K.diagonal(), K.diagonal()))).any(), walk


@pytest.mark.parametrize(("entry", "field", "walk", "device"), CASES)
def test_the_numbers_of_the_reference_or_the_sentence(entry, field, walk, device):
    words = refusal(entry, field, walk, device)
    if words is not None:
        with pytest.raises(GvoysError, match=words):
            ENTRIES[entry](walk, device)
        return
    made = ENTRIES[entry](walk, device)
    attributes = entry == "classifier" and field == "attribute_bandwidth"  # in shorter walks of their own
    blocks = reference_blocks(BATCH, walk.set_params(max_length=1) if attributes else walk)
    expected = kernel_of(blocks) if attributes else EXPECTED.get(entry, kernel_of)(blocks)
    if expected.ndim == 1:
        np.testing.assert_allclose(made, expected, rtol=1e-6)
        return
    norms, off = np.sqrt(np.outer(expected.diagonal(), expected.diagonal())), ~np.eye(4, dtype=bool)
    kept = off if "voyagers" in entry and not entry.startswith("kernel") else np.ones((4, 4), bool)  # which is biased
    assert (np.abs(made - expected)[kept] <= 0.1 * norms[kept]).all()
    if exactly(entry, walk):
        np.testing.assert_allclose(made, expected, rtol=1e-5, atol=1e-12)


def exactly(entry, walk):
    """Whether nothing is random in an entry."""
    if entry in ("explore", "gvoys kernel", "write_gram", "kernel auto", "Index"):
        return not walk.attributed
    return entry.split()[-1] in ("moments", "sequences", "exact", "exact_kernel", "compare")


def odd_graphs():
    """Directed, weighted, with loops, parallel edges, a graph without edges and one without nodes."""
    graphs = [nx.MultiDiGraph(nx.gnp_random_graph(6, 0.4, seed=seed, directed=True)) for seed in range(4)]
    for graph in graphs:
        graph.add_edges_from([(0, 1), (0, 1), (2, 2)])
        nx.set_node_attributes(graph, {node: str(node % 2) for node in graph}, "label")
        for number, (_, _, edge) in enumerate(graph.edges(data=True)):
            edge.update(label=number % 3, weight=float(RNG.uniform(0.2, 1.5)))
    alone = nx.MultiDiGraph()
    alone.add_node(0, label="0")
    return gv.as_batch([*graphs, alone, nx.empty_graph(0, nx.MultiDiGraph)])


KINDS = [gv.Walk(3, None), gv.Walk(3), gv.Walk(3, "both"), gv.Walk(3, refine=1), gv.Walk(3, backtrack=False)]


@pytest.mark.parametrize("walk", KINDS, ids=repr)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("batch", [gv.datasets.molecules(10, mean_nodes=8), odd_graphs()], ids=["molecules", "odd"])
def test_consumers_agree_or_refuse_alike(batch, method, walk):
    consumers = [
        partial(gv.profiles, batch, walk, method, 256),
        gv.RandomWalkFeatures(SERIES, walk, method, n_components=256).fit_transform,
        gv.RandomWalkKernel(SERIES, walk, method, n_components=256).fit_transform,
    ]
    support = method_named(method).supports(walk, batch)
    if not support:
        for consumer in (consumers[0], *(partial(each, batch) for each in consumers[1:])):
            with pytest.raises(UnsupportedError) as raised:
                consumer()
            assert str(raised.value) == support.reason
        return
    K = gv.compute_gram(consumers[0](), SERIES)
    np.testing.assert_allclose(products(consumers[1](batch)), K, rtol=1e-5, atol=1e-6 * K.max())
    if method != "voyagers":  # by two replicates, so that the diagonal is unbiased too
        np.testing.assert_allclose(consumers[2](batch), K, rtol=1e-5, atol=1e-6 * K.max())


@pytest.mark.parametrize("walk", KINDS, ids=repr)
def test_auto_says_why_it_takes_a_method(walk):
    kernel = gv.RandomWalkKernel(SERIES, walk).fit(odd_graphs())
    assert kernel.method_.reason
    assert kernel.walk_.labels == ("node" if walk.labels == "auto" else walk.labels)


LEARNERS = {
    "classifier": partial(gv.RandomWalkClassifier, C=1.0),
    "regressor": partial(gv.RandomWalkRegressor, max_iterations=3),
}


@pytest.mark.parametrize("walk", ["auto", *KINDS[1:]], ids=repr)
@pytest.mark.parametrize("learner", LEARNERS)
def test_learners_predict_each_graph_alone_and_say_how_they_walk(learner, walk):
    batch = gv.datasets.molecules(12, mean_nodes=8)
    sizes = batch.graph_sizes
    model = LEARNERS[learner](walk).fit(batch, np.median(sizes) < sizes if learner == "classifier" else sizes)
    decide = model.decision_function if learner == "classifier" else model.predict
    alone = [decide(batch[graph])[0] for graph in range(4)]
    np.testing.assert_allclose(alone, decide(batch)[:4], rtol=1e-10)
    if walk != "auto":
        assert model.walk_ == walk.set_params(labels=model.walk_.labels)
    assert isinstance(model.walk_.refine, int)
