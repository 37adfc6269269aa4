"""Gaussian processes on nodes by dense linear algebra, from the definitions alone."""

import networkx as nx
import numpy as np
from scipy.linalg import expm


def symmetric(A):
    """D^-1/2 A D^-1/2; nodes without edges have a loop."""
    A = A + np.diag((A.sum(axis=1) == 0).astype(float))
    d = A.sum(axis=1)
    return A / np.sqrt(np.outer(d, d))


def term(name, S):
    """A kernel of the mixture by its name."""
    eye = np.eye(len(S))
    if name == "unlike neighbours":
        return expm(-2.0 * (eye + S))
    return expm(-float(name.split()[1]) * (eye - S))


def covariance(model, A):
    """Of the functions of all nodes, as the model's weights have it."""
    S = symmetric(A)
    return sum(weight * term(name, S) for name, weight in zip(model.terms_, model.weights_, strict=True))


def posterior(K, noise, seen, y):
    """Mean and covariance of all nodes, with an unknown constant mean (universal kriging)."""
    C = K[np.ix_(seen, seen)] + noise**2 * np.eye(len(seen))
    inverse = np.linalg.inv(C)
    ones = np.ones(len(seen))
    precision = ones @ inverse @ ones
    mean = ones @ inverse @ y / precision
    across = K[:, seen]
    rest = 1.0 - across @ inverse @ ones
    return (
        mean + across @ inverse @ (y - mean),
        K - across @ inverse @ across.T + np.outer(rest, rest) / precision,
        mean,
    )


def log_likelihood(C, y):
    sign, log_determinant = np.linalg.slogdet(C)
    assert sign > 0
    return -0.5 * y @ np.linalg.solve(C, y) - 0.5 * log_determinant - 0.5 * len(y) * np.log(2 * np.pi)


def grid(n):
    return nx.convert_node_labels_to_integers(nx.grid_2d_graph(n, n))


def graphs(n=400):
    """Kinds of graphs of about n nodes."""
    side = int(n**0.5)
    yield "grid", grid(side)
    geometric = nx.random_geometric_graph(n, (10 / np.pi / n) ** 0.5, seed=1)
    yield "random geometric", nx.convert_node_labels_to_integers(geometric)
    yield "scale-free", nx.barabasi_albert_graph(n, 5, seed=1)
    weighted = nx.gnp_random_graph(n, 3 / n, seed=1)
    rng = np.random.default_rng(1)
    nx.set_edge_attributes(weighted, {e: float(rng.uniform(0.1, 3)) for e in weighted.edges}, "weight")
    yield "weighted, with isolated nodes", weighted


def drawn(A, time, rng, noise=0.3):
    """A function of unit variance from a diffusion prior, and noisy measurements of it."""
    values, vectors = np.linalg.eigh(symmetric(A))
    K = (vectors * np.exp(time * (values - 1))) @ vectors.T
    K /= K.diagonal().mean()
    f = np.linalg.cholesky(K + 1e-8 * np.eye(len(K))) @ rng.normal(size=len(K))
    return f, f + noise * rng.normal(size=len(f))
