"""Run by test_threads.py as a program: the same features by many threads or processes at a time.

Each way that is named on the command line must give the bits that this process gives alone, afterwards. "first" is no
way: it computes in this process beforehand, so that Numba's threads run when it forks.
"""

import multiprocessing
import os
import pickle
import sys
import threading
from concurrent.futures import ProcessPoolExecutor

import numba
import numpy as np
from joblib import Parallel, delayed, parallel_backend

import gvoys as gv
from gvoys.threads import n_threads, threads

GRAPHS = gv.datasets.molecules(12)
SEEDS = range(4)


def features(seed):
    """By moments, by a sketch and by sampled walks; limited and unlimited threads."""
    with threads(1):
        moments = gv.profiles(GRAPHS, gv.Walk(5), method="moments")
    sketch = gv.profiles(GRAPHS, gv.Walk(3), method="sketch", n_components=128, random_state=seed, n_jobs=-1)
    walks = gv.GraphVoyagers(gv.Geometric(0.01), n_components=8, random_state=seed).fit_transform(GRAPHS)
    return [moments.tobytes(), sketch.tobytes(), walks.tobytes()]


def in_threads(work):
    found = {}

    def keep(seed):
        found[seed] = [work(seed) for _ in range(10)]

    running = [threading.Thread(target=keep, args=(seed,)) for seed in SEEDS]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    for seed in SEEDS:  # a thread that failed has left nothing
        assert all(each == found[seed][0] for each in found[seed])
    return [found[seed][0] for seed in SEEDS]


def in_child(work):
    """What `work` returns in a process made by os.fork."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        with os.fdopen(write, "wb") as end:
            pickle.dump(work(), end)
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as end:
        found = end.read()
    assert os.waitpid(child, 0)[1] == 0
    return pickle.loads(found)


def by_fork(work):
    return in_child(lambda: [work(seed) for seed in SEEDS])


def by_threads_of_a_fork(work):
    return in_child(lambda: in_threads(work))


def by_fork_of_a_fork(work):
    return in_child(lambda: [work(0), by_fork(work)][1])


def by_pool(work, kind="fork"):
    with multiprocessing.get_context(kind).Pool(2) as pool:
        return pool.map(work, SEEDS)


def by_spawn(work):
    return by_pool(work, "spawn")


def by_executor(work):
    with ProcessPoolExecutor(2, multiprocessing.get_context("fork")) as pool:
        return list(pool.map(work, SEEDS))


def by_joblib(work):
    with parallel_backend("multiprocessing", n_jobs=2):
        return Parallel()(delayed(work)(seed) for seed in SEEDS)


@numba.njit(parallel=True)
def of_another_library(n):
    out = np.zeros(n)
    for i in numba.prange(n):
        out[i] = i
    return out


def by_fork_beside_another_library(work):
    """Numba's threads may be started by others, and these kernels stay as they are."""
    most = numba.get_num_threads()
    assert of_another_library(10).sum() == 45
    found = by_fork(work)
    assert of_another_library(10).sum() == 45
    assert numba.get_num_threads() == most
    return found


def by_a_fork_with_threads(work):
    """A process that was forked before any thread was started starts its own."""
    assert in_child(n_threads) == numba.config.NUMBA_NUM_THREADS
    return by_fork(work)


def by_a_fork_without_threads(work):
    assert in_child(n_threads) == 1
    return by_fork(work)


if __name__ == "__main__":
    ways = sys.argv[1:]
    if "first" in ways:
        ways.remove("first")
        features(0)
    found = {way: globals()[way](features) for way in ways}
    expected = [features(seed) for seed in SEEDS]
    assert [way for way in ways if found[way] != expected] == []
    print("same bits,", numba.threading_layer())
