"""What is said when kernels are compiled: once in a process, through logging, and nothing where they are on disk."""

import subprocess
import sys
import textwrap

MODULE = """
from numba import prange
from gvoys._jit import kernel

@kernel()
def quick(x):
    return 2 * x

@kernel(parallel=True)
def squares(out):
    for i in prange(len(out)):
        out[i] = i * i

@kernel(parallel=True)
def cubes(out):
    for i in prange(len(out)):
        out[i] = i * i * i
"""
SAID = "gvoys compiles its kernels, once: about 10 s\n"


def run(folder, code):
    (folder / "three.py").write_text(MODULE)
    head = f"import sys; sys.path.insert(0, {str(folder)!r}); import numpy as np, three, logging\n"
    command = [sys.executable, "-c", head + textwrap.dedent(code)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def test_it_is_said_once_and_only_where_kernels_compile(tmp_path):
    assert run(tmp_path, "three.quick(1)") == ("", "")  # takes no time worth a word
    assert run(tmp_path, "three.squares(np.empty(3)); three.cubes(np.empty(3))") == ("", SAID)
    for thread in ("", "import threading; threading.Thread(target=three.cubes, args=(np.empty(3),)).start()"):
        assert run(tmp_path, f"three.squares(np.empty(3)); {thread}") == ("", "")
    assert run(tmp_path, "three.squares(np.empty(3, np.float32))") == ("", SAID)  # for another type, anew


def test_logging_silences_it(tmp_path):
    quiet = "logging.getLogger('gvoys').setLevel(logging.ERROR); three.squares(np.empty(3))"
    assert run(tmp_path, quiet) == ("", "")


def test_a_worker_is_silent_too(tmp_path):
    code = """
    import multiprocessing
    out = np.empty(3)
    def work():
        three.squares(out)
    workers = [multiprocessing.get_context("fork").Process(target=work) for _ in range(2)]
    for worker in workers:
        worker.start(); worker.join(); assert worker.exitcode == 0
    """
    run(tmp_path, "three.squares(np.empty(3))")
    assert run(tmp_path, code) == ("", "")
