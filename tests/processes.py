"""Work in processes of their own, to be killed or to run into the limits of a disk."""

import multiprocessing
import os
import sys
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # for the processes: its threads spin where cores are busy

KILLS = int(os.environ.get("GVOYS_KILLS", "4"))


def start(work, *arguments, log=os.devnull):
    """Begin work in a process that is forked from one that has imported all: it is at work at once."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(
        ["gvoys.apps.cli.outputs", "gvoys.apps.scale", "gvoys.search", "rdkit.Chem", "pyarrow.parquet", "gvoys"]
    )
    run = context.Process(target=_quietly, args=(str(log), work, arguments))
    run.start()
    return run


def _quietly(log, work, arguments):
    sys.stdout = sys.stderr = open(log, "w")  # noqa: SIM115
    work(*arguments)


def gvoys(*arguments, log=os.devnull):
    """The command line."""
    return start(_main, *map(str, arguments), log=log)


def _main(*arguments):
    sys.argv = ["gvoys", *arguments]
    from gvoys.apps.cli import main

    main()


def finish(run):
    """Exit status of a process, once it has ended."""
    run.join()
    return run.exitcode


def kill_often(begin, is_done, undo, seconds, chance, kills=KILLS):
    """Begin a run again and again, each killed by kill -9 after a random part of its `seconds`."""
    while kills:
        run = begin()
        run.join(chance.uniform(0.1, 1.0) * seconds)
        if run.is_alive():
            run.kill()
            run.join()
            kills -= not is_done()  # else it was on its way out already
        else:
            assert run.exitcode == 0
            seconds *= 0.95  # the machine may be less busy than it was
        if is_done():
            undo()


def timed(begin):
    """Seconds of a run that succeeds."""
    first = time.perf_counter()
    assert finish(begin()) == 0
    return time.perf_counter() - first


def content(folder):
    """Bytes of every file, hidden ones too."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}
