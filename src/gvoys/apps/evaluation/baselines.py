"""Baselines on the same folds: a constant, Weisfeiler–Lehman, and fingerprints of molecules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import eigh
from scipy.optimize import minimize_scalar
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from gvoys.apps.evaluation.evaluate import Method, Predict, Prediction
from gvoys.apps.evaluation.folds import fold_splits
from gvoys.estimators.kernel import RandomWalkKernel
from gvoys.estimators.learned_series import learn_series
from gvoys.graphs.batch import GraphBatch
from gvoys.kernels.gaussian import BlockGrams, maximise_likelihood
from gvoys.series import Coefficients, Geometric
from gvoys.walks.walk import Walk

GRID = {"C": 10.0 ** np.arange(-2, 5)}
EFFORT = 1_000_000  # iterations of one machine


def search_machine(
    K: NDArray[np.float64], y: NDArray[Any], cv: Any, n_jobs: int | None = None, effort: int = EFFORT
) -> GridSearchCV:
    """Train on a Gram matrix with the best C of the grid."""
    return GridSearchCV(SVC(kernel="precomputed", max_iter=effort), GRID, cv=cv, n_jobs=n_jobs).fit(K, y)


_MOST_GRAPHS = {"SVC": 10_000, "GP": 4_000}  # graphs that do not take minutes
_ITERATIONS = 4  # of Weisfeiler–Lehman, as in GraKeL
_TREES = 500

Array = NDArray[np.float64]


def baselines_for(
    batch: GraphBatch, y: NDArray[Any], classes: NDArray[Any] | None, smiles: Sequence[str] | None, n_jobs: int | None
) -> dict[str, Method]:
    """Make the baselines that suit some graphs.

    Parameters
    ----------
    batch, y, classes : object
        As in `LearnerMethod`.
    smiles : sequence of str or None
        The molecules, of which there are fingerprints too; None for other graphs.
    n_jobs : int or None
        Number of threads.

    Returns
    -------
    dict of str to Method
        The baselines by name. Those on Gram matrices are missing where there are too many graphs:
        over 10,000 for support vector machines, over 4,000 for Gaussian processes.
    """
    machine = "GP" if classes is None else "SVC"
    few = len(batch) <= _MOST_GRAPHS[machine]
    methods: dict[str, Method] = {"mean" if classes is None else "majority": Constant(y, classes)}
    if few:
        methods[f"WL + {machine}"] = GramMethod(_wl_gram(batch), y, classes)
    if smiles is None:
        return methods
    counts = ecfp4_counts(smiles)
    methods["ECFP4 + RF"] = Forest(counts, y, classes, n_jobs)
    if few:
        methods[f"Tanimoto + {machine}"] = GramMethod(tanimoto(counts), y, classes)
    return methods


@dataclass(frozen=True)
class Constant:
    """The most frequent class, or the mean."""

    y: NDArray[Any]
    classes: NDArray[Any] | None

    def fit(self, train: NDArray[np.int64]) -> Predict:
        """Count the classes, or average the numbers."""
        known = self.y[train]
        if self.classes is None:
            mean, deviation = float(known.mean()), float(known.std())
            return lambda test: Prediction(np.full(len(test), mean), None, np.full(len(test), deviation))
        shares = (known[:, None] == self.classes).mean(axis=0)
        best = self.classes[[shares.argmax()]]
        return lambda test: Prediction(np.repeat(best, len(test)), np.tile(shares, (len(test), 1)))


@dataclass(frozen=True)
class GramMethod:
    """A support vector machine, or a Gaussian process, on a Gram matrix of all graphs that no target has touched."""

    K: Array
    y: NDArray[Any]
    classes: NDArray[Any] | None

    def fit(self, train: NDArray[np.int64]) -> Predict:
        """Choose C by inner cross-validation, or amplitude and noise by marginal likelihood."""
        K, y = self.K[np.ix_(train, train)], self.y[train]
        if self.classes is None:
            process = Process.fitted(K, y)
            return lambda test: process.predict(self.K[np.ix_(test, train)], self.K[test, test])
        smallest = int(np.unique(y, return_counts=True)[1].min())
        if smallest < 2:
            machine = SVC(kernel="precomputed", max_iter=EFFORT).fit(K, y)
        else:
            machine = search_machine(K, y, StratifiedKFold(min(5, smallest), shuffle=True, random_state=0))
        return lambda test: self._predict(machine, self.K[np.ix_(test, train)])

    def _predict(self, machine: Any, K: Array) -> Prediction:
        assert self.classes is not None
        decisions = np.asarray(machine.decision_function(K))
        decisions = np.column_stack([-decisions, decisions]) if decisions.ndim == 1 else decisions
        scores = np.full((len(K), len(self.classes)), decisions.min() if len(K) else 0.0)
        scores[:, np.searchsorted(self.classes, machine.classes_)] = decisions
        return Prediction(machine.predict(K), scores)


@dataclass(frozen=True)
class Process:
    """A Gaussian process on one kernel matrix: K times an amplitude, plus noise."""

    vectors: Array  # (n, n), of K
    weights: Array  # (n,), what kernel values are multiplied by
    spread: Array  # (n,), 1 / (eigenvalue + noise)
    noise: float  # in units of the amplitude
    amplitude: float
    mean: float

    @classmethod
    def fitted(cls, K: Array, y: Array) -> Process:
        """Find the noise that maximises the marginal likelihood; the best amplitude for it is known."""
        mean = float(y.mean())
        values, vectors = eigh(K)
        values, energy = np.maximum(values, 0.0), (vectors.T @ (y - mean)) ** 2
        unit = float(values.mean()) or 1.0

        def loss(log_noise: float) -> float:
            scale = values + unit * np.exp(log_noise)
            return float(len(y) * np.log((energy / scale).mean() or 1.0) + np.log(scale).sum())

        noise = unit * float(np.exp(minimize_scalar(loss, bounds=(-12.0, 6.0), method="bounded").x))
        spread = 1.0 / (values + noise)
        weights = vectors @ (spread * (vectors.T @ (y - mean)))
        return cls(vectors, weights, spread, noise, float((energy * spread).mean()), mean)

    def predict(self, K: Array, diagonal: Array) -> Prediction:
        """Return means and deviations of new measurements."""
        variance = diagonal - ((K @ self.vectors) ** 2 @ self.spread) + self.noise
        deviation = np.sqrt(self.amplitude * np.maximum(variance, 0.0))
        return Prediction(self.mean + K @ self.weights, None, deviation)


@dataclass(frozen=True)
class Forest:
    """500 trees on counts of fragments."""

    counts: sparse.csr_array
    y: NDArray[Any]
    classes: NDArray[Any] | None
    n_jobs: int | None

    def fit(self, train: NDArray[np.int64]) -> Predict:
        """Grow the trees."""
        kind = RandomForestRegressor if self.classes is None else RandomForestClassifier
        forest = kind(_TREES, random_state=0, n_jobs=self.n_jobs or -1)
        forest.fit(self.counts[train], self.y[train])
        return lambda test: self._predict(forest, self.counts[test])

    def _predict(self, forest: Any, counts: sparse.csr_array) -> Prediction:
        if self.classes is None:
            return Prediction(forest.predict(counts))
        scores = np.zeros((counts.shape[0], len(self.classes)))
        scores[:, np.searchsorted(self.classes, forest.classes_)] = forest.predict_proba(counts)
        return Prediction(forest.predict(counts), scores)


def _wl_gram(batch: GraphBatch) -> Array:
    """Compute the Weisfeiler–Lehman subtree kernel, cosines: walks of length 0 between refined labels."""
    walk = Walk(max_length=0, refine=_ITERATIONS, start="ones", stop="ones")
    kernel = RandomWalkKernel(Coefficients([1.0]), walk, "sequences", normalize=True)
    return np.asarray(kernel.fit_transform(batch))


def ecfp4_counts(smiles: Sequence[str], n_columns: int = 2048) -> sparse.csr_array:
    """Count circular fragments of radius 2, folded to some columns."""
    from rdkit import Chem
    from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator

    count = GetMorganGenerator(radius=2, fpSize=n_columns).GetCountFingerprintAsNumPy
    rows = [sparse.csr_array(count(Chem.MolFromSmiles(text))[None].astype(np.float64)) for text in smiles]
    return sparse.vstack([sparse.csr_array((0, n_columns)), *rows], format="csr")


def tanimoto(counts: sparse.csr_array) -> Array:
    """Divide the sum of minima of counts by the sum of maxima."""
    # with a column for "at least 1", one for "at least 2" and so on, a minimum is a product
    steps = [counts >= level for level in range(1, int(counts.max()) + 1)] if counts.nnz else [counts]
    X = sparse.hstack(steps, format="csr").astype(np.float64)
    common, sizes = np.asarray((X @ X.T).todense()), np.asarray(counts.sum(axis=1)).ravel()
    union = sizes + sizes[:, None] - common
    return np.divide(common, union, out=np.ones_like(common), where=union > 0)


_SERIAL_GRAPHS = 1000  # since processes take a second to start
_LIKELIHOOD_STEPS = 100  # of an optimiser with three parameters


@dataclass
class Comparison:
    """Accuracies fold by fold, or errors where targets are numbers."""

    geometric: list[float] = field(default_factory=list)
    learned: list[float] = field(default_factory=list)
    learned_on_test: list[float] = field(default_factory=list)  # C chosen on the test fold, biased by selection


def compare_series(
    batch: GraphBatch,
    y: NDArray[Any],
    objective: str,
    n_folds: int = 10,
    seeds: tuple[int, ...] = (0,),
    progress: Callable[[list[Any]], Iterable[Any]] = iter,
    walk: Walk = Walk(),  # noqa: B008 (immutable)
) -> Comparison:
    """Score support vector machines, or Gaussian processes for "likelihood", with all from the training folds."""
    comparison, classify = Comparison(), objective != "likelihood"
    splits = [split for seed in seeds for split in fold_splits(classify, y, n_folds, seed)]
    for train, test in progress(splits):
        learned = learn_series(batch[train], y[train], objective, walk=walk)
        for series, scores in ((Geometric("auto"), comparison.geometric), (learned, comparison.learned)):
            kernel = RandomWalkKernel(series, walk)
            K = kernel.fit_transform(batch[train])
            size = float(K.diagonal().mean()) or 1.0  # so that the grid of C suits
            K, new = K / size, kernel.transform(batch[test]) / size
            scores.append((nested_score if classify else _process_error)(K, new, y[train], y[test]))
        if classify:
            machines = (SVC(kernel="precomputed", C=C, max_iter=EFFORT).fit(K, y[train]) for C in GRID["C"])
            comparison.learned_on_test.append(max(float(machine.score(new, y[test])) for machine in machines))
    return comparison


def nested_score(K: Array, new: Array, y: NDArray[Any], truth: NDArray[Any], effort: int = EFFORT) -> float:
    """Return the accuracy on new graphs of a support vector machine whose C inner cross-validation chooses."""
    n_jobs = -1 if len(y) > _SERIAL_GRAPHS else None
    return float(search_machine(K, y, 5, n_jobs, effort).score(new, truth))


def _process_error(K: Array, new: Array, y: Any, truth: Any) -> float:
    """Return the RMSE with an amplitude, a constant and noise by marginal likelihood."""
    centre, size = float(np.mean(y)), float(np.std(y)) or 1.0
    process = BlockGrams(np.array([K, np.ones(K.shape)]), (y - centre) / size)
    log_mu, log_noise, _ = maximise_likelihood(process, np.zeros(2), float(np.log(0.1)), _LIKELIHOOD_STEPS)
    weights = process.posterior(log_mu, log_noise)[1]
    mean = centre + size * ((np.exp(log_mu[0]) * new + np.exp(log_mu[1])) @ weights)
    return float(np.sqrt(np.mean((mean - truth) ** 2)))
