"""What gvoys computes, as digests: the results that a change of structure must not change.

Old and new code run this same file, under the gvoys that PYTHONPATH gives, so it uses names of 0.2 only, and
`walk_parameters` for what 0.3 spells otherwise. It prints one JSON object: digests of the bits of most results, numbers
of those of learners, of exact counts and of sums that may run in another order, the kind of error where one is raised.
"""

import hashlib
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np

import gvoys as gv
from gvoys.errors import DatasetError, GvoysError


def walk_parameters(**fields: Any) -> dict[str, Any]:
    """The fields of a walk as this version of gvoys takes them."""
    return {"walk": gv.Walk(**fields)} if hasattr(gv, "Walk") else fields


def infinite_walk(**fields: Any) -> dict[str, Any]:
    """The same for the infinite series."""
    return {"walk": gv.Walk(max_length=None, **fields)} if hasattr(gv, "Walk") else fields


Case = tuple[str, Callable[[], Any]]
_SOLVERS = ("product", "vec", "cg", "fixed-point", "sylvester", "spectral", "lanczos")
SERIES = {
    "geometric": gv.Geometric(0.05),
    "exponential": gv.Exponential(0.3),
    "finite": gv.Coefficients([1, 0, 0.5, 0.2]),
}


def batches() -> dict[str, gv.GraphBatch]:
    """Small collections of every kind: labels, attributes, directions, weights, parallel edges, an empty graph."""
    rng = np.random.default_rng(0)
    molecules = gv.datasets.molecules(40, mean_nodes=14)
    found = {
        "molecules": replace(molecules, node_attributes=rng.normal(size=(molecules.n_nodes, 2))),
        "plain": gv.datasets.erdos_renyi(12, 20, 0.2),
        "odd": gv.as_batch(_odd_graphs(rng), node_attributes="a"),
    }
    for name, count in (("MUTAG", 60), ("ENZYMES", 30), ("PTC_MR", 40), ("NCI1", 50)):
        try:
            found[name] = gv.datasets.load_tu(name)[0][:count]
        except DatasetError:
            continue
    return found


def _odd_graphs(rng: np.random.Generator) -> list[Any]:
    graphs = []
    for seed in range(6):
        graph = nx.MultiDiGraph(nx.gnp_random_graph(9, 0.25, seed=seed, directed=True))
        graph.add_edges_from([(0, 1), (0, 1), (2, 2)])
        for number, (_, _, edge) in enumerate(graph.edges(data=True)):
            edge.update(label=number % 3, weight=float(rng.uniform(0.2, 2.0)))
        for node in graph:
            graph.nodes[node].update(label=str(node % 3), a=[float(node), 1.0])
        graphs.append(graph)
    return [*graphs, nx.empty_graph(0, nx.MultiDiGraph)]


def profile_cases() -> Iterator[Case]:
    """Every method with every option, on every collection."""
    for name, batch in batches().items():
        labels = [None, *(["node"] if batch.node_labels else []), *(["both"] if batch.edge_labels else [])]
        yield f"{name} moments", lambda b=batch: _profiles(b, "moments", max_length=8)
        for kind, backtrack, refine in product(labels, (True, False), (0, 1)):
            how = {"labels": kind, "backtrack": backtrack, "refine": refine}
            yield (
                f"{name} sequences {how}",
                lambda b=batch, h=how: _numbers(_profiles(b, "sequences", max_length=4, **h)),
            )
            yield f"{name} sketch {how}", lambda b=batch, h=how: _sketch(b, h)
            if batch.node_attributes is not None:
                more = how | {"attribute_bandwidth": 1.5, "start": "ones"}
                yield f"{name} sketch {more}", lambda b=batch, h=more: _by_attributes(b, h)
        for kind in labels:
            yield (
                f"{name} voyagers {kind}",
                lambda b=batch, k=kind: _profiles(b, "voyagers", 20, max_length=4, labels=k),
            )


def _profiles(batch: gv.GraphBatch, method: str, n_components: int = 512, seed: int = 0, **fields: Any) -> Any:
    return gv.profiles(batch, method=method, n_components=n_components, random_state=seed, **walk_parameters(**fields))


def _sketch(batch: gv.GraphBatch, how: dict[str, Any]) -> Any:
    made = _profiles(batch, "sketch", 200, 3, max_length=6, **how)
    return made if how["backtrack"] and how["labels"] != "both" else _numbers(made, name="single")


def _by_attributes(batch: gv.GraphBatch, how: dict[str, Any]) -> Any:
    return _numbers(_profiles(batch, "sketch", 64, max_length=3, **how), name="single")


def estimator_cases() -> Iterator[Case]:
    """Gram matrices with their errors, and features, of fitted and of new graphs."""
    for (name, batch), (kind, series) in product(batches().items(), SERIES.items()):
        for method, normalize in product(("auto", "moments", "sequences", "sketch", "voyagers"), (False, True)):
            how = {"method": method, "normalize": normalize, "n_components": 256}
            yield f"{name} {kind} kernel {how}", lambda b=batch, s=series, h=how: _kernel(b, s, h)
        for lengths in ("stacked", "summed"):
            how = {"lengths": lengths, "n_components": 128}
            yield f"{name} {kind} features {lengths}", lambda b=batch, s=series, h=how: _features(b, s, h)
        for fields in ({"structure": "closed"}, {"structure": ("core", "ball1"), "refine": 1, "backtrack": False}):
            yield f"{name} {kind} kernel {fields}", lambda b=batch, s=series, f=fields: _kernel(b, s, {}, **f)
        yield (
            f"{name} {kind} infinite kernel",
            lambda b=batch: gv.RandomWalkKernel(**walk_parameters(max_length=None)).fit_transform(b),
        )
    few = gv.datasets.molecules(6, mean_nodes=9)
    for model in (gv.GraphVoyagers, gv.OneSidedVoyagers):
        for shared in (False, True):
            walk = walk_parameters(max_length=8) if model is gv.OneSidedVoyagers else {}
            made = model(gv.Exponential(0.02), n_components=30, n_walks=2, p_halt=0.2, share_signs=shared, **walk)
            yield f"{model.__name__} shared signs {shared}", lambda m=made: m.fit_transform(few)
    nodes = gv.GraphRandomFeatures(gv.Geometric(0.05), n_walks=20, p_halt=0.2)
    yield "GraphRandomFeatures", lambda: nodes.fit(few[0]).transform(few[0]).toarray()
    for (one, other), solver in product(combinations(range(4), 2), _SOLVERS):
        for labels in (None, "node"):
            how = {"solver": solver, **infinite_walk(labels=labels, start="ones")}
            yield (
                f"exact {one} {other} {solver} {labels}",
                lambda i=one, j=other, h=how: gv.exact_kernel(few[i], few[j], gv.Geometric(0.02), **h).value,
            )
    for fields in ({}, {"labels": None}, {"backtrack": False}, {"refine": 1}, {"max_length": 4, "start": "ones"}):
        how = walk_parameters(**{"max_length": None} | fields)
        yield (
            f"estimate {fields}",
            lambda h=how: list(vars(gv.estimate(few[0], few[1], gv.Exponential(0.1), rtol=0.03, **h)).values()),
        )
    large = gv.datasets.erdos_renyi(2, 30_000, 1e-4)
    how = walk_parameters(max_length=None)
    yield "estimate large", lambda h=how: gv.estimate(large[0], large[1], gv.Geometric(0.01), **h).value
    yield "estimate_on_product", lambda: gv.estimate_on_product(few[0], few[1], gv.Exponential(0.1)).value
    for walk in ({"labels": "both"}, {"labels": None}, {"labels": "node", "backtrack": False}):
        how = walk_parameters(max_length=6, **walk)
        yield f"compare {walk}", lambda h=how: gv.compare(few[0], few[1], gv.Geometric(1 / 16), **h).lengths


def _kernel(batch: gv.GraphBatch, series: Any, how: dict[str, Any], **fields: Any) -> Any:
    kernel = gv.RandomWalkKernel(series, **how, **walk_parameters(max_length=5, **fields))
    K = kernel.fit_transform(batch)
    error = kernel.standard_error_  # 0.1 overwrote it in `transform`
    new = kernel.transform(batch[:3])
    if str(kernel.method_) == "sequences":
        return _numbers(K, new)
    if str(kernel.method_) == "sketch":
        return _numbers(K, new) | _numbers(error, name="single")
    return [K, error, new]


def _numbers(*arrays: np.ndarray, name: str = "array") -> dict[str, Any]:
    """One number for each graph: what may be added up in another order shows in the last bits; "single" by float32."""
    rows = [np.reshape(array, (len(array), -1)).astype(float) for array in arrays]
    return {f"{name} {k}": (each @ np.linspace(1, 2, each.shape[1])).tolist() for k, each in enumerate(rows)}


def _features(batch: gv.GraphBatch, series: Any, how: dict[str, Any]) -> list[Any]:
    model = gv.RandomWalkFeatures(series, **how, **walk_parameters(max_length=5))
    X = model.fit_transform(batch)
    return [X, model.transform(batch[1:3])]


def file_cases() -> Iterator[Case]:
    """Features that `gvoys embed` writes, and the matrix of `gvoys kernel`."""
    decay = ["--decay", "0.0625"]
    for options in ([], ["--method", "sequences", "--max-length", "3"], ["--refine", "1", "--no-backtrack"]):
        yield f"embed {options}", lambda o=options: _embedded("embed", "features", decay + o)
    for options in (["--method", "sketch"], ["--labels", "none"]):
        yield f"kernel {options}", lambda o=options: _embedded("kernel", "K.npy", decay + o)


def _embedded(command: str, name: str, options: list[str]) -> Any:
    import subprocess

    from rdkit import RDConfig

    lines = (Path(RDConfig.RDDataDir) / "NCI" / "first_5K.smi").read_text().splitlines()[:300]
    with tempfile.TemporaryDirectory() as folder:
        source, out = Path(folder) / "some.smi", Path(folder) / name
        source.write_text("\n".join(lines) + "\n")
        arguments = [sys.executable, "-P", "-m", "gvoys", command, str(source), "-o", str(out), *options]
        subprocess.run(arguments, capture_output=True, check=True)
        if out.is_file():
            return np.load(out)
        import pyarrow.parquet as pq

        return [np.array(str(pq.read_table(part).to_pydict())) for part in sorted(out.glob("*.parquet"))]


def learner_cases() -> Iterator[Case]:
    """Predictions, which must stay."""
    molecules = gv.datasets.molecules(120, random_state=3)
    plain = gv.datasets.erdos_renyi(90, 15, 0.2)
    sizes = molecules.graph_sizes
    linear = {"max_length": 5, "labels": "node", "refine": 0, "backtrack": False, "start": "ones", "stop": "ones"}
    regressors = {
        "linear": {"kernel": "linear", **walk_parameters(**linear)},
        "matern32": {"kernel": "matern32", **walk_parameters(**linear | {"refine": 1, "max_length": 3})},
        "auto": {},
        "landmarks": {"max_exact": 50, "n_components": 40},
    }
    for name, how in regressors.items():
        yield f"regressor {name}", lambda h=how: _regress(molecules, sizes.astype(float), h)
    yield (
        "regressor linear auto",
        lambda: _regress(plain, np.diff(plain.entry_offsets).astype(float), {"kernel": "linear"}),
    )
    for name, batch in {"molecules": molecules, "plain": plain, **batches()}.items():
        yield f"classifier {name}", lambda b=batch: _classify(b, {})
    fixed = {"max_length": 4, "labels": "node", "refine": 1, "backtrack": True, "start": "ones", "stop": "ones"}
    old = {name: fixed[name] for name in ("max_length", "labels", "refine", "backtrack")}
    how = walk_parameters(**fixed) if hasattr(gv, "Walk") else {**old, "attribute_bandwidth": None}
    yield "classifier given walk", lambda h=how: _classify(molecules, h)
    yield "index", lambda: list(gv.Index().add(molecules).nearest(molecules[:9], 5)[:2])
    for objective in ("svm", "alignment", "likelihood"):
        y = sizes.astype(float) if objective == "likelihood" else sizes > np.median(sizes)
        how = walk_parameters(max_length=7, start="ones", stop="ones")
        yield (
            f"learn_series {objective}",
            lambda o=objective, y=y, h=how: _numbers(np.array([gv.learn_series(molecules, y, o, **h).mu])),
        )


def _regress(batch: gv.GraphBatch, y: np.ndarray, how: dict[str, Any]) -> dict[str, Any]:
    cut = 2 * len(batch) // 3
    mean, std = gv.RandomWalkRegressor(**how).fit(batch[:cut], y[:cut]).predict(batch[cut:], return_std=True)
    return {"means": mean.tolist(), "deviations": std.tolist()}


def _classify(batch: gv.GraphBatch, how: dict[str, Any]) -> dict[str, Any]:
    y = np.diff(batch.entry_offsets) * (1 + np.arange(len(batch)) % 3)
    y = y > np.median(y)
    model = gv.RandomWalkClassifier(**how).fit(batch[::2], y[::2])
    return {
        "decisions": model.decision_function(batch[1::2]).tolist(),
        "probabilities": model.predict_proba(batch[1::2]).tolist(),
    }


def digest(result: Any) -> str:
    """A hash of the bits, types and shapes of one array or of several."""
    found = hashlib.sha256()
    for part in result if isinstance(result, list) else [result]:
        array = np.ascontiguousarray(part)
        found.update(f"{array.dtype.str}{array.shape}".encode() + array.tobytes())
    return found.hexdigest()[:24]


def run(work: Callable[[], Any]) -> Any:
    """The digest, numbers as they are, or the kind of error that is raised: what may not be asked for stays so."""
    try:
        result = work()
    except GvoysError as error:
        return f"raises {type(error).__name__}"
    return result if isinstance(result, dict) else digest(result)


def main() -> None:
    answers, sys.stdout = sys.stdout, sys.stderr  # what gvoys may print is no answer
    found = {"file": gv.__file__, "version": gv.__version__}
    for cases in (profile_cases, estimator_cases, file_cases, learner_cases):
        found |= {name: run(work) for name, work in cases()}
    json.dump(found, answers)


if __name__ == "__main__":
    main()
