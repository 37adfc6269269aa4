"""Learning a Gaussian process on views of graphs: the kernel, its weights, and intervals that cover."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from gvoys.kernels.covariance import ArrayCovariance, Conditioned, Covariance, Distances
from gvoys.kernels.gaussian import maximise_likelihood
from gvoys.kernels.kernel_sum import KernelSum
from gvoys.kernels.progress import SILENT, Progress
from gvoys.kernels.views import Surroundings, View
from gvoys.walks import SparseProfiles

Array = NDArray[np.float64]

_TRIED = (("matern32",), ("matern12",), ("gaussian",), ("matern32", "linear"))  # by "auto"
_TRIED_ON = 400  # graphs
_TRYING_STEPS = 20
_CLEARLY = 1.03  # times the error of the first one: what another must stay below
_LEARNED_ON = 2000  # graphs: more of them hardly change the weights
_LARGE = 1500  # graphs from which BLAS is faster with several threads
_FAR = 6.0  # deviations from what the others tell, from which a measurement is not believed
_NOISE = float(np.log(0.1))  # to begin with, in units of the targets' variance
_TOLERANCE = 2e-5  # of the likelihood, by which a step must raise it
_INSIDE, _TWO_SIDED = 0.95, 1.959963984540054
_STRETCH = (1.0, 2.0)  # of deviations, at least and at most: weights were learned on the same graphs


@dataclass(frozen=True)
class Learning:
    """Options of learning."""

    kinds: tuple[str, ...] | None  # None: the one of largest likelihood
    max_iterations: int  # 0 keeps equal weights
    seed: int
    progress: Progress = SILENT
    device: str = "cpu"


@dataclass(frozen=True)
class Process:
    """A learned Gaussian process."""

    kernel: KernelSum
    kinds: tuple[str, ...]
    noise: float
    found: Conditioned
    stretch: float  # of deviations, so that 95 % intervals hold 95 % of leave-one-out residuals
    log_likelihood: float
    curve: list[float]
    names: list[str]  # of all parameters beside the noise
    amplitudes: Array


@dataclass(frozen=True)
class _Problem:
    """Some graphs and their targets."""

    views: tuple[View, ...]
    held: list[Distances]
    targets: Array
    weights: Array  # (n,), of the targets
    device: str

    @classmethod
    def of(
        cls, views: tuple[View, ...], fitted: list[SparseProfiles], targets: Array, weights: Array, device: str
    ) -> _Problem:
        n = len(targets)
        stored = [
            Distances.of(view.grams(subset), len(view.names), n) for view, subset in zip(views, fitted, strict=True)
        ]
        return cls(views, stored, targets, weights, device)

    def places(self, kinds: tuple[str, ...]) -> list[tuple[str, int]]:
        """Terms: each kernel on all walks, and the multisets of surroundings, which are kernels of their own."""
        surroundings = [i for i, view in enumerate(self.views) if isinstance(view, Surroundings)]
        walks = [i for i in range(len(self.views)) if i not in surroundings]
        return [*((kind, i) for kind in kinds for i in walks), *(("linear", i) for i in surroundings)]

    def likelihood(self, kinds: tuple[str, ...]) -> Covariance:
        terms = self.places(kinds)
        given = tuple(kind for kind, _ in terms), tuple(self.held[i] for _, i in terms), self.targets, self.weights
        if self.device == "cpu":
            return Covariance(*given)
        import cupy

        return ArrayCovariance(*given, xp=cupy)

    def kernel(self, kinds: tuple[str, ...], log_mu: Array) -> KernelSum:
        indices = tuple(i for _, i in self.places(kinds))
        return KernelSum.learned(self.views, indices, self.likelihood(kinds).terms(log_mu), self.held)

    def names(self, kinds: tuple[str, ...]) -> list[str]:
        """Names of the parameters, such as "matern32 fine walk3" and "matern32 fine amplitude"."""
        result = []
        for kind, i in self.places(kinds):
            result += [f"{kind} {name}" for name in self.views[i].names]
            result += [] if kind == "linear" else [f"{kind} {self.views[i].title} amplitude"]
        return [*result, "constant"]


def learn_process(
    views: tuple[View, ...], fitted: list[SparseProfiles], targets: Array, weights: Any, how: Learning
) -> Process:
    """Learn from standardised targets: the kernel from a sample where there are many, then condition on all."""
    order = np.random.default_rng(how.seed).permutation(len(targets))
    weights = np.ones(len(targets)) if weights is None else weights.copy()

    def problem(count: int) -> tuple[NDArray[np.int64], _Problem]:
        rows = np.sort(order[:count])
        subset = fitted if len(rows) == len(targets) else [item.take(rows) for item in fitted]
        return rows, _Problem.of(views, subset, targets[rows], weights[rows], how.device)

    kinds = how.kinds
    if kinds is None:
        with how.progress.running("choosing a kernel"), _quick_blas(_TRIED_ON):
            kinds = _best(problem(_TRIED_ON)[1])
    rows, sample = problem(_LEARNED_ON)
    with _quick_blas(len(rows)):
        log_mu, log_noise, curve, weights[rows] = _learned(sample, kinds, how)
    kernel, noise = sample.kernel(kinds, log_mu), float(np.exp(log_noise))
    K = kernel.values(fitted) + kernel.constant
    result, left_out = _conditioned(K, noise / weights, targets)
    doubted = _doubted(left_out, noise, weights)
    if doubted is not None:
        result, left_out = _conditioned(K, noise / doubted, targets)
    return Process(
        kernel,
        kinds,
        noise,
        result,
        _stretch(*left_out),
        result.log_likelihood(targets),
        curve,
        sample.names(kinds),
        np.exp(log_mu),
    )


def _learned(problem: _Problem, kinds: tuple[str, ...], how: Learning) -> tuple[Array, float, list[float], Array]:
    """log mu, log noise and the likelihood after every step, and weights of the targets as far as they are believed."""
    log_mu, log_noise, curve = _optimised(problem, kinds, how.max_iterations, how.progress)
    if not how.max_iterations:
        return log_mu, log_noise, curve, problem.weights
    left_out = problem.likelihood(kinds).conditioned(log_mu, log_noise).leave_one_out()
    doubted = _doubted(left_out, float(np.exp(log_noise)), problem.weights)
    if doubted is None:
        return log_mu, log_noise, curve, problem.weights
    problem = replace(problem, weights=doubted)
    return *_optimised(problem, kinds, how.max_iterations, how.progress), doubted


def _conditioned(K: Array, noise: Array, targets: Array) -> tuple[Conditioned, tuple[Array, Array]]:
    """The process given the targets, and each residual beside the others, with its variance."""
    result = Conditioned.on(K + np.diag(noise), targets)
    return result, result.leave_one_out()


def _doubted(left_out: tuple[Array, Array], noise: float, weights: Array) -> Array | None:
    """Weights that are less for targets far from all that the others tell; None where there is none.

    A normal distribution has no place for a wrong measurement, which would pull at all predictions around it.
    """
    residuals, variances = left_out
    scores = (np.abs(residuals) / np.sqrt(variances)).reshape(len(weights), -1).max(axis=1)  # of several targets
    sizes = (residuals**2).reshape(len(weights), -1).max(axis=1)
    far = scores > _FAR
    return np.where(far, np.minimum(weights, noise / np.maximum(sizes, noise)), weights) if far.any() else None


def _quick_blas(n: int) -> Any:
    """One thread for small matrices: more of them wait for each other longer than they work."""
    return threadpool_limits(1, "blas") if n < _LARGE else nullcontext()


def _best(problem: _Problem) -> tuple[str, ...]:
    """The first kernel, unless another predicts each graph clearly better from the others.

    Not the one of largest likelihood: a Gaussian kernel often has it, and predicts worse.
    """

    def error(kinds: tuple[str, ...]) -> float:
        log_mu, log_noise, _ = _optimised(problem, kinds, _TRYING_STEPS, SILENT)
        residuals, _ = problem.likelihood(kinds).conditioned(log_mu, log_noise).leave_one_out()
        return float(np.sqrt(np.mean(residuals**2))) * (1.0 if kinds == _TRIED[0] else _CLEARLY)

    return min(_TRIED, key=error)


def _optimised(
    problem: _Problem, kinds: tuple[str, ...], steps: int, progress: Progress
) -> tuple[Array, float, list[float]]:
    likelihood = problem.likelihood(kinds)
    log_mu = likelihood.start()
    if not steps:
        return log_mu, _NOISE, [likelihood.evaluate(log_mu, _NOISE)[0]]
    on_step = progress.counter("optimising", steps)
    return maximise_likelihood(likelihood, log_mu, _NOISE, steps, on_step, _TOLERANCE)


def _stretch(residuals: Array, variances: Array) -> float:
    """Return the factor that widens deviations until they hold 95 % of leave-one-out residuals (split conformal)."""
    scores = np.sort((np.abs(residuals) / np.sqrt(variances)).ravel())
    index = int(np.ceil(_INSIDE * (len(scores) + 1))) - 1
    return float(np.clip(scores[min(index, len(scores) - 1)] / _TWO_SIDED, *_STRETCH))
