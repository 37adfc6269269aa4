"""learn_series: the coefficients mu of a walk kernel from data, four ways, without walking twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls
from sklearn.svm import SVC

from gvoys.errors import ParameterError
from gvoys.graphs.check import as_array
from gvoys.io.convert import as_batch
from gvoys.kernels.blocks import WalkBlocks, walks_on
from gvoys.kernels.gaussian import BlockGrams, maximise_likelihood
from gvoys.series import Coefficients
from gvoys.walks.checks import check_count
from gvoys.walks.walk import Walk, check_walk, takes_walk


class LearnedSeries(Coefficients):
    """Coefficients that were learned: use them wherever a series goes."""

    objective: str  # what they were learned for
    curve: tuple[float, ...]  # the objective after every step
    shares: tuple[Any, ...]

    def __init__(self, mu: Any, objective: str = "", curve: Any = (), shares: Any = ()) -> None:
        super().__init__(mu)
        for name, value in (
            ("objective", objective),
            ("curve", tuple(map(float, curve))),
            ("shares", _tuples(shares)),
        ):
            object.__setattr__(self, name, value)


@takes_walk()
def learn_series(
    X: Any,
    y: Any,
    objective: str = "alignment",
    *,
    walk: Walk = Walk(),  # noqa: B008 (immutable)
    C: float = 1.0,
    max_iterations: int = 200,
    n_jobs: int | None = None,
) -> LearnedSeries:
    """Learn mu_0 … mu_max_length >= 0 for the walk kernel of these graphs and targets.

    Kernels of single lengths are computed once, exactly, and scaled to unit mean diagonal; every objective is a
    function of their weights.

    Parameters
    ----------
    X : list of graphs or GraphBatch
        Anything that `as_batch` takes.
    y : array-like of shape (n_graphs,)
        Classes, or real targets for "likelihood".
    objective : {"alignment", "svm", "layer", "likelihood"}, default="alignment"
        "alignment": the distance of the centred kernel to that of equal classes, by non-negative least squares. "svm":
        the dual of a support vector machine, minimised over the weights on the simplex to a duality gap of 0.1 % (as
        SimpleMKL does). "layer": the cross-entropy of a linear layer on the features, by Adam. "likelihood": the
        marginal likelihood of a Gaussian process.
    walk : Walk, default=Walk()
        What is counted; there is a coefficient for each length, and each Weisfeiler–Lehman iteration has its own. The
        series is for estimators with the same walk. ``labels="auto"`` uses all labels that there are.
    C : float, default=1.0
        Penalty of the support vector machine.
    max_iterations : int, default=200
        Steps at most; the layer takes them all.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.

    Returns
    -------
    LearnedSeries
        Coefficients with `curve` and `shares`.

    Examples
    --------
    >>> import gvoys as gv
    >>> molecules = gv.datasets.molecules(60)
    >>> series = learn_series(molecules, molecules.graph_sizes > 25, walk=gv.Walk(max_length=3))
    >>> len(series.mu), round(sum(series.shares), 6)
    (4, 1.0)
    """
    if not isinstance(objective, str) or objective not in OBJECTIVES:
        raise ParameterError(f"there is no objective {objective!r}; choose among {', '.join(map(repr, OBJECTIVES))}")
    batch = as_batch(X)
    targets = as_array(y)
    if targets.shape != (len(batch),):
        raise ParameterError(f"y must hold one target for each of the {len(batch)} graphs, not shape {targets.shape}")
    walks = walks_on(batch, check_walk(walk), refine=0)
    blocks, made = WalkBlocks.fitted(batch, walks, n_jobs=n_jobs)
    grams = blocks.grams(made)[:-1]  # all but the constant
    steps = check_count(max_iterations, "max_iterations")
    weights, curve = OBJECTIVES[objective](grams, _codes(targets, objective), C, steps)
    if not weights.sum() > 0:
        raise ParameterError(f"objective {objective!r} found no walks that help; try another, or longer walks")
    shape = (walks[0].n_iterations, walks[0].n_lengths) if walks[0].refine else (walks[0].n_lengths,)
    mu = (weights / blocks.traces).reshape(shape)
    return LearnedSeries(mu, objective, curve, (weights / weights.sum()).reshape(shape))


def _tuples(values: Any) -> tuple[Any, ...]:
    return tuple(_tuples(value) if np.ndim(value) else float(value) for value in values)


def _codes(targets: NDArray[Any], objective: str) -> NDArray[Any]:
    if objective == "likelihood":
        values = targets.astype(np.float64)
        if not np.isfinite(values).all():
            raise ParameterError("the likelihood needs finite real targets")
        return (values - values.mean()) / (values.std() or 1.0)
    classes, codes = np.unique(targets, return_inverse=True)
    if len(classes) < 2:
        raise ParameterError(f"all graphs are of one class, {classes.tolist()}; two are needed")
    return np.eye(len(classes))[codes]


# -- the objectives: (grams, one-hot classes or targets, C, steps) -> weights, curve


def _by_svm(grams: NDArray[np.float64], classes: NDArray[Any], C: float, steps: int) -> Any:
    """Projected gradient on the simplex; the dual's optimum is convex in the weights, its gradient -a^T K_i a / 2."""
    signs = [2.0 * column - 1.0 for column in classes.T[1 if classes.shape[1] == 2 else 0 :]]

    def dual(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        K = np.tensordot(weights, grams, axes=1)
        value, quadratic = 0.0, np.zeros(len(grams))
        for y in signs:
            machine = SVC(kernel="precomputed", C=C, tol=1e-5).fit(K, y)
            a, support = machine.dual_coef_[0], machine.support_
            forms = np.array([a @ gram[np.ix_(support, support)] @ a for gram in grams])
            value += float(np.abs(a).sum() - 0.5 * weights @ forms)
            quadratic += 0.5 * forms
        return value, quadratic

    weights = np.full(len(grams), 1.0 / len(grams))
    value, quadratic = dual(weights)
    curve, step = [value], 1.0 / max(quadratic.max(), 1e-12)
    for _ in range(steps):
        gap = quadratic.max() - weights @ quadratic  # of the problem without the simplex written out
        if gap <= 1e-3 * abs(value):
            break
        while True:
            trial = _simplex(weights + step * quadratic)
            new_value, new_quadratic = dual(trial)
            if new_value <= value - 1e-4 * quadratic @ (trial - weights) or step < 1e-12:
                break
            step *= 0.5
        if new_value >= value:
            break
        weights, value, quadratic, step = trial, new_value, new_quadratic, 2.0 * step
        curve.append(value)
    return weights, curve


def _simplex(point: NDArray[np.float64]) -> NDArray[np.float64]:
    """The nearest point with weights >= 0 that sum to one."""
    ordered = np.sort(point)[::-1]
    excess = (np.cumsum(ordered) - 1.0) / np.arange(1, len(point) + 1)
    return np.maximum(point - excess[np.flatnonzero(ordered > excess)[-1]], 0.0)


def _by_layer(grams: NDArray[np.float64], classes: NDArray[Any], C: float, steps: int) -> Any:
    """logits = sum_i sqrt(weight_i) F_i W_i + b, all learned together by Adam with weight decay 1 / (C n).

    F_i F_i^T = K_i: eigenvectors serve as features, so that any kernel has them.
    """
    n = len(classes)
    features = [_root(gram) for gram in grams]
    parameters = [np.zeros(len(grams)), np.zeros(classes.shape[1])]
    parameters += [np.zeros((F.shape[1], classes.shape[1])) for F in features]
    moments = [(np.zeros_like(p), np.zeros_like(p)) for p in parameters]
    curve = []
    for step in range(1, steps + 1):
        root = np.exp(0.5 * parameters[0])
        parts = [F @ W for F, W in zip(features, parameters[2:], strict=True)]
        logits = parameters[1] + sum(r * part for r, part in zip(root, parts, strict=True))
        logits = logits - logits.max(axis=1, keepdims=True)
        chances = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        decay = 1.0 / (C * n)
        loss = -np.log(np.maximum((chances * classes).sum(axis=1), 1e-300)).mean()
        curve.append(float(loss + 0.5 * decay * sum((W**2).sum() for W in parameters[2:])))
        error = (chances - classes) / n
        gradients = [np.array([0.5 * r * (error * part).sum() for r, part in zip(root, parts, strict=True)])]
        gradients += [error.sum(axis=0)]
        gradients += [r * F.T @ error + decay * W for r, F, W in zip(root, features, parameters[2:], strict=True)]
        for p, g, (first, second) in zip(parameters, gradients, moments, strict=True):
            first += 0.1 * (g - first)
            second += 0.001 * (g**2 - second)
            p -= 0.05 * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-12)
    return np.exp(parameters[0]), curve


def _root(gram: NDArray[np.float64]) -> NDArray[np.float64]:
    values, vectors = np.linalg.eigh(gram)
    kept = values > 1e-10 * values.max()
    return vectors[:, kept] * np.sqrt(values[kept])


def _by_alignment(grams: NDArray[np.float64], classes: NDArray[Any], C: float, steps: int) -> Any:
    """min |sum_i weight_i K_i - Y|^2 over weights >= 0, all centred: a small least squares problem."""
    centred = [_centred(gram).ravel() for gram in grams]
    target = _centred(classes @ classes.T).ravel()
    squares = np.array([[a @ b for b in centred] for a in centred])
    products = np.array([a @ target for a in centred])
    values, vectors = np.linalg.eigh(squares)
    kept = values > 1e-12 * values.max()
    root = vectors[:, kept] * np.sqrt(values[kept])
    weights, _ = nnls(root.T, (vectors[:, kept].T @ products) / np.sqrt(values[kept]))
    size = np.sqrt(max(weights @ squares @ weights, 1e-300) * (target @ target))
    return weights, [float(weights @ products / size)]


def _centred(K: NDArray[np.float64]) -> NDArray[np.float64]:
    means = K.mean(axis=0)
    return K - means - means[:, None] + means.mean()


def _by_likelihood(grams: NDArray[np.float64], targets: NDArray[Any], C: float, steps: int) -> Any:
    """The marginal likelihood of a Gaussian process, with a constant beside the lengths and noise."""
    ones = np.ones((1, *grams.shape[1:]))
    likelihood = BlockGrams(np.concatenate([grams, ones]), targets)
    start = np.full(len(grams) + 1, -np.log(len(grams) + 1))
    log_mu, _, curve = maximise_likelihood(likelihood, start, float(np.log(0.1)), steps)
    return np.exp(log_mu[:-1]), curve


OBJECTIVES: dict[str, Callable[..., Any]] = {
    "svm": _by_svm,
    "layer": _by_layer,
    "alignment": _by_alignment,
    "likelihood": _by_likelihood,
}
