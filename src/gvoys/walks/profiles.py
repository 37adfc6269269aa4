"""Profiles: one vector per graph and walk length, whose dot products are the kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import ParameterError, UnsupportedError
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.endpoints import compute_endpoint
from gvoys.graphs.refine import refinement_rounds
from gvoys.io.convert import as_batch
from gvoys.series import Series, check_series
from gvoys.threads import threads
from gvoys.walks.device import backend
from gvoys.walks.moments import compute_moments
from gvoys.walks.sequences import Counts, compute_sequences
from gvoys.walks.settings import (
    METHODS,
    Settings,
    check_count,
    check_length,
    check_scale,
    check_settings,
    choose_labels,
)
from gvoys.walks.sketch import compute_sketch
from gvoys.walks.voyagers import WalkConfig, check_replicate, compute_walks

__all__ = [
    "check_components",
    "compute_gram",
    "moment_profiles",
    "profiles",
    "sequence_rounds",
    "sketch_profiles",
    "voyager_profiles",
]

_DENSE = 100_000_000  # numbers in a dense array of sequence counts


def profiles(
    batch: GraphBatch | Any,
    method: str = "moments",
    max_length: int = 8,
    n_components: int = 512,
    *,
    start: Any = "uniform",
    stop: Any = "uniform",
    labels: str | None = "auto",
    refine: int = 0,
    backtrack: bool = True,
    attribute_bandwidth: float | None = None,
    random_state: int = 0,
    scale: float = 1.0,
    n_jobs: int | None = None,
    replicate: int = 0,
    device: str = "cpu",
) -> NDArray[Any]:
    """Profiles H_i(G) with <H_i(G), H_i(H)> = K_i(G, H), computed graph by graph.

    The series of weights mu is not needed here; it enters when the Gram matrix is formed, see `compute_gram`.

    Parameters
    ----------
    batch : GraphBatch or list of graphs
        The graphs, as `as_batch` takes them.
    method : {"moments", "sequences", "sketch", "voyagers"}, default="moments"
        "moments" is exact, with one number per length, and ignores labels; "sequences" is exact, with one column for
        each label sequence that occurs; "sketch" is unbiased for labelled graphs and has a fixed width; "voyagers"
        samples one-sided walks and is unbiased between different graphs, but not for a graph with itself.
    max_length : int, default=8
        Longest walk that is counted, at least 0.
    n_components : int, default=512
        Width of a sketch, or number of walkers per node; the exact methods ignore it.
    start : {"uniform", "ones"} or array-like, default="uniform"
        Weight of each node as the start of a walk: 1 / n, 1, or one number per node of all graphs.
    stop : {"uniform", "ones"} or array-like, default="uniform"
        Weight of each node as the end of a walk, like `start`.
    labels : {"auto", "node", "edge", "both"} or None, default="auto"
        Labels that two walks must share; "auto" uses node labels if the graphs have them.
        "moments" ignores labels with "auto", and raises UnsupportedError with "node", "edge" or "both".
    refine : int, default=0
        Number of Weisfeiler–Lehman iterations of the labels; the profiles of the iterations 0 to `refine` are
        concatenated.
    backtrack : bool, default=True
        Whether walks may backtrack; False counts non-backtracking walks only.
    attribute_bandwidth : float or None, default=None
        Compare node attributes by ``exp(-|a - b|^2 / (2 bandwidth^2))``; None ignores them.
    random_state : int, default=0
        Seed; the result is a pure function of it, the graphs and the parameters.
    scale : float, default=1.0
        Divide adjacency matrices by this number; pass the same to `compute_gram`.
    n_jobs : int or None, default=None
        Number of threads, -1 for all; the result does not depend on it.
    replicate : int, default=0
        Which independent draw of the walks to use, 0 to 255; only for "voyagers". Products of different
        replicates are unbiased even for a graph with itself.
    device : {"cpu", "cuda"}, default="cpu"
        Where profiles are computed; "sequences" runs on the CPU only.

    Returns
    -------
    ndarray of shape (n_graphs, max_length + 1, width)
        The profiles: float32 for a sketch, else float64.

    Examples
    --------
    >>> import networkx as nx
    >>> profiles([nx.path_graph(2), nx.cycle_graph(5)], "moments", max_length=2, start="ones", stop="ones")[:, :, 0]
    array([[ 2.,  2.,  2.],
           [ 5., 10., 20.]])
    """
    if method not in METHODS:
        raise ParameterError(f"there is no method {method!r}; choose one of {', '.join(map(repr, METHODS))}")
    batch, length = as_batch(batch), check_length(max_length)
    if method == "moments" and labels == "auto":
        labels = None
    node, edge = choose_labels(batch, labels)
    settings = Settings(start, stop, node, edge, refine, backtrack, attribute_bandwidth, random_state, scale, device)
    check_settings(batch, settings)
    with threads(n_jobs):
        if method == "moments":
            return moment_profiles(batch, length, settings)
        if method == "sketch":
            return sketch_profiles(batch, length, check_components(n_components, settings), settings)
        if method == "voyagers":
            return voyager_profiles(batch, length, check_components(n_components, settings), settings, replicate)
        return _dense(sequence_rounds(batch, length, settings), len(batch))


def moment_profiles(batch: GraphBatch, max_length: int, settings: Settings) -> NDArray[np.float64]:
    """Walk moments.

    Parameters
    ----------
    batch : GraphBatch
        The graphs.
    max_length : int
        Longest walk.
    settings : Settings
        How graphs are walked.

    Returns
    -------
    ndarray of shape (n_graphs, max_length + 1, 1)
        The moments.
    """
    if not settings.plain:
        raise UnsupportedError(
            "method 'moments' cannot use labels, node attributes, refine or backtrack=False; "
            "use method='sequences' or 'sketch'"
        )
    gpu = backend(settings.device)
    return compute_moments(
        batch, max_length, settings.start, settings.stop, settings.scale, gpu and gpu.compute_moments
    )


def sketch_profiles(
    batch: GraphBatch,
    max_length: int,
    n_components: int,
    settings: Settings,
    first_group: int = 0,
    out: NDArray[np.float32] | None = None,
) -> NDArray[np.float32]:
    """Sketched profiles.

    Parameters
    ----------
    batch : GraphBatch
        The graphs.
    max_length : int
        Longest walk.
    n_components : int
        Width of the sketch of one iteration.
    settings : Settings
        How graphs are walked.
    first_group : int, default=0
        Number of the first group of 128 components.
    out : ndarray or None, default=None
        Array to write to.

    Returns
    -------
    ndarray of shape (n_graphs, max_length + 1, (refine + 1) * n_components)
        The sketch.
    """
    gpu = backend(settings.device)
    if out is None and gpu is not None:
        out = gpu.empty_on_host((len(batch), max_length + 1, (settings.refine + 1) * n_components), np.float32)
    return compute_sketch(
        batch,
        max_length,
        n_components,
        start=settings.start,
        stop=settings.stop,
        node_labels=settings.node_labels,
        edge_labels=settings.edge_labels,
        refine=settings.refine,
        backtrack=settings.backtrack,
        attribute_bandwidth=settings.attribute_bandwidth,
        seed=settings.seed,
        first_group=first_group,
        scale=settings.scale,
        out=out,
        make=gpu and gpu.GpuSketch,
    )


def voyager_profiles(
    batch: GraphBatch, max_length: int, n_components: int, settings: Settings, replicate: int = 0
) -> NDArray[np.float64]:
    """Profiles by one-sided walks of fixed length, one walker per node and component.

    Parameters
    ----------
    batch : GraphBatch
        The graphs.
    max_length : int
        Longest walk.
    n_components : int
        Number of walkers per node.
    settings : Settings
        How graphs are walked.
    replicate : int, default=0
        Which independent draw of the walks to use, 0 to 255.

    Returns
    -------
    ndarray of shape (n_graphs, max_length + 1, n_components)
        The profiles.
    """
    settings.check_sampled()
    gpu = backend(settings.device)
    out = (compute_walks if gpu is None else gpu.compute_walks)(
        batch,
        max_length,
        WalkConfig(n_components, p_halt=0.0, seed=settings.seed, replicate=check_replicate(replicate)),
        compute_endpoint(batch, settings.start, "start"),
        compute_endpoint(batch, settings.stop, "stop"),
        node_labels=settings.node_labels,
        edge_labels=settings.edge_labels,
        scale=settings.scale,
    )
    bad = ~np.isfinite(out).all(axis=(1, 2))
    if bad.any():
        raise ParameterError(
            f"graph {int(np.argmax(bad))}: its walks of length {max_length} leave the range of float64; pass "
            "scale=2**k near its spectral radius, and the same scale to compute_gram"
        )
    return out


def sequence_rounds(batch: GraphBatch, max_length: int, settings: Settings, **how: Any) -> list[list[Counts]]:
    """Count label sequences for each Weisfeiler–Lehman iteration and each length.

    Parameters
    ----------
    batch : GraphBatch
        The graphs.
    max_length : int
        Longest walk.
    settings : Settings
        How graphs are walked.
    **how : dict
        Further arguments of `compute_sequences`.

    Returns
    -------
    list of list of Counts
        Counts of each iteration and length.
    """
    if settings.device != "cpu":
        raise UnsupportedError("method 'sequences' cannot run on a GPU; use device='cpu' or method='sketch'")
    if settings.attribute_bandwidth is not None:
        raise UnsupportedError("method 'sequences' cannot use node attributes; use method='sketch'")
    rounds = []
    for round_, labelled in enumerate(
        refinement_rounds(batch, settings.refine, settings.node_labels, settings.edge_labels)
    ):
        rounds.append(
            compute_sequences(
                labelled,
                max_length,
                start=settings.start,
                stop=settings.stop,
                node_labels=settings.node_labels or round_ > 0,
                edge_labels=settings.edge_labels,
                backtrack=settings.backtrack,
                scale=settings.scale,
                **how,
            )
        )
    return rounds


def check_components(n_components: Any, settings: Settings) -> int:
    """Check the width of a sketch, which must be even with attributes, whose coordinates are complex."""
    count = check_count(n_components, "n_components")
    if settings.attribute_bandwidth is not None and count % 2:
        raise ParameterError(f"n_components must be even with attribute_bandwidth, not {count}")
    return count


def _dense(rounds: list[list[Counts]], n_graphs: int) -> NDArray[np.float64]:
    columns = [[np.unique(counts.keys, return_inverse=True) for counts in lengths] for lengths in rounds]
    widths = [max(len(keys) for keys, _ in lengths) for lengths in columns]
    size = n_graphs * len(rounds[0]) * sum(widths)
    if size > _DENSE:
        raise UnsupportedError(
            f"a dense array of these sequence counts has {size:.2g} numbers; use RandomWalkKernel(method='sequences'), "
            "which keeps them sparse, or method='sketch'"
        )
    out = np.zeros((n_graphs, len(rounds[0]), sum(widths)))
    for round_, lengths in enumerate(rounds):
        for i, counts in enumerate(lengths):
            out[counts.graphs, i, sum(widths[:round_]) + columns[round_][i][1]] = counts.values
    return out


def compute_gram(
    left: NDArray[Any], series: Series, right: NDArray[Any] | None = None, scale: float = 1.0
) -> NDArray[np.float64]:
    """Form the Gram matrix K = sum_i mu_i <H_i, H'_i> of all pairs of profiles.

    Parameters
    ----------
    left : array-like of shape (n_left, max_length + 1, width)
        Profiles, as `profiles` returns them.
    series : Geometric, Exponential or Coefficients
        The weights mu_i of the walk lengths.
    right : array-like of shape (n_right, max_length + 1, width) or None, default=None
        Profiles to compare with; None means `left`.
    scale : float, default=1.0
        The `scale` that was passed to `profiles`.

    Returns
    -------
    ndarray of shape (n_left, n_right)
        The kernel values.

    Examples
    --------
    >>> import networkx as nx
    >>> from gvoys import Geometric
    >>> compute_gram(profiles([nx.path_graph(2)], max_length=3, start="ones", stop="ones"), Geometric(0.5))
    array([[7.5]])
    """
    left = np.asarray(left)
    right = None if right is None else np.asarray(right)
    check_series(series)
    if left.ndim != 3 or (right is not None and right.shape[1:] != left.shape[1:]):
        shapes = left.shape if right is None else f"{left.shape} and {right.shape}"
        raise ParameterError(
            f"profiles have the shape (n_graphs, max_length + 1, width) and agree in the last two, not {shapes}"
        )
    check_scale(scale)
    with np.errstate(over="ignore"):
        mu = series.coefficients(left.shape[1] - 1, scale)
    if not np.isfinite(mu).all():
        raise ParameterError("the series exceeds the range of float64 at this length and scale; lower the decay")
    root = np.sqrt(mu)[:, None]  # on both sides, so that a Gram matrix comes out symmetric to the bit
    ours = (left * root).reshape(len(left), -1).astype(np.float64, copy=False)
    theirs = ours if right is None else (right * root).reshape(len(right), -1).astype(np.float64, copy=False)
    K = ours @ theirs.T
    if not np.isfinite(K).all():
        raise ParameterError("the kernel exceeds the range of float64; lower the decay, or pass the profiles' scale")
    return K
