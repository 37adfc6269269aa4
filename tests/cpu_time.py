"""Times that other processes on the machine hardly change."""

import time

REPEATS = 5


def cpu_ratio(work, yardstick):
    """CPU time of this process for `work`, in units of that for `yardstick`; the best of runs that take turns.

    Waiting for a core does not count, and what slows both, a slow machine or shared caches, cancels.
    """
    times = [(_cpu_seconds(work), _cpu_seconds(yardstick)) for _ in range(REPEATS)]
    return min(t for t, _ in times) / min(t for _, t in times)


def _cpu_seconds(work):
    begin = time.process_time()
    work()
    return time.process_time() - begin
