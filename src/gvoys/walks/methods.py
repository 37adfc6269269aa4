"""The methods by name, and profiles as one array: the layer below the estimators."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import ParameterError, UnsupportedError
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.check import as_array
from gvoys.io.convert import as_batch
from gvoys.series import Series, check_series
from gvoys.threads import threads
from gvoys.walks.checks import check_count, check_length, check_replicate, check_scale, check_seed, is_auto
from gvoys.walks.dense import DenseProfiles
from gvoys.walks.method import Cost, Support, WalkMethod, backend, check_supports, choose_method
from gvoys.walks.sampled import SampledWalks
from gvoys.walks.sequences import Sequences
from gvoys.walks.sketch import N_COMPONENTS, Sketch
from gvoys.walks.sparse import Counts
from gvoys.walks.walk import Walk, check_walk, takes_walk

_LARGEST_DENSE = 100_000_000  # numbers in a dense array of sequence counts


@dataclass(frozen=True)
class Moments(WalkMethod):
    """Exact profiles without labels: one number per walk length."""

    name: ClassVar[str] = "moments"
    device: str = "cpu"

    @property
    def width(self) -> int:
        return 1

    def resolve(self, walk: Walk, batch: GraphBatch) -> Walk:
        """Ignore labels that nobody asked for."""
        return (replace(walk, labels=None) if is_auto(walk.labels) else walk).on(batch)

    def supports(self, walk: Walk, batch: GraphBatch) -> Support:
        if self.resolve(walk, batch).plain:
            return Support(True, "no labels or attributes are used, so that one number per length is exact")
        return Support(
            False,
            "method 'moments' cannot use labels, attributes, refine or backtrack=False; "
            "use method='sequences' or 'sketch'",
        )

    def cost(self, walk: Walk, batch: GraphBatch) -> Cost:
        return Cost(walk.longest * float(batch.n_entries), 8.0 * len(batch) * walk.n_lengths)

    def _collect(self, made: Any, exponents: NDArray[np.int64], batch: GraphBatch, walk: Walk) -> DenseProfiles:
        return DenseProfiles(made, exponents)

    def _compute(self, batch: GraphBatch, walk: Walk, scales: NDArray[np.float64], out: NDArray[Any] | None) -> Any:
        v, w = walk.ends(batch)
        out = backend(self.device).moments(batch, walk.longest, v, w, scales)
        bad = ~np.isfinite(out)
        if bad.any():
            graph, length = (int(index[0]) for index in np.nonzero(bad))
            raise ParameterError(
                f"graph {graph}: its walks of length {length} are too many for float64; "
                "pass scale=2**k near its maximum degree, and the same scale to compute_gram"
            )
        return out[:, :, None]


METHODS = tuple(kind.name for kind in (Moments, Sequences, Sketch, SampledWalks))


def method_named(
    name: Any,
    n_components: int = N_COMPONENTS,
    seed: int = 0,
    device: str = "cpu",
    replicates: tuple[int, ...] = (0,),
) -> WalkMethod:
    """Make a method of its name, with the parameters that it has."""
    count, seed = check_count(n_components, "n_components"), check_seed(seed)
    methods = (
        Moments(device),
        Sequences(device),
        Sketch(count, seed, device),
        SampledWalks(count, seed, device, replicates),
    )
    for method in methods:
        if isinstance(name, str) and method.name == name:
            return method
    raise ParameterError(f"method must be 'auto' or one of {', '.join(map(repr, METHODS))}, not {name!r}")


def resolve_walk(walk: Walk, name: Any, batch: GraphBatch) -> Walk:
    """Check a walk, and choose the labels that the method of this name uses."""
    return Moments().resolve(walk, batch) if isinstance(name, str) and name == Moments.name else walk.on(batch)


def method_of_features(name: Any, walk: Walk, batch: GraphBatch, *options: Any) -> tuple[WalkMethod, str]:
    """Return the method of features, and the reason for it; the options are those of `method_named`."""
    if not is_auto(name):
        method, reason = method_named(name, *options), "as asked"
    else:
        method, reason = choose_method([method_named(item, *options) for item in ("moments", "sketch")], walk, batch)
        if isinstance(method, Sketch):
            reason = "labels are used, and a sketch's width does not depend on the graphs"
    check_supports(method, walk, batch)
    return method, reason


@takes_walk()
def profiles(
    batch: GraphBatch | Any,
    walk: Walk = Walk(),  # noqa: B008 (immutable)
    method: str = "auto",
    n_components: int = N_COMPONENTS,
    *,
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
    walk : Walk, default=Walk()
        What is counted; `max_length` is a number here.
    method : {"auto", "moments", "sequences", "sketch", "voyagers"}, default="auto"
        "moments" is exact, with one number per length, and ignores labels unless the walk names them; "sequences" is
        exact, with one column for each label sequence that occurs; "sketch" is unbiased for labelled graphs and has a
        fixed width; "voyagers" samples one-sided walks and is unbiased between different graphs, but not for a graph
        with itself. "auto" means "moments" if neither labels nor attributes are used, else "sketch".
    n_components : int, default=512
        Width of a sketch, or number of walkers per node; the exact methods ignore it.
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
    >>> import gvoys as gv
    >>> walk = gv.Walk(max_length=2, start="ones", stop="ones")
    >>> profiles([nx.path_graph(2), nx.cycle_graph(5)], walk)[:, :, 0]
    array([[ 2.,  2.,  2.],
           [ 5., 10., 20.]])
    """
    batch = as_batch(batch)
    walk = resolve_walk(check_walk(walk), method, batch)
    check_length(walk.max_length)
    replicates = (check_replicate(replicate),)
    chosen, _ = method_of_features(method, walk, batch, n_components, random_state, device, replicates)
    with threads(n_jobs):
        made = chosen.compute(batch, walk, np.full(len(batch), check_scale(scale)))
    return _as_dense(made, len(batch)) if isinstance(made, list) else np.asarray(made)


def _as_dense(iterations: list[list[Counts]], n_graphs: int) -> NDArray[np.float64]:
    widths = [max(len(counts.keys) for counts in lengths) for lengths in iterations]
    size = n_graphs * len(iterations[0]) * sum(widths)
    if size > _LARGEST_DENSE:
        raise UnsupportedError(
            f"a dense array of these sequence counts has {size:.2g} numbers; use RandomWalkKernel(method='sequences'), "
            "which keeps them sparse, or method='sketch'"
        )
    out = np.zeros((n_graphs, len(iterations[0]), sum(widths)))
    for iteration, lengths in enumerate(iterations):
        for i, counts in enumerate(lengths):
            first = sum(widths[:iteration])
            out[:, i, first : first + len(counts.keys)] = counts.matrix.toarray()
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
    >>> import gvoys as gv
    >>> H = profiles([nx.path_graph(2)], gv.Walk(max_length=3, start="ones", stop="ones"))
    >>> compute_gram(H, gv.Geometric(0.5))
    array([[7.5]])
    """
    left = as_array(left)
    right = None if right is None else as_array(right)
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
    left_rows = (left * root).reshape(len(left), -1).astype(np.float64, copy=False)
    right_rows = left_rows if right is None else (right * root).reshape(len(right), -1).astype(np.float64, copy=False)
    K = left_rows @ right_rows.T
    if not np.isfinite(K).all():
        raise ParameterError("the kernel exceeds the range of float64; lower the decay, or pass the profiles' scale")
    return K
