"""The GPU's fast path, and Gram matrices that are formed there, against the CPU."""

import traceback
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np

import gvoys as gv
from gvoys.graphs.labels import Labels
from gvoys.graphs.spectrum import max_degree
from gvoys.nodes import Diffusion
from gvoys.nodes.matrices import Recurrence, matrix_of, on_host
from gvoys.walks import Sketch, Walk

WALKS: dict[str, dict[str, Any]] = {
    "node labels": {},
    "no labels": {"labels": None},
    "edge labels": {"labels": "edge"},
    "both": {"labels": "both"},
    "non-backtracking": {"backtrack": False},
    "non-backtracking, no labels": {"backtrack": False, "labels": None},
    "non-backtracking, edge labels": {"backtrack": False, "labels": "edge"},
    "non-backtracking, both": {"backtrack": False, "labels": "both"},
    "non-backtracking, both, refined": {"backtrack": False, "labels": "both", "refine": 1},
}
Check = tuple[str, Callable[[], float], float]  # name, what finds the largest relative difference, and its limit
SERIES, DEVICES = gv.Geometric(0.01), ("cpu", "cuda")


def compare(small: bool = False, on_progress: Callable[[str], None] = print) -> list[str]:
    """Run all checks, whatever fails; returns the names of those that did. `small` is for machines without a GPU."""
    return _run(_checks(small), on_progress)


def compare_nodes(small: bool = False, on_progress: Callable[[str], None] = print) -> list[str]:
    """The same of learners of nodes."""
    return _run(_checks_of_nodes(small), on_progress)


def _run(checks: Iterator[Check], on_progress: Callable[[str], None]) -> list[str]:
    failed = []
    for name, work, most in checks:
        try:
            found = work()
            good = found <= most
            on_progress(f"{'ok ' if good else 'BAD'} {name}: {found:.1e}")
        except Exception:
            good = False
            on_progress(f"BAD {name}\n{traceback.format_exc()}")
        failed += [] if good else [name]
    return failed


def _checks(small: bool) -> Iterator[Check]:
    for kind, batch in _batches(small):
        for name, options in WALKS.items():
            if small and batch.directed and not options.get("backtrack", True):
                continue  # the generic path, which takes too long in the simulator
            most = 4e-5 if "weighted" in kind else 1e-5  # weights of both signs cancel, and leave more of the rounding
            yield f"{kind}, {name}", lambda b=batch, o=options: _of_profiles(b, 384, **o), most
        if not batch.directed:
            walk = {"backtrack": False, "labels": "both"}
            yield f"{kind}, standard errors", lambda b=batch, o=walk: _of_errors(b, **o), 1e-3
            yield f"{kind}, single precision", lambda b=batch, o=walk: _of_single_gram(b, **o), 1e-5
            yield f"{kind}, RandomWalkKernel", lambda b=batch: _of_estimator(b), 1e-5
    molecules = next(_batches(small))[1]
    for name, options in WALKS.items():
        yield f"integers, {name}", lambda o=options: _of_integers(molecules, **o), 0.0
    for n in (190, 200) if small else (150, 190, 215, 400):
        yield f"a path of {n} nodes", lambda n=n: _without_backtracking(nx.path_graph(n)), 1e-5
    several = labelled(nx.MultiGraph([(0, 1), (0, 1), (1, 2)]), seed=2)  # whose labels differ, so that they stay two
    yield "parallel edges alone", lambda: _without_backtracking(several), 1e-5
    yield "a heavy edge that is skipped", _heavy_edge, 1e-5
    for name, graph in _large(small):
        yield f"{name}, a recurrence", lambda g=graph: _of_recurrence(g), 1e-5
    yield "past the range of float32", _past_the_range, 0.0
    if not small:
        yield "400 components", lambda: _of_profiles(molecules, 400, backtrack=False, labels="both"), 1e-5
        yield "DLPack", lambda: _by_dlpack(molecules), 0.0
        yield "RandomWalkClassifier", lambda: _of_classifier(molecules[:300]), 1e-3


def _checks_of_nodes(small: bool) -> Iterator[Check]:
    most = 2e-3 if small else 1e-2  # large graphs are learned from systems that are solved to a hundredth
    for name, graph in _large(small):
        yield f"{name}, NodeRegressor", lambda g=graph: _of_nodes(g), most
        yield f"{name}, NodeClassifier", lambda g=graph: _of_classes(g), most
    yield "directed, a series of nodes", lambda: _of_directed_nodes(small), 2e-3


def _batches(small: bool) -> Iterator[tuple[str, gv.GraphBatch]]:
    molecules = gv.datasets.molecules(40 if small else 2000, mean_nodes=10 if small else 25)
    molecules = molecules[np.flatnonzero(molecules.graph_sizes > 2)]
    orders = Labels.from_values((molecules.rows() + molecules.columns()) % 4)
    yield "molecules", replace(molecules, edge_labels=orders)
    odd = [labelled(graph, seed) for seed, graph in enumerate(_odd_graphs())]
    yield "hubs, loops and parallel edges, weighted", gv.as_batch(odd)
    yield "hubs, loops and parallel edges", replace(gv.as_batch(odd), edge_weights=None)
    directed = [nx.gnp_random_graph(9, 0.3, seed=k, directed=True) for k in range(3)]
    graphs = [labelled(graph, seed) for seed, graph in enumerate([*directed, nx.empty_graph(0, nx.DiGraph)])]
    yield "directed, weighted", gv.as_batch(graphs)


def _odd_graphs() -> Iterator[nx.Graph]:
    yield from (nx.empty_graph(0), nx.empty_graph(3), nx.star_graph(11), nx.complete_graph(7))
    yield nx.gnp_random_graph(14, 0.3, seed=1)
    several = nx.MultiGraph(nx.path_graph(6))
    several.add_edges_from([(0, 1), (2, 2), (2, 3), (2, 3), (2, 5)])
    yield several


def labelled(graph: nx.Graph, seed: int) -> nx.Graph:
    """With labels of three kinds, and weights of both signs."""
    rng = np.random.default_rng(seed)
    nx.set_node_attributes(graph, {u: int(rng.integers(3)) for u in graph}, "label")
    for edge in graph.edges:
        graph.edges[edge].update(label=int(rng.integers(3)), weight=float(rng.uniform(-2, 2)))
    return graph


def _of_profiles(batch: gv.GraphBatch, n_components: int, **options: Any) -> float:
    """Of every graph and length by itself, so that none hides behind another's large numbers."""
    here, there = _both(batch, 6, n_components, **options)
    assert np.isfinite(there.values).all()
    norms = np.linalg.norm(here.values, axis=2)
    return float((np.linalg.norm(here.values - there.values, axis=2) / np.where(norms > 0, norms, 1.0)).max(initial=0))


def _without_backtracking(graph: nx.Graph) -> float:
    return _of_profiles(gv.as_batch([graph]), 128, backtrack=False)


def _both(batch: gv.GraphBatch, length: int, n_components: int, **options: Any) -> list[Any]:
    walk = Walk(length, **options)
    return [Sketch(n_components, 3, device).profile(batch, walk) for device in DEVICES]


def _of_integers(batch: gv.GraphBatch, **options: Any) -> float:
    here, there = _both(batch, 4, 256, start="ones", stop="ones", **options)
    return float(np.abs(here.values - there.values).max())


def _relative(here: Any, there: Any) -> float:
    assert here.shape == there.shape
    assert isinstance(there, np.ndarray)
    return float(np.linalg.norm(here - there) / np.linalg.norm(here))


def _of_errors(batch: gv.GraphBatch, **options: Any) -> float:
    here, there = _both(batch, 5, 256, **options)
    assert type(there).__name__ == "ResidentProfiles", "profiles did not stay on the GPU"
    found = []
    for normalize in (False, True):
        for rows in (None, slice(0, 3)):
            sides = [
                each.compare(SERIES, None if rows is None else each.take(rows), normalize) for each in (here, there)
            ]
            found += [_relative(*parts) for parts in zip(*sides, strict=True)]
    found += [_relative(here.diagonal(SERIES), there.diagonal(SERIES)), _relative(here.diagonals(), there.diagonals())]
    return max(found)


def _of_single_gram(batch: gv.GraphBatch, **options: Any) -> float:
    from gvoys.gpu import gram

    here = _both(batch, 5, 256, **options)[0].gram(SERIES)
    there = gram(batch, SERIES, Walk(5, **options), 256, random_state=3)
    assert there.dtype == np.float32
    assert np.array_equal(there, there.T)
    return _relative(here, there)


def _of_estimator(batch: gv.GraphBatch) -> float:
    both = [gv.RandomWalkKernel(SERIES, gv.Walk(backtrack=False), method="sketch", device=d) for d in DEVICES]
    found = [_relative(*(each.fit_transform(batch) for each in both))]
    return max(*found, _relative(*(each.transform(batch[1:4]) for each in both)))


def _of_classifier(batch: gv.GraphBatch) -> float:
    y = batch.graph_sizes > np.median(batch.graph_sizes)
    fitted = [gv.RandomWalkClassifier(method="sketch", C=10.0, device=d).fit(batch[:200], y[:200]) for d in DEVICES]
    return _relative(*(model.decision_function(batch[200:]) for model in fitted))


def _large(small: bool) -> Iterator[tuple[str, gv.GraphBatch]]:
    """One graph each: with hubs and nodes without edges, weighted, and a grid."""
    n, rng = 400 if small else 40_000, np.random.default_rng(0)
    edges = np.concatenate([rng.integers(n, size=(3 * n, 2)), [(7, u) for u in range(20, n - 20)]])
    edges = np.unique(np.sort(edges, axis=1), axis=0)
    weights = rng.uniform(0.1, 2.0, len(edges))
    yield "hubs, weighted", gv.GraphBatch.from_arrays(edges=edges, graph_sizes=[n + 3], edge_weights=weights)
    yield "hubs", gv.GraphBatch.from_arrays(edges=edges, graph_sizes=[n + 3])
    yield "a grid", gv.as_batch([nx.convert_node_labels_to_integers(nx.grid_2d_graph(int(n**0.5), int(n**0.5)))])


def _of_recurrence(graph: gv.GraphBatch) -> float:
    """Eleven vectors, by each matrix of an undirected graph."""
    rng = np.random.default_rng(0)
    of_matrix, *others = rng.uniform(-1, 1, (4, 6))
    X = rng.normal(size=(graph.n_nodes, 11)).astype(np.float32)
    found = []
    for name in ("adjacency", "row", "symmetric", "laplacian"):
        here = matrix_of(graph, name)
        there = here.move_to("cuda")
        largest = max_degree(graph) if name in ("adjacency", "laplacian") else 1.0
        steps = Recurrence(of_matrix / largest, *others, 0.5)
        found.append(_relative(here.run(steps, X), on_host(there.run(steps, there.put(X)))))
    return max(found)


def _values(graph: gv.GraphBatch) -> tuple[np.ndarray, np.ndarray]:
    """Nodes, and what is measured there."""
    rng = np.random.default_rng(1)
    seen = rng.choice(graph.n_nodes, graph.n_nodes // 4, replace=False)
    smooth = gv.node_kernel(graph, Diffusion(4.0)) @ rng.normal(size=graph.n_nodes)
    return seen, (smooth / smooth.std() + 0.3 * rng.normal(size=graph.n_nodes))[seen]


def _of_nodes(graph: gv.GraphBatch) -> float:
    seen, y = _values(graph)
    fitted = [gv.NodeRegressor(device=device).fit(graph, seen, y) for device in DEVICES]
    found = [_relative(*each) for each in zip(*(model.predict(return_std=True) for model in fitted), strict=True)]
    if fitted[0]._kind == np.float32:  # in double precision other numbers are drawn
        found.append(_relative(*(model.sample_y(n_samples=3) for model in fitted)))
    theta = np.log(np.append(np.maximum(fitted[0].weights_, 1e-3), fitted[0].noise_ ** 2))
    for exact in (None, False):
        found.append(_relative(*(np.array(model.log_marginal_likelihood(theta, exact=exact)) for model in fitted)))
    return max(found)


def _of_classes(graph: gv.GraphBatch) -> float:
    seen, y = _values(graph)
    fitted = [gv.NodeClassifier(device=device).fit(graph, seen, y > 0) for device in DEVICES]
    return _relative(*(model.predict_proba() for model in fitted))


def _of_directed_nodes(small: bool) -> float:
    """Whose kernel takes two matrices, one the other's transpose."""
    n, rng = 100 if small else 3000, np.random.default_rng(0)
    graph = gv.GraphBatch.from_arrays(edges=rng.integers(n, size=(2 * n, 2)), graph_sizes=[n], directed=True)
    seen, y = np.arange(0, n, 3), rng.normal(size=len(range(0, n, 3)))
    fitted = [gv.NodeRegressor(gv.Exponential(0.3), device=device).fit(graph, seen, y) for device in DEVICES]
    return _relative(*(model.predict() for model in fitted))


def _heavy_edge() -> float:
    """Beside an edge of 7.3e7 that a walk must not go back along, nothing may be lost to rounding."""
    graph = nx.path_graph(5)
    weights = dict(zip(graph.edges, (0.3, 7.3e7, 0.7, 1.9e-3), strict=True))
    nx.set_edge_attributes(graph, weights, "weight")
    walk = Walk(4, labels=None, backtrack=False, start="ones", stop="ones")
    here = (gv.profiles([graph], walk, "sequences", scale=2.0**20) ** 2).sum(axis=2)
    there = gv.profiles([graph], walk, "sketch", 128, scale=2.0**20, device="cuda").astype(float)
    there = (there**2).sum(axis=2)
    return float(np.abs(there / here - 1.0).max())


def _past_the_range() -> float:
    from gvoys.gpu import sketch_on_device

    try:
        sketch_on_device(gv.as_batch([nx.complete_graph(60)]), walk=Walk(30), n_components=128)
    except gv.errors.ParameterError as error:
        return float("too many" not in str(error))
    return 1.0


def _by_dlpack(batch: gv.GraphBatch) -> float:
    import cupy

    from gvoys.gpu import sketch_on_device

    made = sketch_on_device(batch, walk=Walk(3, backtrack=False), n_components=256)
    shared = cupy.from_dlpack(made)
    assert shared.data.ptr == made.data.ptr
    return float(
        np.abs(shared.get() - gv.profiles(batch, gv.Walk(3, backtrack=False), method="sketch", n_components=256)).max()
        > 1e-4
    )
