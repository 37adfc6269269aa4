"""RandomWalkFeatures: graphs in, vectors out, whose dot products are the kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from gvoys.errors import ParameterError, UnsupportedError
from gvoys.estimators.base import WalkEstimator
from gvoys.graphs.batch import GraphBatch
from gvoys.series import Geometric, Series
from gvoys.threads import threads
from gvoys.walks.checks import check_count
from gvoys.walks.method import Choice, check, empty_for
from gvoys.walks.methods import method_of_features
from gvoys.walks.profiles import check_finite
from gvoys.walks.sequences import Sequences
from gvoys.walks.sketch import N_COMPONENTS
from gvoys.walks.sparse import MOST_COLUMNS, hash_counts
from gvoys.walks.walk import Walk, takes_walk

_COUNTS = 1 << 16  # bytes that a graph's counts take in the making, roughly


class RandomWalkFeatures(TransformerMixin, WalkEstimator):
    """Explicit features of the random walk kernel: ``X @ X.T`` is K, exactly or in expectation.

    Parameters
    ----------
    series : Geometric, Exponential or Coefficients, default=Geometric("auto")
        The weights of the walk lengths; ``decay="auto"`` becomes 1 / d_max^2 of the fitted graphs.
    walk : Walk, default=Walk()
        What is counted; features of the Weisfeiler–Lehman iterations are concatenated.
    method : {"auto", "moments", "sequences", "sketch", "voyagers"}, default="auto"
        "moments" is exact and ignores labels, "sequences" is sparse, and exact with a column for each label sequence
        of the fitted graphs, "sketch" is unbiased, "voyagers" samples walks and is unbiased off the diagonal only.
        "auto" means "moments" if neither labels nor attributes are used, else "sketch".
    lengths : {"stacked", "summed"}, default="stacked"
        "stacked" keeps a block of features for each length; "summed" adds them up into `n_components` numbers, still
        unbiased, with more variance.
    n_components : int, default=512
        Width of the sketch of one walk length.
    n_columns : int or None, default=None
        Columns of "sequences". None has one for each label sequence of the fitted graphs, and drops the others. A
        number hashes every sequence of any graph to one of so many columns, with a random sign, all lengths together:
        ``X @ X.T`` is unbiased, and exact where no two sequences share a column. Its standard error is at most
        ``sqrt(2 / n_columns)`` of ``sqrt(K(G, G) K(H, H))``.
    random_state : int, RandomState or None, default=0
        Seed; with an integer the result is a pure function of the graphs and the parameters.
    n_jobs : int or None, default=None
        Number of threads, -1 for all; the result does not depend on it.
    device : {"cpu", "cuda"}, default="cpu"
        Where profiles are computed.
    verbose : bool, default=False
        Whether `transform` shows a progress bar.

    Attributes
    ----------
    method_ : Choice
        The method, a string with the reason for it in ``method_.reason``.
    series_ : Geometric, Exponential or Coefficients
        The series with its decay as a number.
    walk_ : Walk
        What is counted, with the labels that are used and the longest walk as a number.
    max_length_ : int
        The longest walk.
    n_features_out_ : int
        Number of features of a graph.

    Notes
    -----
    With ``max_length=None`` the error is at most 1e-9 of a bound on the infinite series,
    ``sum_i mu_i (rho_G rho_H)^i |v_G| |w_G| |v_H| |w_H|``. A value far below the bound, as for walks from one end of a
    long path to the other, may come out as 0; `exact_kernel` is relative to the value itself.

    Examples
    --------
    >>> import gvoys as gv
    >>> features = RandomWalkFeatures(gv.Exponential(0.1), gv.Walk(max_length=3), n_components=128)
    >>> features.fit_transform(gv.datasets.molecules(10)).shape
    (10, 512)
    """

    @takes_walk()
    def __init__(
        self,
        series: Series = Geometric("auto"),  # noqa: B008 (immutable)
        walk: Walk = Walk(),  # noqa: B008
        method: str = "auto",
        *,
        lengths: str = "stacked",
        n_components: int = N_COMPONENTS,
        n_columns: int | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        device: str = "cpu",
        verbose: bool = False,
    ) -> None:
        self.series = series
        self.walk = walk
        self.method = method
        self.lengths = lengths
        self.n_components = n_components
        self.n_columns = n_columns
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.device = device
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> RandomWalkFeatures:
        """Choose the method and resolve the series; no graph's features depend on any other graph.

        Parameters
        ----------
        X : GraphBatch or list of graphs
            The graphs, as `as_batch` takes them.
        y : None
            Ignored.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        batch = self._fit_walk(X)
        if not isinstance(self.lengths, str) or self.lengths not in ("stacked", "summed"):
            raise ParameterError(f'lengths must be "stacked" or "summed", not {self.lengths!r}')
        self.n_columns_ = self._check_columns()
        options = self.n_components, self.seed_, self.device
        method, reason = method_of_features(self.method, self.walk_, batch, *options)
        if self.lengths == "summed":
            check(method.adds_up(self.walk_))
        self.known_ = None
        if isinstance(method, Sequences) and self.n_columns_ is None:
            with threads(self.n_jobs):
                self.known_ = method.profile(batch, self.walk_).take(slice(0, 0))  # no graphs, their columns
        self.walk_method_, self.method_, self.lengths_ = method, Choice(method.name, reason), self.lengths
        return self

    def _check_columns(self) -> int | None:
        if self.n_columns is None:
            return None
        if not isinstance(self.method, str) or self.method != Sequences.name:
            raise ParameterError(f"n_columns is for method='sequences' alone, not {self.method!r}; leave it out")
        count = check_count(self.n_columns, "n_columns")
        if count > MOST_COLUMNS:
            raise ParameterError(f"n_columns must be at most {MOST_COLUMNS}, not {count}")
        return count

    @property
    def n_features_out_(self) -> int:
        """Number of features of a graph."""
        if self.n_columns_ is not None:
            return self.n_columns_
        if self.known_ is not None:
            return sum(len(counts.keys) for blocks in self.known_.blocks for counts in blocks)
        return self._width * (1 if self.lengths_ == "summed" else self.walk_.n_lengths)

    @property
    def _width(self) -> int:
        """Features of one length."""
        return self.walk_.n_iterations * self.walk_method_.width

    def transform(self, X: Any) -> Any:
        """Compute the features of graphs.

        Parameters
        ----------
        X : GraphBatch or list of graphs
            The graphs, as `as_batch` takes them.

        Returns
        -------
        ndarray of shape (n_graphs, n_features)
            The features: float64 for "moments", float32 for "sketch" and "voyagers"; a csr_array for "sequences".
        """
        batch = self._read(X)
        with threads(self.n_jobs):
            if self.known_ is not None:
                return self.walk_method_.profile(batch, self.walk_).features_like(self.series_, self.known_)
            return self._dense(batch) if self.n_columns_ is None else self._hashed(batch)

    def _dense(self, batch: GraphBatch) -> NDArray[Any]:
        """Block by block, so that no more than the features and one block of profiles is in memory."""
        kind = self.walk_method_.feature_type
        out = empty_for(self.device, (len(batch), self.n_features_out_), kind)
        size = np.dtype(kind).itemsize * self.walk_.n_lengths * self._width
        for rows, block, walk in self._blocks(batch, self.walk_, size):
            shape = (len(block), walk.n_lengths, self._width)
            stacked = out[rows].reshape(shape) if self.lengths_ == "stacked" else np.empty(shape, kind)
            self.walk_method_.profile(block, walk, out=stacked).features(self.series_, out=stacked)
            check_finite(stacked)
            if self.lengths_ == "summed":
                out[rows] = stacked.sum(axis=1)
        return out

    def _hashed(self, batch: GraphBatch) -> sp.csr_array:
        """Block by block too; what a block has too many of, its halves may not."""
        blocks = self._blocks(batch, self.walk_, _COUNTS)
        parts = [part for rows, block, walk in blocks for part in self._hashed_parts(block, walk, rows.start)]
        empty = sp.csr_array((0, self.n_features_out_))
        return sp.csr_array(sp.vstack([empty, *parts], format="csr"))

    def _hashed_parts(self, batch: GraphBatch, walk: Walk, first: int) -> list[sp.csr_array]:
        try:
            profiles = self.walk_method_.profile(batch, walk)
        except UnsupportedError:
            if len(batch) == 1:
                raise UnsupportedError(
                    f"graph {first}: it has too many label sequences to count; use method='sketch', or shorter walks"
                ) from None
            half = len(batch) // 2
            halves = (slice(0, half), slice(half, len(batch)))
            parts = [self._hashed_parts(batch[rows], walk.within(batch, rows), first + rows.start) for rows in halves]
            return parts[0] + parts[1]
        return [hash_counts(profiles, self.series_, self.n_features_out_, self.seed_)]

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Name the features by walk length, Weisfeiler–Lehman iteration and component.

        Parameters
        ----------
        input_features : None
            Ignored.

        Returns
        -------
        ndarray of str
            One name per feature.
        """
        check_is_fitted(self, "walk_method_")
        if self.n_columns_ is not None:  # of all lengths and iterations
            return np.array([f"walks_{j}" for j in range(self.n_columns_)], dtype=object)
        lengths = ["walks"] if self.lengths_ == "summed" else [f"walk{i}" for i in range(self.walk_.n_lengths)]
        several = self.walk_.n_iterations > 1
        iterations = [f"_round{r}" if several else "" for r in range(self.walk_.n_iterations)]
        if self.known_ is not None:  # iteration after iteration, as sequences are kept
            names = [
                f"walk{i}{iterations[r]}_{key:016x}"
                for r, blocks in enumerate(self.known_.blocks)
                for i, counts in enumerate(blocks)
                for key in counts.keys.tolist()
            ]
        else:
            names = [f"{i}{r}_{j}" for i in lengths for r in iterations for j in range(self.walk_method_.width)]
        return np.array(names, dtype=object)
