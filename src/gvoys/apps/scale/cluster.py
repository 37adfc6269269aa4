"""The same profiles on many processes or machines, by Dask; no type of Dask leaves this file.

A *partition* is a function without arguments that loads some graphs, or graphs and targets, where it is called: on a
worker. Only sums and features travel. Every function does the same work here when no cluster is given, and gives the
same bits with one, whoever computes what and in whatever order: features are a function of their graphs, and sums run
along a tree that the order of the partitions determines.
"""

from __future__ import annotations

import logging
import math
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from itertools import islice
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from gvoys.apps.scale.gram import create_matrix, products
from gvoys.apps.scale.run import Done, Task
from gvoys.errors import ClusterError, MissingDependencyError, ParameterError
from gvoys.estimators import RandomWalkFeatures
from gvoys.estimators.regressor import SAMPLE, RandomWalkRegressor, begin, check_targets, finish, moments_of
from gvoys.graphs.batch import GraphBatch
from gvoys.io.convert import as_batch
from gvoys.io.files import appearing, lock_beside, locked, remove_left_over
from gvoys.io.sources import Chunk
from gvoys.kernels.gaussian import FeatureMoments
from gvoys.threads import threads

Partition = Callable[[], Any]

_AGAIN = "what is done is kept, start again"
_LOOK = 1.0  # seconds after which workers are looked for again
_PATIENCE = 20.0  # seconds without any worker after which a cluster is given up
_AHEAD = 4  # tasks per worker that are handed out at once: enough to keep it busy, few enough to hold in memory


@contextmanager
def open_cluster(workers: int | None = None, scheduler: str | None = None) -> Iterator[Cluster]:
    """Connect to a scheduler, or start workers on this machine, for the length of a ``with`` block.

    Parameters
    ----------
    workers : int or None, default=None
        Number of workers to start on this machine.
    scheduler : str or None, default=None
        Address of a running Dask scheduler. Give either this or `workers`.

    Yields
    ------
    Cluster
        The workers.

    Raises
    ------
    ParameterError
        If both or neither are given, or no scheduler answers.
    MissingDependencyError
        If Dask is not installed.
    """
    if (workers is None) == (scheduler is None):
        raise ParameterError("give either a number of workers on this machine or the address of a scheduler")
    if workers is not None and workers < 1:
        raise ParameterError(f"there must be one worker or more, not {workers}")
    distributed = _distributed()
    logging.getLogger("asyncio").addFilter(_matters)
    if scheduler is not None:
        with _without_logs():
            try:
                client = distributed.Client(scheduler, timeout=20)
            except (OSError, ValueError, TimeoutError) as error:
                raise ParameterError(f"no scheduler answers at {scheduler} ({error})") from None
            with client:
                yield Cluster(client)
        return
    options = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": ":0"}
    with ExitStack() as stack:
        with _interrupts_after():
            local = stack.enter_context(distributed.LocalCluster(**options, silence_logs=logging.CRITICAL))
            client = stack.enter_context(distributed.Client(local))
            client.run(_ignore_interrupts)  # Ctrl-C reaches the whole group; this process deals with it
        yield Cluster(client)


def _matters(record: logging.LogRecord) -> bool:
    """Whether a log is more than Dask's remark that it no longer waits for a result."""
    return not (record.exc_info and record.exc_info[0] and record.exc_info[0].__name__ == "AllExit")


@contextmanager
def _without_logs() -> Iterator[None]:
    """Silence Dask, which logs what it cannot reach; what matters is raised, and comes as one sentence."""
    names = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] in ("distributed", "tornado")]
    logs = [logging.getLogger(name) for name in names]
    before = [log.level for log in logs]
    for log in logs:
        log.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for log, level in zip(logs, before, strict=True):
            log.setLevel(level)


@contextmanager
def _interrupts_after() -> Iterator[None]:
    """Let Ctrl-C wait until the workers have started, and keep it from them.

    A cluster that is interrupted while it starts leaves processes behind and prints tracebacks, its own and theirs.
    Threads and processes inherit the blocked signal from the thread that starts them.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # it would unblock the signal when it is started
    interrupts: list[int] = []
    handler = signal.signal(signal.SIGINT, lambda number, _: interrupts.append(number))  # by way of another thread
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, handler)
    if interrupts:
        raise KeyboardInterrupt


def _ignore_interrupts() -> None:
    """Ignore Ctrl-C in a worker."""
    with suppress(ValueError):  # where the worker does not run in its main thread
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _distributed() -> Any:
    """Import Dask's module distributed."""
    try:
        import distributed
    except ImportError:
        raise MissingDependencyError('clusters need Dask; install it with: pip install "gvoys[cluster]"') from None
    return distributed


class Cluster:
    """Workers that the functions of this module may use; `open_cluster` makes one."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._had_workers, self._looked, self._seen = False, 0.0, time.monotonic()

    @property
    def n_slots(self) -> int:
        """Number of tasks that run at the same time."""
        return max(self._n_threads(), 1)

    def _n_threads(self) -> int:
        try:
            result = sum(self._client.nthreads().values())
        except OSError as error:  # no connection
            raise _failed(error) from None
        if result:
            self._had_workers, self._seen = True, time.monotonic()
        return result

    def run(self, task: Task, chunks: Iterable[Chunk]) -> Iterator[Done]:
        """Make parts of `gvoys embed`; a dead worker's parts are made by another."""
        left = iter(chunks)
        waiting = _distributed().as_completed([self._submit(task, chunk) for chunk in self._take_batch(left)])
        while not waiting.is_empty():
            while not waiting.has_ready():
                time.sleep(0.01)
                self._check_workers()
            yield self._result(next(waiting))
            for chunk in islice(left, 1):
                waiting.add(self._submit(task, chunk))

    def _ordered(self, work: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        """Yield the results of items in their order, a few items ahead."""
        left = iter(items)
        waiting = [self._submit(work, item) for item in self._take_batch(left)]
        while waiting:
            yield self._result(waiting.pop(0))
            waiting += [self._submit(work, item) for item in islice(left, 1)]

    def _take_batch(self, items: Iterator[Any]) -> Iterator[Any]:
        """Take as many tasks as are in flight at once."""
        return islice(items, _AHEAD * self.n_slots)

    def _submit(self, work: Callable[..., Any], *arguments: Any) -> Any:
        return self._client.submit(_on_worker, work, *arguments, pure=False)

    def _reduced(self, work: Callable[[Any], Any], items: Sequence[Any], add: Callable[[Any, Any], Any]) -> Any:
        """Add results along a tree, on the workers."""
        level = [self._submit(work, item) for item in items]
        while len(level) > 1:
            pairs = zip(level[::2], level[1::2], strict=False)
            level = [self._submit(add, *pair) for pair in pairs] + level[len(level) // 2 * 2 :]
        return self._result(level[0])

    def _result(self, future: Any) -> Any:
        """Return what a task returned, or raise what it raised; where the cluster failed, one sentence."""
        distributed = _distributed()
        while True:
            try:
                result = future.result(timeout=_LOOK)
            except TimeoutError:
                if future.status == "error":  # of the task itself
                    raise
                self._check_workers()
            except (CancelledError, distributed.KilledWorker, distributed.comm.CommClosedError) as error:
                raise _failed(error) from None
            else:
                self._seen = time.monotonic()
                return result

    def _check_workers(self) -> None:
        """Raise ClusterError where all workers have been gone for a while, and warn where none has come yet."""
        now = time.monotonic()
        if now < self._looked + _LOOK:
            return
        self._looked = now
        if not self._n_threads() and now > self._seen + _PATIENCE:
            if self._had_workers:
                raise ClusterError(
                    f"no worker has been left for {now - self._seen:.0f} s; {_AGAIN} when there are workers"
                )
            warnings.warn("the scheduler has no worker yet; the run waits for the first", stacklevel=2)
            self._seen = math.inf  # this is said once


def _failed(error: BaseException) -> ClusterError:
    return ClusterError(f"the cluster failed ({type(error).__name__}); {_AGAIN}")


def _on_worker(work: Callable[..., Any], *arguments: Any) -> Any:
    """Run a task on one thread of Numba, since a worker of n threads runs n tasks at once."""
    with threads(1):
        return work(*arguments)


def _map(cluster: Cluster | None, work: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
    return map(work, items) if cluster is None else cluster._ordered(work, items)


def _reduce(
    cluster: Cluster | None, work: Callable[[Any], Any], items: Sequence[Any], add: Callable[[Any, Any], Any]
) -> Any:
    if not items:
        raise ParameterError("there must be one partition or more")
    if cluster is not None:
        return cluster._reduced(work, items, add)
    partial_sums: list[tuple[int, Any]] = []  # sums of 2^k items, as in a binary counter: the tree of _reduced
    for item in items:
        partial_sums.append((1, work(item)))
        while len(partial_sums) > 1 and partial_sums[-1][0] == partial_sums[-2][0]:
            (size, right), (_, left) = partial_sums.pop(), partial_sums.pop()
            partial_sums.append((2 * size, add(left, right)))
    while len(partial_sums) > 1:
        (size, right), (other, left) = partial_sums.pop(), partial_sums.pop()
        partial_sums.append((size + other, add(left, right)))
    return partial_sums[0][1]


def _load_graphs(partition: Partition) -> GraphBatch:
    """Load the graphs of a partition, without their targets where it loads these too."""
    loaded = partition()
    return as_batch(loaded[0] if _has_targets(loaded) else loaded)


def _load_both(partition: Partition) -> tuple[GraphBatch, Any]:
    loaded = partition()
    if not _has_targets(loaded):
        raise ParameterError("a partition loads a list of graphs and no targets; return both, as in (graphs, targets)")
    return as_batch(loaded[0]), loaded[1]


def _count_graphs(partition: Partition) -> int:
    return len(_load_graphs(partition))


def _has_targets(loaded: Any) -> bool:
    """Return whether this is a pair of graphs and targets; graphs alone are a batch or a list."""
    return isinstance(loaded, tuple) and len(loaded) == 2


def _profile(model: RandomWalkFeatures, partition: Partition) -> NDArray[Any]:
    return model.transform(_load_graphs(partition))


def _profile_labelled(model: RandomWalkFeatures, partition: Partition) -> tuple[NDArray[Any], Any]:
    graphs, y = _load_both(partition)
    return model.transform(graphs), y


def profile_partitions(
    partitions: Sequence[Partition], model: RandomWalkFeatures, cluster: Cluster | None = None
) -> Iterator[NDArray[Any]]:
    """Features of each partition, in order, a few partitions ahead of the one that is taken.

    Parameters
    ----------
    partitions : sequence of callables
        Functions that load graphs, or graphs and targets, which are not looked at.
    model : RandomWalkFeatures
        Fitted features.
    cluster : Cluster or None, default=None
        Workers; None computes in this process.

    Returns
    -------
    iterator of arrays
        One array of shape (n_graphs, n_features) for each partition.
    """
    return _map(cluster, partial(_profile, model), partitions)


def _multiply(model: RandomWalkFeatures, pair: tuple[Partition, Partition]) -> NDArray[np.float64]:
    left = _profile(model, pair[0]).astype(np.float64)
    return products(left, left if pair[0] is pair[1] else _profile(model, pair[1]).astype(np.float64))


def write_gram_of_partitions(
    partitions: Sequence[Partition], model: RandomWalkFeatures, path: str | Path, cluster: Cluster | None = None
) -> None:
    """Write the Gram matrix of all graphs of all partitions to a .npy file, a block per pair of partitions.

    Parameters
    ----------
    partitions, model : object
        As in `profile_partitions`.
    path : str or Path
        File to write, float64. It appears, in the place of an earlier one, when it is complete.
    cluster : Cluster or None, default=None
        As in `profile_partitions`.

    Raises
    ------
    ParameterError
        If there is no partition, or another run writes this file.
    OSError
        If the disk has too little space.
    """
    if not partitions:
        raise ParameterError("there must be one partition or more")
    path = Path(path)
    with locked(lock_beside(path), path):
        remove_left_over(path)
        with appearing(path) as partial:
            _fill_blocks(partitions, model, partial, cluster)


def _fill_blocks(
    partitions: Sequence[Partition], model: RandomWalkFeatures, path: Path, cluster: Cluster | None
) -> None:
    """Write the matrix to a new file, which is unmapped in the end: a mapped one cannot be renamed on every system."""
    sizes = list(_map(cluster, _count_graphs, partitions))
    ends = np.cumsum(sizes)
    rows = [slice(int(end) - size, int(end)) for size, end in zip(sizes, ends, strict=True)]
    K = create_matrix(path, int(ends[-1]))
    pairs = [(i, j) for i in range(len(partitions)) for j in range(i + 1)]
    blocks = _map(cluster, partial(_multiply, model), [(partitions[i], partitions[j]) for i, j in pairs])
    for (i, j), block in zip(pairs, blocks, strict=True):
        K[rows[i], rows[j]] = block
        K[rows[j], rows[i]] = block.T
    if isinstance(K, np.memmap):
        K.flush()


def _sum_for_ridge(model: RandomWalkFeatures, partition: Partition) -> FeatureMoments:
    X, y = _profile_labelled(model, partition)
    moments = FeatureMoments.empty(np.zeros(X.shape[1] + 1, np.int64))
    moments.add(np.hstack([X, np.ones((len(X), 1), X.dtype)]), check_targets(y, len(X)))
    return moments


def fit_ridge(
    partitions: Sequence[Partition], model: RandomWalkFeatures, alpha: float = 1.0, cluster: Cluster | None = None
) -> tuple[NDArray[np.float64], float]:
    """Ridge regression on the features.

    X^T X and X^T y are added up on the workers: O(n D^2) work, and a matrix of (D, D) to solve here.

    Parameters
    ----------
    partitions, model : object
        As in `profile_partitions`; partitions load targets too, and features are of width D.
    alpha : float, default=1.0
        Strength of the regularisation, above 0.
    cluster : Cluster or None, default=None
        As in `profile_partitions`.

    Returns
    -------
    coefficients : array of shape (D,)
        One coefficient per feature.
    intercept : float
        The intercept.

    Raises
    ------
    ParameterError
        If `alpha` is not positive, or the partitions hold no graph.
    """
    if not 0 < alpha < np.inf:
        raise ParameterError(f"alpha must be positive, not {alpha!r}")
    sums = _reduce(cluster, partial(_sum_for_ridge, model), partitions, FeatureMoments.merged)
    if not sums.count:
        raise ParameterError("the partitions hold no graph")
    ones, n = sums.squares[-1, :-1], sums.count
    A = sums.squares[:-1, :-1] - np.outer(ones, ones) / n  # centred
    A[np.diag_indices_from(A)] += alpha
    mean = sums.products[-1] / n
    weights = cho_solve(cho_factor(A), sums.products[:-1] - ones * mean)
    return weights, float(mean - ones @ weights / n)


def _sum_for_process(regressor: RandomWalkRegressor, partition: Partition) -> FeatureMoments:
    return moments_of(regressor, *_load_both(partition))


def fit_regressor(
    partitions: Sequence[Partition], regressor: RandomWalkRegressor, cluster: Cluster | None = None
) -> RandomWalkRegressor:
    """Fit a Gaussian process in feature space.

    The kernel is learned on graphs of the first partitions; the sums of all are added up on the workers.

    Parameters
    ----------
    partitions : object
        As in `profile_partitions`; partitions load targets too.
    regressor : RandomWalkRegressor
        The regressor to fit.
    cluster : Cluster or None, default=None
        As in `profile_partitions`.

    Returns
    -------
    RandomWalkRegressor
        The fitted regressor.

    Raises
    ------
    ParameterError
        If there is no partition.
    """
    if not partitions:
        raise ParameterError("there must be one partition or more")
    begun = begin(regressor, *_first_graphs(partitions, SAMPLE))
    return finish(begun, _reduce(cluster, partial(_sum_for_process, begun), partitions, FeatureMoments.merged))


def _first_graphs(partitions: Sequence[Partition], count: int) -> tuple[GraphBatch, NDArray[np.float64]]:
    """Load the graphs and targets of as many partitions as hold so many."""
    graphs, targets, n_graphs = [], [], 0
    for partition in partitions:
        batch, y = _load_both(partition)
        graphs.append(batch)
        targets.append(np.asarray(y))
        n_graphs += len(graphs[-1])
        if n_graphs >= count:
            break
    return GraphBatch.concatenate(graphs), np.concatenate(targets)


def fit_classifier(
    partitions: Sequence[Partition],
    model: RandomWalkFeatures,
    classifier: Any,
    classes: Any,
    n_passes: int = 1,
    cluster: Cluster | None = None,
) -> Any:
    """Train a classifier with `partial_fit` on features that stream in from the workers, in order.

    Parameters
    ----------
    partitions, model : object
        As in `profile_partitions`; partitions load classes too.
    classifier : estimator
        An estimator with `partial_fit`, such as SGDClassifier.
    classes : array-like
        All classes that may occur.
    n_passes : int, default=1
        Passes over all partitions.
    cluster : Cluster or None, default=None
        As in `profile_partitions`.

    Returns
    -------
    estimator
        The classifier, trained.
    """
    for _ in range(n_passes):
        for X, y in _map(cluster, partial(_profile_labelled, model), partitions):
            classifier.partial_fit(X, y, classes=classes)
    return classifier
