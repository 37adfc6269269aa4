"""Run by the Python that has GraKeL: graphs from a file, its Gram matrix and seconds into another."""

import sys

import numpy as np
from common import best_of, unlike_pairs
from grakel.kernels import RandomWalk, RandomWalkLabeled


def main(source: str, target: str) -> None:
    task = np.load(source)
    graphs = list(zip(task["offsets"][:-1], task["offsets"][1:], strict=True))
    matrices = [_matrix(task, a, b) for a, b in graphs]
    how = {"lamda": float(task["decay"]), "kernel_type": str(task["kind"]), "method_type": "fast"}
    if task["labelled"]:
        names = [dict(enumerate(task["labels"][a:b].tolist())) for a, b in graphs]
        model, data = RandomWalkLabeled(**how), [list(pair) for pair in zip(matrices, names, strict=True)]
    else:
        model, data = RandomWalk(**how), [[matrix] for matrix in matrices]
    seconds, K = best_of(lambda: model.fit_transform(data))
    if task["labelled"]:  # it counts walks of length 0 between nodes of different labels too
        K = K - unlike_pairs(task)
    np.savez(target, K=K, seconds=seconds)


def _matrix(task, a, b):
    """GraKeL walks from every node to every node, each with weight one, as asked for."""
    edges = task["edges"][(task["edges"][:, 0] >= a) & (task["edges"][:, 0] < b)] - a
    matrix = np.zeros((b - a, b - a))
    matrix[edges[:, 0], edges[:, 1]] = 1.0
    return matrix


if __name__ == "__main__":
    main(*sys.argv[1:])
