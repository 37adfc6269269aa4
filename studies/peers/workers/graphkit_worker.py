"""Run by the Python that has graphkit-learn: graphs from a file, its Gram matrix and seconds into another."""

import sys

import networkx as nx
import numpy as np
from common import best_of, unlike_pairs
from gklearn.kernels import ConjugateGradient, SpectralDecomposition
from gklearn.utils.kernels import deltakernel


def main(source: str, target: str) -> None:
    task = np.load(source)
    graphs = [_graph(task, a, b) for a, b in zip(task["offsets"][:-1], task["offsets"][1:], strict=True)]
    how = {"weight": float(task["decay"]), "parallel": None, "verbose": 0, "normalize": False}
    how |= {"ds_infos": {"directed": False}, "edge_weight": None}
    if task["labelled"]:
        model = ConjugateGradient(node_labels=["label"], node_kernels={"symb": deltakernel}, **how)
    elif str(task["kind"]) == "geometric":
        model = ConjugateGradient(**how)
    else:
        model = SpectralDecomposition(sub_kernel="exp", **how)
    seconds, (K, _) = best_of(lambda: model.compute(graphs, parallel=None, n_jobs=1, verbose=0, normalize=False))
    sizes = np.diff(task["offsets"]).astype(float)
    K = np.asarray(K) * np.outer(sizes, sizes) ** 2  # its walks have mean weight one
    if task["labelled"]:  # it counts walks of length 0 between nodes of different labels too
        K = K - unlike_pairs(task)
    np.savez(target, K=K, seconds=seconds)


def _graph(task, a, b):
    edges = task["edges"][(task["edges"][:, 0] >= a) & (task["edges"][:, 0] < b)] - a
    graph = nx.Graph()
    graph.add_nodes_from((i, {"label": str(label)}) for i, label in enumerate(task["labels"][a:b].tolist()))
    graph.add_edges_from(edges[edges[:, 0] <= edges[:, 1]].tolist())
    return graph


if __name__ == "__main__":
    main(*sys.argv[1:])
