"""RandomWalkKernel: graphs in, Gram matrix out, with an error bar on every value."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from gvoys.errors import ParameterError, UnsupportedError
from gvoys.estimators.base import WalkEstimator
from gvoys.estimators.pairs import PairSolver
from gvoys.graphs.batch import GraphBatch
from gvoys.series import Geometric, Series
from gvoys.threads import threads
from gvoys.walks.checks import check_count, check_flag, is_auto
from gvoys.walks.combined import Combined
from gvoys.walks.method import Choice, Method, check_supports, choose_method
from gvoys.walks.methods import METHODS, method_named
from gvoys.walks.profiles import Comparable
from gvoys.walks.sampled import SampledWalks
from gvoys.walks.sequences import Sequences
from gvoys.walks.sketch import N_COMPONENTS
from gvoys.walks.walk import Walk, takes_walk


class RandomWalkKernel(TransformerMixin, WalkEstimator):
    """The random walk kernel between graphs: `fit_transform` returns the Gram matrix.

    Parameters
    ----------
    series : Geometric, Exponential or Coefficients, default=Geometric("auto")
        The weights of the walk lengths; ``decay="auto"`` becomes 1 / d_max^2 of the fitted graphs.
    walk : Walk, default=Walk()
        What is counted.
    method : {"auto", "moments", "sequences", "combined", "sketch", "voyagers", "exact"}, default="auto"
        "moments" is exact and ignores labels, "sequences" is exact and sparse, "sketch" is unbiased, "combined" counts
        short label sequences and sketches longer ones, "voyagers" samples walks and is unbiased, "exact" runs a solver
        on every pair: slow, for checking. "auto" means "moments" if neither labels nor attributes are used, "sequences"
        if their estimated number fits the budget of states, "combined" if some are few, else "sketch".
    normalize : bool, default=False
        Whether to divide by sqrt(K(G, G) K(H, H)); a graph with K(G, G) = 0 has zeros. "voyagers" with it raises
        UnsupportedError.
    n_components : int, default=512
        Width of the sketch of one walk length, or number of walkers per node.
    random_state : int, RandomState or None, default=0
        Seed; with an integer the result is a pure function of the graphs and the parameters.
    n_jobs : int or None, default=None
        Number of threads, -1 for all; the result does not depend on it.
    device : {"cpu", "cuda"}, default="cpu"
        Where profiles are computed, and Gram matrices of sketches formed.
    verbose : bool, default=False
        Whether `transform` shows a progress bar.

    Attributes
    ----------
    method_ : Choice
        The method, a string with the reason for it in ``method_.reason``.
    standard_error_ : ndarray of shape (n_graphs, n_graphs)
        Standard error of the matrix that `fit_transform` returned: 0 for exact methods, nan with fewer than 256
        components. ``transform(X, return_std=True)`` returns that of its own matrix.
    series_ : Geometric, Exponential or Coefficients
        The series with its decay as a number.
    walk_ : Walk
        What was counted, with the labels that were used and the longest walk as a number.
    max_length_ : int
        The longest walk.
    profiles_ : Profiles
        Profiles of the fitted graphs.

    Notes
    -----
    With ``max_length=None`` the error is at most 1e-9 of a bound on the infinite series,
    ``sum_i mu_i (rho_G rho_H)^i |v_G| |w_G| |v_H| |w_H|``. A value far below the bound, as for walks from one end of a
    long path to the other, may come out as 0; `exact_kernel` is relative to the value itself.

    The standard error comes from the spread over groups of 128 components, widened for their small number, and is never
    below the rounding of the sketch, in float32, and of counts beside it, in float64: +-1.96 of it held 93 to 97 % of
    the exact values at 256, 512 and 1024 components (``python -m studies coverage``). Without a sketch it is 0. With
    ``normalize=True`` it accounts for the noise of the diagonal, and is 0 between a graph and itself.

    The features of "voyagers" have a biased diagonal, since both factors come from the same walks. Here every value,
    the diagonal included, is the product of two independent replicates of the walks, (X Y' + Y X') / 2: unbiased
    everywhere, but the matrix need not be positive semidefinite, and a cosine would divide by a noisy diagonal.

    Examples
    --------
    >>> import gvoys as gv
    >>> kernel = RandomWalkKernel(gv.Geometric(0.1), gv.Walk(max_length=3), normalize=True)
    >>> K = kernel.fit_transform(gv.datasets.molecules(20))
    >>> K.shape, kernel.method_.reason
    ((20, 20), 'an estimated ... label sequences fit the budget, so that exact counts are kept')
    """

    @takes_walk()
    def __init__(
        self,
        series: Series = Geometric("auto"),  # noqa: B008 (immutable)
        walk: Walk = Walk(),  # noqa: B008
        method: str = "auto",
        *,
        normalize: bool = False,
        n_components: int = N_COMPONENTS,
        random_state: Any = 0,
        n_jobs: int | None = None,
        device: str = "cpu",
        verbose: bool = False,
    ) -> None:
        self.series = series
        self.walk = walk
        self.method = method
        self.normalize = normalize
        self.n_components = n_components
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.device = device
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> RandomWalkKernel:
        """Profile the graphs that later ones are compared with.

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
        check_flag(self.normalize, "normalize")
        with threads(self.n_jobs):
            batch, walk = self.walk_.labelled_by_structure(batch)  # once, for the choice and the counts
            method, reason = self._choose_method(batch, walk)
            try:
                self.profiles_ = self._profile(method, batch, walk)
            except UnsupportedError as error:
                if self.method != "auto" or not isinstance(method, (Combined, Sequences)):
                    raise
                method, reason = self._named("sketch"), str(error)
                self.profiles_ = self._profile(method, batch, walk)
        self.walk_method_, self.method_ = method, Choice(method.name, reason)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> NDArray[np.float64]:
        """Compute the Gram matrix of the graphs.

        Parameters
        ----------
        X : GraphBatch or list of graphs
            The graphs, as `as_batch` takes them.
        y : None
            Ignored.

        Returns
        -------
        ndarray of shape (n_graphs, n_graphs)
            The kernel values.
        """
        self.fit(X)
        with threads(self.n_jobs):
            K, self.standard_error_ = self.profiles_.compare(self.series_, normalize=self.normalize)
        return K

    def transform(self, X: Any, return_std: bool = False) -> Any:
        """Compute the kernel between new graphs and the fitted ones.

        Parameters
        ----------
        X : GraphBatch or list of graphs
            The graphs, as `as_batch` takes them.
        return_std : bool, default=False
            Whether the standard error of every value is returned too.

        Returns
        -------
        ndarray of shape (n_graphs, n_fitted), or a tuple of two
            The kernel values, and their standard errors if asked for.
        """
        batch = self._read(X)
        with threads(self.n_jobs):
            new = self._profile(self.walk_method_, batch, self.walk_)
            K, error = new.compare(self.series_, self.profiles_, self.normalize, error=return_std)
        return (K, error) if return_std else K

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Name the columns by the number of the fitted graph.

        Parameters
        ----------
        input_features : None
            Ignored.

        Returns
        -------
        ndarray of str
            One name per fitted graph, "graph0" and so on.
        """
        check_is_fitted(self, "profiles_")
        return np.array([f"graph{i}" for i in range(len(self.profiles_))], dtype=object)

    def _named(self, name: str) -> Method:
        if isinstance(name, str) and name == PairSolver.name:
            return PairSolver(infinite=self.walk.max_length is None)
        if isinstance(name, str) and name == Combined.name:
            return Combined(check_count(self.n_components, "n_components"), self.seed_, self.device)
        if not isinstance(name, str) or name not in METHODS:
            names = ", ".join(map(repr, (*METHODS, Combined.name, PairSolver.name)))
            raise ParameterError(f"method must be 'auto' or one of {names}, not {name!r}")
        return method_named(name, self.n_components, self.seed_, self.device, replicates=(0, 1))

    def _choose_method(self, batch: GraphBatch, walk: Walk) -> tuple[Method, str]:
        if is_auto(self.method):
            order = [self._named(name) for name in ("moments", "sequences", "combined", "sketch")]
            method, reason = choose_method(order, walk, batch)
            check_supports(method, walk, batch)
        else:
            named, reason = self._named(self.method), "as asked"
            check_supports(named, walk, batch)
            method = named.fitted(walk, batch)
        if isinstance(method, SampledWalks):
            if self.normalize:
                raise UnsupportedError(
                    "method='voyagers' cannot use normalize=True, which would divide by a noisy diagonal; "
                    "use another method"
                )
            reason += "; every value, the diagonal included, comes from two independent replicates of the walks"
        return method, reason

    def _profile(self, method: Method, batch: GraphBatch, walk: Walk) -> Comparable:
        """Profile all graphs at once, or in blocks if there is a progress bar to show."""
        if not self._shows_progress() or not len(batch):
            return method.profile(batch, walk)
        per_graph = int(min(method.cost(walk, batch[:1]).bytes, 1e9))  # not inf, where sequences explode
        parts = [method.profile(block, part) for _, block, part in self._blocks(batch, walk, per_graph)]
        return parts[0].joined(parts[1:])
