"""Graph random features for the nodes of one graph, and kernels by walks on the product graph itself."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from gvoys._compiled.arguments import Adjacency
from gvoys._compiled.cpu.voyager_steps import backward, forward, graph_keys, signed_labels
from gvoys._compiled.cpu.voyager_visits import Deposits, Origins, draw_lengths, fill_visits
from gvoys._compiled.cpu.voyagers_cpu import drop_anchors
from gvoys.errors import DivergenceError, UnsupportedError, VarianceWarning
from gvoys.estimators.base import SLACK, TRUNCATION, TakesParts, as_seed
from gvoys.estimators.estimate import Estimate
from gvoys.exact import pose
from gvoys.exact.direct_solvers import product_graph
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.spectrum import max_degree
from gvoys.io.convert import as_one_graph
from gvoys.paper.theory import finite_variance_of_nodes
from gvoys.series import Geometric, Series, check_series
from gvoys.threads import threads
from gvoys.walks.checks import check_anchors, check_count, check_flag, check_halting, check_nodes, check_replicate
from gvoys.walks.growth import choose_scale, growth_constant, walk_rate
from gvoys.walks.profiles import check_finite, widened
from gvoys.walks.sampled import WalkConfig, compute_voyagers
from gvoys.walks.walk import Walk, takes_walk

_VISITS_AT_ONCE = 1 << 22  # nodes that walkers visit, before their deposits are added up


def compute_grf(
    graph: GraphBatch,
    deposits: NDArray[np.float64],
    config: WalkConfig,
    scale: float = 1.0,
    *,
    against: bool = False,
    antithetic: bool = False,
    nodes: NDArray[np.int64] | None = None,
) -> tuple[sp.csr_array, NDArray[np.int64]]:
    """Compute graph random features of the nodes of one graph, and the anchors that their columns stand for."""
    ahead = forward(graph, edge_labels=False)
    unsigned = signed_labels(graph, node_labels=False, edge_labels=False, signed=False)
    key = graph_keys(graph, ahead, unsigned, config.seed, config.replicate)[0]
    anchors = np.ones(graph.n_nodes, np.bool_)
    if config.n_anchors is not None:  # the same for all replicates, so that products of their features are unbiased
        drop_anchors(graph_keys(graph, ahead, unsigned, config.seed, 0)[0], 0, config.n_anchors, anchors)
    adjacency = backward(graph, ahead) if against else ahead
    factors = deposits * config.halting_factors(len(deposits)) / config.n_walks
    left = Deposits(factors, 1.0 / scale, anchors)
    nodes = np.arange(graph.n_nodes) if nodes is None else nodes
    step = max(int(_VISITS_AT_ONCE * config.p_halt / config.n_walks), 1)
    blocks = [
        _walk_from(nodes[first : first + step], key, int(against), adjacency, left, config, antithetic)
        for first in range(0, len(nodes), step)
    ]
    features = sp.csr_array(sp.vstack(blocks)) if blocks else sp.csr_array((0, graph.n_nodes))
    chosen = np.flatnonzero(anchors)
    if len(chosen) < graph.n_nodes:
        features = features[:, chosen] * np.sqrt(graph.n_nodes / len(chosen))
    return features, chosen


def _walk_from(
    nodes: NDArray[np.int64],
    key: NDArray[np.uint64],
    side: int,
    adjacency: Adjacency,
    deposits: Deposits,
    config: WalkConfig,
    antithetic: bool,
) -> sp.csr_array:
    """Compute the features of some nodes, (n, n_nodes)."""
    lengths = np.empty((len(nodes), config.n_walks), np.int64)
    draw_lengths(nodes, key, len(deposits.factors) - 1, config.p_halt, side, antithetic, lengths)
    ends = np.cumsum(lengths.sum(axis=1) + config.n_walks)
    columns, values = np.zeros(int(ends[-1]), np.int32), np.zeros(int(ends[-1]))
    fill_visits(Origins(nodes, lengths, ends), key, side, adjacency, deposits, columns, values)
    rows = sp.csr_array((values, columns, np.concatenate([[0], ends])), shape=(len(nodes), len(deposits.anchors)))
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return rows


class GraphRandomFeatures(TransformerMixin, TakesParts):
    """Sparse vectors for the nodes of one graph: ``F @ F.T`` has the mean sum_i mu_i A^i off the diagonal.

    Labels are ignored. On directed graphs, and for the diagonal, use `pair`: two independent matrices whose product
    ``C @ D.T`` has the mean sum_i mu_i A^i everywhere.

    Parameters
    ----------
    series : Geometric, Exponential or Coefficients, default=Geometric("auto")
        The weights mu_i, with a modulation f >= 0. The argument of the series is A itself, so that a geometric series
        converges if decay * rho < 1; ``decay="auto"`` means 1 / d_max^2.
    n_walks : int, default=100
        Number of walkers per node; the error falls like 1 / sqrt(n_walks).
    p_halt : float, default=0.2
        Probability that a walker halts at a step, between 0 and 1.
    n_anchors : int or None, default=None
        Number of nodes that take deposits, the width of the features; None means all of them.
    random_state : int, RandomState or None, default=0
        Seed; with an integer the result is a pure function of the graphs and the parameters.
    replicate : int, default=0
        Which independent draw of the walks to use, 0 to 255.
    n_jobs : int or None, default=None
        Number of threads, -1 for all; the result does not depend on it.
    antithetic : bool, default=False
        Whether walkers halt in pairs, of which one goes on where the other halts: often of less variance.

    Attributes
    ----------
    series_ : Geometric, Exponential or Coefficients
        The series with its decay as a number.
    max_length_ : int
        Where f was truncated, with an error of at most 1e-9.
    anchors_ : ndarray of int
        After `transform` or `pair`, the nodes that the columns stand for.

    Examples
    --------
    >>> import networkx as nx
    >>> import gvoys as gv
    >>> F = GraphRandomFeatures(gv.Geometric(0.1), n_walks=1000).fit_transform(nx.cycle_graph(6))
    >>> F.shape, round(float((F @ F.T)[0, 1]), 2)  # exactly 0.104
    ((6, 6), 0.1)
    """

    def __init__(
        self,
        series: Series = Geometric("auto"),  # noqa: B008 (immutable)
        n_walks: int = 100,
        p_halt: float = 0.2,
        n_anchors: int | None = None,
        random_state: Any = 0,
        *,
        replicate: int = 0,
        n_jobs: int | None = None,
        antithetic: bool = False,
    ) -> None:
        self.series = series
        self.n_walks = n_walks
        self.p_halt = p_halt
        self.n_anchors = n_anchors
        self.random_state = random_state
        self.replicate = replicate
        self.n_jobs = n_jobs
        self.antithetic = antithetic

    def fit(self, X: Any, y: Any = None) -> GraphRandomFeatures:
        """Resolve the series on one graph, and check that it converges there.

        Parameters
        ----------
        X : graph
            One graph of any kind that `as_batch` takes.
        y : None
            Ignored.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        graph = as_one_graph(X, "X", labels=False)
        self.series_ = check_series(self.series).resolved(lambda: max_degree(graph))
        self.scale_ = choose_scale(graph)
        self.deposits_ = modulated(self.series_, graph, self.scale_)
        self.max_length_ = len(self.deposits_) - 1
        check_flag(self.antithetic, "antithetic")
        self.config_ = WalkConfig(
            1,
            check_count(self.n_walks, "n_walks"),
            check_halting(self.p_halt),
            check_anchors(self.n_anchors),
            share_halting=False,
            seed=as_seed(self.random_state),
            replicate=check_replicate(self.replicate),
        )
        return self

    def transform(self, X: Any) -> sp.csr_array:
        """Compute the features of the nodes of one undirected graph.

        Parameters
        ----------
        X : graph
            One graph of any kind that `as_batch` takes.

        Returns
        -------
        csr_array of shape (n_nodes, n_anchors)
            The features.
        """
        graph = self._read(X)
        if graph.directed:
            raise UnsupportedError(
                "transform cannot take a directed graph, whose matrix is not symmetric; for a directed graph use pair()"
            )
        return self._features(graph, against=False)

    def pair(self, X: Any) -> tuple[sp.csr_array, sp.csr_array]:
        """Compute C and D from independent walks, along and against the edges.

        Parameters
        ----------
        X : graph
            One graph of any kind that `as_batch` takes.

        Returns
        -------
        C : csr_array of shape (n_nodes, n_anchors)
            Features of the rows.
        D : csr_array of shape (n_nodes, n_anchors)
            Features of the columns: E[C D^T] = sum_i mu_i A^i in every entry.
        """
        graph = self._read(X)
        return self._features(graph, against=False), self._features(graph, against=True)

    def columns(self, X: Any, nodes: Any) -> sp.csr_array:
        """Estimate columns of sum_i mu_i A^i by walkers that start from their nodes alone, at a cost that is theirs.

        Parameters
        ----------
        X : graph
            One graph of any kind that `as_batch` takes.
        nodes : array-like of int
            The nodes.

        Returns
        -------
        csr_array of shape (n_nodes, n_columns)
            Unbiased estimates of the columns, also on directed graphs and on the diagonal.
        """
        graph = self._read(X)
        length_of = self.series_.truncation_length
        rate = walk_rate(graph, lambda rate: length_of(rate, TRUNCATION))
        deposits = self.series_.coefficients(length_of(rate, TRUNCATION), np.sqrt(self.scale_))
        chosen = check_nodes(nodes, graph.n_nodes, repeats=True)
        config = replace(self.config_, n_anchors=None)
        with threads(self.n_jobs):
            rows, _ = compute_grf(
                graph, deposits, config, self.scale_, against=True, antithetic=self.antithetic, nodes=chosen
            )
        return sp.csr_array(rows.T)

    def _read(self, X: Any) -> GraphBatch:
        check_is_fitted(self, "config_")
        graph = as_one_graph(X, "X", labels=False)
        rate = walk_rate(graph, lambda rate: self.series_.modulation_length(rate, SLACK * TRUNCATION))
        self.series_.check_convergence(rate)
        if self.series_.modulation_length(rate, SLACK * TRUNCATION) > self.max_length_:
            raise DivergenceError(
                f"the series was truncated at length {self.max_length_}, which is too short for this graph; fit on it"
            )
        _warn(graph, self.series_, self.config_.p_halt)
        return graph

    def _features(self, graph: GraphBatch, against: bool) -> sp.csr_array:
        with threads(self.n_jobs):
            features, self.anchors_ = compute_grf(
                graph, self.deposits_, self.config_, self.scale_, against=against, antithetic=self.antithetic
            )
        check_finite(features.data)
        return features


@takes_walk()
def estimate_on_product(
    g: Any,
    h: Any,
    series: Series,
    walk: Walk = Walk(max_length=None),  # noqa: B008 (immutable)
    n_components: int = 16,
    n_walks: int = 8,
    p_halt: float = 0.2,
    *,
    n_anchors: int | None = None,
    random_state: Any = 0,
) -> Estimate:
    """Estimate K(g, h) by walks on the explicit product graph: the paper's naive GRFs, quadratic in nodes and edges.

    The estimate is (v^T C)(D^T w) with graph random features C and D of the product graph. It is there for comparison;
    `estimate` does the same in linear time.

    Parameters
    ----------
    g : graph
        One graph of any kind that `as_batch` takes.
    h : graph
        The other graph.
    series : Geometric, Exponential or Coefficients
        The weights of the walk lengths, with a modulation f >= 0.
    walk : Walk, default=Walk(max_length=None)
        What is counted, as in `exact_kernel`; a series that `max_length` truncates seldom has a modulation.
    n_components : int, default=16
        Number of independent repetitions, whose spread is the error bar.
    n_walks : int, default=8
        Number of walkers from each node of the product graph.
    p_halt : float, default=0.2
        Probability that a walker halts at a step, between 0 and 1.
    n_anchors : int or None, default=None
        Number of nodes of the product graph that take deposits; None means all of them.
    random_state : int, RandomState or None, default=0
        Seed; with an integer the result is a pure function of the graphs and the parameters.

    Returns
    -------
    Estimate
        The value with its standard error.

    Examples
    --------
    >>> import gvoys as gv
    >>> one, other = gv.datasets.molecules(2)
    >>> found = estimate_on_product(one, other, gv.Exponential(0.1))
    >>> abs(found.value - gv.exact_kernel(one, other, gv.Exponential(0.1))) < 5 * found.stderr
    True
    """
    problem = pose(g, h, series, walk)
    A, chosen = product_graph(problem)
    start, stop = (np.outer(*ends).ravel()[chosen] for ends in (problem.start, problem.stop))
    A.sort_indices()
    offsets, columns = np.array([0, A.shape[0]]), A.indices.astype(np.int32)
    product = GraphBatch._adopt(offsets, A.indptr, columns, problem.directed, edge_weights=A.data.astype(float))
    scale = choose_scale(product)
    config = WalkConfig(
        check_count(n_components, "n_components"),
        check_count(n_walks, "n_walks"),
        check_halting(p_halt),
        check_anchors(n_anchors),
        share_signs=True,
        share_halting=False,
        signs=None,
        seed=as_seed(random_state),
    )
    deposits = modulated(problem.series, product, scale)
    _warn(product, problem.series, config.p_halt)
    on_product = Walk(len(deposits) - 1, labels=None, start=start, stop=stop)
    visits = compute_voyagers(product, on_product, np.full(1, scale), config, deposits)
    values = visits[0] * np.sqrt(config.n_components)
    n = len(values)
    error = float(widened(values.std(ddof=1) / np.sqrt(n), n)) if n > 1 else np.nan
    return Estimate(float(values.mean()), error, config.n_components)


def modulated(series: Series, graph: GraphBatch, scale: float) -> NDArray[np.float64]:
    """Return factors f_l * scale^l up to where at most 1e-9 of f is left, for walks on one graph."""
    series.check_modulation()
    share = TRUNCATION / growth_constant(graph)
    rate = walk_rate(graph, lambda rate: series.modulation_length(rate, share))
    series.check_convergence(rate)
    with np.errstate(over="ignore"):
        f = series.modulation(series.modulation_length(rate, share), np.sqrt(scale))
    check_finite(f)
    return f


def _warn(graph: GraphBatch, series: Series, p_halt: float) -> None:
    if not finite_variance_of_nodes(graph, series, p_halt):
        warnings.warn(
            f"walks with p_halt={p_halt:g} are unbiased on this graph but their variance is infinite; lower p_halt or "
            "the decay",
            VarianceWarning,
            stacklevel=4,
        )
