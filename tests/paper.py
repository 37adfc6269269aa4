"""Algorithm 1 in plain NumPy, right by default and wrong on request: each trap of the paper may be put back.

Many runs are made at once: every array has the runs as its first axis. Graphs are `DenseGraph`s.
"""

from dataclasses import dataclass, replace

import numpy as np

from gvoys.reference import kernel_by_vec_trick

TRAPS = (
    "stop outside the anchors",
    "anchors of C and D differ",
    "C and D share g and z",
    "C and D share g, z and walks",
    "C and D share coins",
    "norm of the other mode",
    "coins of walkers differ",
    "weight of the other halting",
    "z without the step",
    "D along the edges",
    "walks repeat on each graph",
    "isolated nodes left out",
)


@dataclass(frozen=True)
class Plan:
    """What is run: f (any sign; its square root is then complex), m walkers, and the modes."""

    f: tuple
    m: int = 1
    p_halt: float = 0.5
    n_anchors: int | None = None
    share_signs: bool = False
    share_halting: bool = True

    @property
    def mu(self):
        return np.convolve(self.f, self.f)


def products(g, h, plan, n_runs, seed=0, trap=None):
    """The estimate of K(g, h) in each of `n_runs` independent runs."""
    assert trap is None or trap in TRAPS
    rng = np.random.default_rng(seed)
    shared = [_shared(rng, g, h, plan, n_runs, trap) for _ in "CD"]
    if trap in ("C and D share g and z", "C and D share g, z and walks"):
        shared[1] = replace(shared[1], g=shared[0].g, z=shared[0].z)
    if trap in ("C and D share coins", "C and D share g, z and walks"):
        shared[1] = replace(shared[1], lengths=shared[0].lengths)
    walks = int(rng.integers(2**60))
    value = np.ones(n_runs, complex)
    for which, graph in enumerate((g, h)):
        own = np.random.default_rng([walks, 0 if trap == "walks repeat on each graph" else which])
        value *= _feature(own, graph, plan, shared, n_runs, trap)
    return value.real  # the imaginary part has mean zero: it comes from pairs of unequal lengths only


@dataclass(frozen=True)
class Shared:
    """What graphs share on one side."""

    g: np.ndarray  # (n_runs, m, n_lengths)
    z: dict  # label -> (n_runs, m, n_lengths)
    lengths: np.ndarray  # (n_runs, m)


def _shared(rng, g, h, plan, n_runs, trap):
    n_lengths, one = len(plan.f), plan.share_signs

    def signs():
        drawn = rng.choice([-1.0, 1.0], (n_runs, 1 if one else plan.m, n_lengths))
        return np.broadcast_to(drawn, (n_runs, plan.m, n_lengths))

    labels = sorted({label for graph in (g, h) for label in graph.node_labels or []})
    z = {label: signs() for label in labels}
    if trap == "z without the step":
        z = {label: np.broadcast_to(values[:, :, :1], values.shape) for label, values in z.items()}
    together = one and trap != "coins of walkers differ"
    lengths = np.broadcast_to(rng.geometric(plan.p_halt, (n_runs, 1 if together else plan.m)) - 1, (n_runs, plan.m))
    return Shared(signs(), z, lengths)


def _feature(rng, graph, plan, shared, n_runs, trap):
    """(v^T C)(D^T w) of one graph in each run."""
    n = len(graph.A)
    anchors = [_anchors(rng, n, plan.n_anchors, n_runs)] * 2
    if trap == "anchors of C and D differ":
        anchors[1] = _anchors(rng, n, plan.n_anchors, n_runs)
    turned = graph.A if trap == "D along the edges" else graph.A.T
    both = rng.integers(2**60)
    seeds = [both, both if trap == "C and D share g, z and walks" else rng.integers(2**60)]
    met = [
        _side(np.random.default_rng(seeds[side]), A, ends, graph, plan, shared[side], anchors[side], trap)
        for side, (A, ends) in enumerate(((graph.A, graph.start), (turned, graph.stop)))
    ]
    wrong = trap == "norm of the other mode"
    norm = plan.m if plan.share_signs != wrong else np.sqrt(plan.m)
    scale = n / plan.n_anchors if plan.n_anchors else 1.0
    return scale * (met[0] * met[1]).sum(axis=1) / norm**2


def _anchors(rng, n, n_anchors, n_runs):
    if n_anchors is None:
        return np.ones((n_runs, n), bool)
    return rng.random((n_runs, n)).argsort(axis=1) < n_anchors


def _side(rng, A, ends, graph, plan, shared, anchors, trap):
    """v^T C (or D^T w): deposits of all walkers by node, (n_runs, n)."""
    n_runs, n = anchors.shape
    runs = np.arange(n_runs)
    root = np.sqrt(np.array(plan.f, complex))
    degrees = np.count_nonzero(A, axis=1)
    neighbours = [np.flatnonzero(row) for row in A]
    table = np.array([np.resize(row if row.size else [0], n) for row in neighbours])
    wrong = trap == "weight of the other halting"
    step_weight = (1 - plan.p_halt) ** (-0.5 if plan.share_halting != wrong else -1.0)
    met = np.zeros((n_runs, n), complex)
    for w in range(plan.m):
        for u in range(n):
            lengths = shared.lengths[:, w] if plan.share_halting else rng.geometric(plan.p_halt, n_runs) - 1
            c, load = np.full(n_runs, u), np.full(n_runs, ends[u])
            alive = np.full(n_runs, not (trap == "isolated nodes left out" and degrees[u] == 0))
            for length in range(len(plan.f)):
                if graph.node_labels is not None:
                    load = load * _z(shared, graph, c, length, w)
                here = anchors[runs, c]
                if trap == "stop outside the anchors":
                    alive &= here
                met[runs, c] += alive * here * load * shared.g[:, w, length] * root[length]
                alive &= (length < lengths) & (degrees[c] > 0)
                x = table[c, (rng.random(n_runs) * np.maximum(degrees[c], 1)).astype(int)]
                load = load * degrees[c] * A[c, x] * step_weight
                c = x
    return met


def _z(shared, graph, c, length, w):
    choices = np.array([shared.z[label][:, w, length] for label in graph.node_labels])  # (n, n_runs)
    return choices[c, np.arange(len(c))]


def truth(g, h, plan):
    """K(g, h) for mu = f * f."""
    return float(plan.mu @ kernel_by_vec_trick(g, h, len(plan.mu) - 1))


def z_score(values, expected):
    """How many standard errors the mean is off."""
    return (values.mean() - expected) / (values.std(ddof=1) / np.sqrt(len(values)))
