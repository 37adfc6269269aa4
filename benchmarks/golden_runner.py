"""What gvoys computes, as digests: the results that a change of structure must not change.

Old and new code run this same file, under the gvoys that PYTHONPATH gives, so it uses names of 0.1 only. It prints one
JSON object: digests of the bits of most results, numbers of those of learners, of exact counts and of sums that may run
in another order, the kind of error where one is raised. The classifier has `python -m benchmarks accuracy`.
"""

import hashlib
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np

import gvoys as gv
from gvoys.errors import DatasetError, GvoysError

# versions that know no other kernel have this one, of node labels
_LINEAR = {"kernel": "linear", "labels": "node"} if "kernel" in gv.RandomWalkRegressor().get_params() else {}

Case = tuple[str, Callable[[], Any]]
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
        yield f"{name} moments", lambda b=batch: gv.profiles(b, "moments", 8)
        for kind, backtrack, refine in product(labels, (True, False), (0, 1)):
            how = {"labels": kind, "backtrack": backtrack, "refine": refine}
            yield f"{name} sequences {how}", lambda b=batch, h=how: _numbers(gv.profiles(b, "sequences", 4, **h))
            yield f"{name} sketch {how}", lambda b=batch, h=how: _sketch(b, h)
            if batch.node_attributes is not None:
                more = how | {"attribute_bandwidth": 1.5, "start": "ones"}
                yield f"{name} sketch {more}", lambda b=batch, h=more: _by_attributes(b, h)
        for kind in labels:
            yield f"{name} voyagers {kind}", lambda b=batch, k=kind: gv.profiles(b, "voyagers", 4, 20, labels=k)


def _sketch(batch: gv.GraphBatch, how: dict[str, Any]) -> Any:
    made = gv.profiles(batch, "sketch", 6, 200, random_state=3, **how)
    return made if how["backtrack"] and how["labels"] != "both" else _numbers(made, name="single")


def _by_attributes(batch: gv.GraphBatch, how: dict[str, Any]) -> Any:
    return _numbers(gv.profiles(batch, "sketch", 3, 64, **how), name="single")


def estimator_cases() -> Iterator[Case]:
    """Gram matrices with their errors, and features, of fitted and of new graphs."""
    for (name, batch), (kind, series) in product(batches().items(), SERIES.items()):
        for method, normalize in product(("auto", "moments", "sequences", "sketch", "voyagers"), (False, True)):
            how = {"method": method, "normalize": normalize, "max_length": 5, "n_components": 256}
            yield f"{name} {kind} kernel {how}", lambda b=batch, s=series, h=how: _kernel(b, s, h)
        for lengths in ("stacked", "summed"):
            how = {"lengths": lengths, "max_length": 5, "n_components": 128}
            yield f"{name} {kind} features {lengths}", lambda b=batch, s=series, h=how: _features(b, s, h)
    few = gv.datasets.molecules(6, mean_nodes=9)
    for model in (gv.GraphVoyagers, gv.OneSidedVoyagers):
        for shared in (False, True):
            made = model(gv.Exponential(0.02), 30, n_walks=2, p_halt=0.2, share_signs=shared)
            yield f"{model.__name__} shared signs {shared}", lambda m=made: m.fit_transform(few)
    nodes = gv.GraphRandomFeatures(gv.Geometric(0.05), n_walks=20, p_halt=0.2)
    yield "GraphRandomFeatures", lambda: nodes.fit(few[0]).transform(few[0]).toarray()
    for solver in ("product", "vec", "cg", "fixed-point", "sylvester", "spectral", "lanczos"):
        yield (
            f"exact {solver}",
            lambda s=solver: gv.exact_kernel(few[0], few[1], gv.Geometric(0.02), s, labels=None).value,
        )
    yield "estimate", lambda: gv.estimate(few[0], few[1], gv.Exponential(0.1)).value
    yield "estimate_on_product", lambda: gv.estimate_on_product(few[0], few[1], gv.Exponential(0.1)).value


def _kernel(batch: gv.GraphBatch, series: Any, how: dict[str, Any]) -> Any:
    kernel = gv.RandomWalkKernel(series, **how)
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
    model = gv.RandomWalkFeatures(series, **how)
    X = model.fit_transform(batch)
    return [X, model.transform(batch[1:3])]


def file_cases() -> Iterator[Case]:
    """Features that `gvoys embed` writes, and the matrix of `gvoys kernel`."""
    yield "embed", lambda: _embedded("embed", "features")
    yield "kernel", lambda: _embedded("kernel", "K.npy")


def _embedded(command: str, name: str) -> Any:
    import subprocess

    from rdkit import RDConfig

    lines = (Path(RDConfig.RDDataDir) / "NCI" / "first_5K.smi").read_text().splitlines()[:300]
    with tempfile.TemporaryDirectory() as folder:
        source, out = Path(folder) / "some.smi", Path(folder) / name
        source.write_text("\n".join(lines) + "\n")
        arguments = [sys.executable, "-P", "-m", "gvoys.cli", command, str(source), "-o", str(out)]
        subprocess.run(arguments, capture_output=True, check=True)
        if out.is_file():
            return np.load(out)
        import pyarrow.parquet as pq

        parts = [pq.read_table(part) for part in sorted(out.glob("*.parquet"))]
        return [np.array(part["features"].to_pylist(), np.float32) for part in parts]


def learner_cases() -> Iterator[Case]:
    """Predictions, which must stay."""
    molecules = gv.datasets.molecules(120, random_state=3)
    sizes = molecules.graph_sizes
    yield "regressor molecules", lambda: _regress(molecules, sizes.astype(float))
    for objective in ("svm", "alignment", "likelihood"):
        y = sizes.astype(float) if objective == "likelihood" else sizes > np.median(sizes)
        yield (
            f"learn_series {objective}",
            lambda o=objective, y=y: _numbers(np.array([gv.learn_series(molecules, y, o).mu])),
        )


def _regress(batch: gv.GraphBatch, y: np.ndarray) -> dict[str, Any]:
    mean, std = gv.RandomWalkRegressor(**_LINEAR).fit(batch[:80], y[:80]).predict(batch[80:], return_std=True)
    return {"means": mean.tolist(), "deviations": std.tolist()}


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
