"""How commands end that cannot go on: one sentence or nothing, never a traceback, and nothing left behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

INTERRUPT = """
import os, signal, sys
class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupt())
"""
NO_MEMORY = """
import numpy
numpy.seterr  # numpy first, as in any command
class Full:
    def find_spec(self, name, path=None, target=None):
        if name == "gvoys.io.open":
            raise MemoryError("Unable to allocate 7.28 TiB for an array")
import sys
sys.meta_path.insert(0, Full())
"""


def start(*arguments, hook="", folder=None, environment=(), **options):
    """A command in a session of its own, in which Ctrl-C is as in a terminal; `hook` runs before all else."""
    path = os.environ.get("PYTHONPATH", "")
    if hook:
        (folder / "sitecustomize.py").write_text(hook)
        path = f"{folder}{os.pathsep}{path}"
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | options
    return subprocess.Popen(
        [sys.executable, "-m", "gvoys", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": path, "COLUMNS": "120", **dict(environment)},
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # a job of a script ignores it
        **options,
    )


@pytest.fixture
def molecules(tmp_path):
    pytest.importorskip("rdkit")
    pytest.importorskip("pyarrow")
    (tmp_path / "a.smi").write_text("".join(f"{'C' * (k % 30 + 1)}O m{k}\n" for k in range(3000)))
    return tmp_path / "a.smi"


# -- Ctrl-C
@pytest.mark.parametrize("module", ["gvoys.errors", "typer", "rich.console", "numpy", "numba", "sklearn.base"])
def test_ctrl_c_while_modules_are_imported(module, molecules, tmp_path):
    command = start("embed", molecules, "-o", tmp_path / "out", hook=INTERRUPT.format(module=module), folder=tmp_path)
    output, errors = command.communicate()
    assert (command.returncode, output, errors) == (130, "", "")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("module", ["rdkit", "distributed"])
def test_ctrl_c_while_the_work_imports_more(module, molecules, tmp_path):
    pytest.importorskip("distributed")
    hook = INTERRUPT.format(module=module)
    command = start("embed", molecules, "-o", tmp_path / "out", "--workers", "1", hook=hook, folder=tmp_path)
    _, errors = command.communicate()
    assert (command.returncode, errors) == (130, "")
    wait_for(lambda: not members(command.pid))


def test_ctrl_c_while_workers_start(molecules, tmp_path):
    pytest.importorskip("distributed")
    command = start("embed", molecules, "-o", tmp_path / "out", "--workers", "2")
    wait_for(lambda: len(members(command.pid)) > 2)  # itself, Python's resource tracker, and a worker
    os.killpg(command.pid, signal.SIGINT)
    _, errors = command.communicate()
    assert command.returncode == 130
    assert "Traceback" not in errors
    wait_for(lambda: not members(command.pid))
    assert not list(tmp_path.glob("out/*"))


def test_ctrl_c_while_workers_work(molecules, tmp_path):
    pytest.importorskip("distributed")
    command = start("embed", molecules, "-o", tmp_path / "out", "--workers", "2", "--rows-per-part", "1")
    wait_for(lambda: len(list(tmp_path.glob("out/*.parquet"))) > 3)
    os.killpg(command.pid, signal.SIGINT)
    output, errors = command.communicate()
    assert command.returncode == 130
    assert "the same command goes on where this run" in output
    assert errors == ""
    wait_for(lambda: not members(command.pid))
    assert not list(tmp_path.glob("out/.*partial"))


def wait_for(condition):
    """Until the condition holds; five minutes only end a test that would never end."""
    end = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def members(session):
    """The processes of a session that have not ended."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, of = stat.read_text().rpartition(")")[2].split()[:4]
        except (OSError, ValueError):  # it has just ended
            continue
        if int(of) == session and state != "Z":
            found.append(stat.parent.name)
    return found


# -- a scheduler that dies
SCHEDULER = """
import asyncio
from distributed import Scheduler
async def run():
    async with Scheduler(host="127.0.0.1", port=0, dashboard_address=":0") as scheduler:
        print(scheduler.address, flush=True)
        await scheduler.finished()
asyncio.run(run())
"""


def test_a_scheduler_that_dies_is_one_sentence(molecules, tmp_path):
    """It has no workers, so that the client waits for it, and misses it."""
    pytest.importorskip("distributed")
    scheduler = subprocess.Popen([sys.executable, "-c", SCHEDULER], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    address = scheduler.stdout.readline().decode().strip()
    words = ("embed", molecules, "-o", tmp_path / "out", "--rows-per-part", "1", "--scheduler", address)
    command = start(*words, environment={"DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "3s"})  # Dask's own is 30 s
    try:
        wait_for((tmp_path / "out" / "_job.json").exists)
    finally:
        scheduler.kill()
        scheduler.communicate()
    _, errors = command.communicate()
    assert command.returncode == 2
    assert errors.startswith("gvoys: the cluster failed (")
    assert errors.endswith("what is done is kept, start again\n")
    assert len(errors.splitlines()) == 1


# -- no memory, no reader
def test_no_memory_and_odd_warnings_are_one_sentence(tmp_path):
    command = start("evaluate", "MUTAG", hook=NO_MEMORY, folder=tmp_path)
    _, errors = command.communicate()
    assert command.returncode == 2
    assert errors.startswith("gvoys: there is not enough memory (Unable to allocate 7.28 TiB for an array); ")
    assert "fewer graphs" in errors
    assert len(errors.splitlines()) == 1
    code = "import warnings, gvoys.apps.cli.messages as m\nwith m.in_one_sentence(): warnings.warn('odd')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "gvoys: odd\n"


@pytest.mark.parametrize("arguments", [["--help"], ["demo", "--kernel", "--no-compare"], ["--version"]])
def test_nobody_reads_the_output(arguments):
    reader, writer = os.pipe()
    os.close(reader)
    command = start(*arguments, stdout=writer)
    os.close(writer)
    _, errors = command.communicate()
    assert (command.returncode, errors) == (1, "")


# -- control characters
def test_names_cannot_steer_the_terminal(tmp_path):
    names = ["a\x1b[31mb", "a\x07b", "a\x9bb", "a\u202eb", "a\rb"]
    command = start("evaluate", tmp_path / f"{' '.join(names)}.smi")
    _, errors = command.communicate()
    assert command.returncode == 2
    assert "there is no file or folder" in errors
    assert all(ascii(name)[2:-2] in errors for name in names)
    assert not set(errors) & set("\x1b\x07\x9b\u202e\r")
    command = start("evaluate", os.fsdecode(b"a\xff.smi"))
    _, errors = command.communicate()
    assert command.returncode == 2
    assert errors == "gvoys: there is no file or folder a\\udcff.smi\n"


def test_ids_and_labels_cannot_either(tmp_path):
    pytest.importorskip("rdkit")
    chains = "".join(f"{'C' * (k + 2)},{k % 2 + 1}\n" for k in range(40))
    (tmp_path / "a\x1b[2J.csv").write_text(f"smiles,y\nCCO,1\n\x1b]0;mine\x07C1CC,2\n{chains}")
    command = start("evaluate", tmp_path / "a\x1b[2J.csv", "--target", "y", "--folds", "2", "--seed", "0")
    output, errors = command.communicate()
    assert command.returncode == 0, errors
    assert "1 of 42 rows was skipped" in output
    assert not set(output + errors) & set("\x1b\x07")
