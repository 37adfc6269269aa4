"""Peers side by side: the same graphs in the same run, with the error that each reached beside its time."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.drawing.page import describe_machine
from gvoys.errors import MissingDependencyError, ParameterError
from gvoys.io.files import appearing
from studies.peers.packages import Peer, PeerFailure, find_python, peer_version, peers_named, run_peer
from studies.peers.tasks import Task, make_tasks, our_ways, true_gram
from studies.timing import best_of

__all__ = ["Measurement", "Settings", "run_bench", "write_results"]


@dataclass(frozen=True)
class Settings:
    """What to compare, and how long to wait."""

    quick: bool = False
    root: str | None = None
    peers: tuple[str, ...] = ()
    install: bool = False
    limit: float = 180.0  # seconds for one Gram matrix of a peer

    def __post_init__(self) -> None:
        if not self.limit > 0:
            raise ParameterError(f"the limit must be a number of seconds above 0, not {self.limit:g}")

    @property
    def command(self) -> str:
        """What to type to have this again."""
        given = [f"--peer {peer}" for peer in self.peers] + ["--quick"] * self.quick + ["--install"] * self.install
        root = ["--root FOLDER"] * (self.root is not None)
        return " ".join(["python -m studies peers", *given, *root, f"--limit {self.limit:g}"])


@dataclass(frozen=True)
class Measurement:
    """One line: seconds and errors, or why there are none."""

    task: str
    way: str
    seconds: float | None
    error: float | None = None  # |K - truth| / |truth|, Frobenius
    largest: float | None = None  # of a single value, relative
    ratio: float | None = None  # to the first way of ours
    remark: str = ""


def run_bench(
    settings: Settings, tell: Callable[[str], None] = lambda stage: None
) -> tuple[list[Measurement], dict[str, str]]:
    """Everything measured, and on what."""
    machine: dict[str, str] = describe_machine()
    pythons: dict[Peer, Path | str] = {}
    for peer in peers_named(list(settings.peers)):
        tell(f"looking for {peer.name}")
        try:
            python = find_python(peer, settings.install)
            pythons[peer], machine[peer.name] = python, peer_version(peer, python)
        except MissingDependencyError as error:
            pythons[peer] = str(error)
    found = []
    for task in make_tasks(settings.quick, settings.root):
        found += _measure(task, pythons, settings.limit, tell)
    return found, machine


def _measure(
    task: Task, pythons: dict[Peer, Path | str], limit: float, tell: Callable[[str], None]
) -> list[Measurement]:
    tell(f"{task.name}: the truth, pair by pair")
    truth = true_gram(task)
    rows: list[Measurement] = []
    for way in our_ways(task):
        tell(f"{task.name}: {way.name}")
        seconds, K = best_of(partial(way.run, task), 5)
        rows.append(_measured(task, way.name, seconds, K, truth, rows[0].seconds if rows else seconds))
    for peer, python in pythons.items():
        tell(f"{task.name}: {peer.name}")
        if isinstance(python, str):
            rows.append(Measurement(task.name, peer.name, None, remark=python))
            continue
        try:
            seconds, K = run_peer(peer, python, task, limit)
            rows.append(_measured(task, peer.name, seconds, K, truth, rows[0].seconds))
        except TimeoutError:
            rows.append(Measurement(task.name, peer.name, None, remark=f"over {limit:g} s"))
        except PeerFailure as failure:
            rows.append(Measurement(task.name, peer.name, None, remark=f"failed: {failure}"))
    return rows


def _measured(
    task: Task, way: str, seconds: float, K: NDArray[np.float64], truth: NDArray[np.float64], first: float | None
) -> Measurement:
    error = float(np.linalg.norm(K - truth) / np.linalg.norm(truth))
    largest = float(np.max(np.abs(K - truth)[truth > 0] / truth[truth > 0]))
    return Measurement(task.name, way, seconds, error, largest, None if first is None else seconds / first)


def write_results(path: Path, found: list[Measurement], machine: dict[str, Any], command: str) -> None:
    """As JSON, with the machine, the versions, the day and the command."""
    text = json.dumps(
        {"command": command, "machine": machine, "measurements": [asdict(row) for row in found]}, indent=1
    )
    with appearing(path) as file:
        file.write_text(text + "\n")
