"""What the scripts for other packages share."""

import time

import numpy as np

REPEATS, LONG = 5, 2.0  # runs after the first, unless one takes so many seconds


def best_of(work):
    """Seconds of the best of several runs, and what came out."""
    found = []
    while len(found) <= REPEATS and not (found and found[-1] > LONG):
        begin = time.perf_counter()
        result = work()
        found.append(time.perf_counter() - begin)
    return min(found), result


def unlike_pairs(task):
    """How many pairs of nodes have different labels, for every pair of graphs."""
    graphs = np.repeat(np.arange(len(task["offsets"]) - 1), np.diff(task["offsets"]))
    counts = np.zeros((len(task["offsets"]) - 1, int(task["labels"].max()) + 1))
    np.add.at(counts, (graphs, task["labels"]), 1.0)
    sizes = counts.sum(axis=1)
    return np.outer(sizes, sizes) - counts @ counts.T
