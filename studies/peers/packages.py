"""Other packages, each run by a Python that has it: this one, or an environment of its own."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import venv
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import MissingDependencyError, ParameterError
from gvoys.io.fetch import data_folder
from studies.peers.tasks import Task

__all__ = ["PEERS", "Peer", "PeerFailure", "find_python", "peer_version", "peers_named", "run_peer"]

WORKERS = Path(__file__).parent / "workers"  # scripts that the other Pythons run


@dataclass(frozen=True)
class Peer:
    """A package, what pip installs for it, and the script that runs it."""

    name: str
    module: str
    requirements: tuple[str, ...]
    worker: str


PEERS = (
    Peer("GraKeL", "grakel", ("grakel>=0.1.10", "setuptools", "numpy<2.4"), "grakel_worker.py"),
    Peer("graphkit-learn", "gklearn", ("graphkit-learn>=0.2.1", "numpy<2.4"), "graphkit_worker.py"),
)


class PeerFailure(Exception):
    """A peer that ended without a result, with its last words."""


def peers_named(names: list[str]) -> list[Peer]:
    """The peers of these names, or all of them."""
    known = {peer.name.lower(): peer for peer in PEERS}
    unknown = next((name for name in names if name.lower() not in known), None)
    if unknown is not None:
        raise ParameterError(f"there is no peer {unknown!r}; choose among {', '.join(peer.name for peer in PEERS)}")
    return [known[name.lower()] for name in names] or list(PEERS)


def find_python(peer: Peer, install: bool) -> Path:
    """A Python that has the package; with `install` an environment is made where there is none."""
    folder = data_folder("peers") / peer.module
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    if (folder / "ready").is_file() and python.is_file():
        return python
    if install:
        venv.create(folder, with_pip=True, clear=True)
        done = subprocess.run(
            [str(python), "-m", "pip", "install", "--quiet", *peer.requirements], capture_output=True, text=True
        )
        if done.returncode == 0:
            (folder / "ready").touch()
            return python
        raise MissingDependencyError(f"{peer.name} could not be installed: {_last_words(done.stderr)}")
    if find_spec(peer.module) is not None:
        return Path(sys.executable)
    raise MissingDependencyError(f"{peer.name} is not installed; --install makes an environment for it")


def run_peer(peer: Peer, python: Path, task: Task, limit: float) -> tuple[float, NDArray[np.float64]]:
    """Seconds and the Gram matrix; TimeoutError past the limit, which includes starting Python."""
    batch = task.batch
    labels = np.zeros(batch.n_nodes, np.int64) if batch.node_labels is None else batch.node_labels.codes
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "task.npz", Path(folder) / "result.npz"
        np.savez(
            source,
            offsets=batch.node_offsets,
            edges=np.column_stack([batch.rows(), batch.columns()]),
            labels=labels,
            labelled=task.labelled,
            kind=task.kind,
            decay=task.decay,
        )
        try:
            done = subprocess.run(
                [str(python), "-W", "ignore", str(WORKERS / peer.worker), str(source), str(target)],
                capture_output=True,
                text=True,
                timeout=limit,
            )
        except subprocess.TimeoutExpired:
            raise TimeoutError from None
        if done.returncode != 0 or not target.is_file():
            raise PeerFailure(_last_words(done.stderr))
        with np.load(target) as result:
            return float(result["seconds"]), result["K"]


def peer_version(peer: Peer, python: Path) -> str:
    """What is installed there."""
    name = peer.requirements[0].split(">")[0]
    code = f"from importlib.metadata import version; print(version({name!r}), version('numpy'))"
    done = subprocess.run([str(python), "-c", code], capture_output=True, text=True)
    return "{} (numpy {})".format(*done.stdout.split()) if done.returncode == 0 else "unknown"


def _last_words(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:200] if lines else "no message"
