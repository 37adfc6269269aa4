"""Peers side by side: true errors beside times, and failures that say what they are."""

import json

import numpy as np
import pytest
from studies.peers import Settings, run_bench, write_results
from studies.peers.packages import PEERS, Peer, find_python, peers_named
from studies.peers.tasks import Task, make_tasks, our_ways, true_gram

import gvoys as gv
from gvoys.errors import MissingDependencyError, ParameterError


@pytest.fixture(scope="module")
def tasks():
    return make_tasks(True, None)


def test_the_truth_is_the_definition(tasks):
    task = Task("two", tasks[2].batch[:2], 0.05, labelled=True)
    g, h = task.batch
    wanted = gv.exact_kernel(g, h, task.series, gv.Walk(None, start="ones", stop="ones"), solver="product")
    assert true_gram(task)[0, 1] == pytest.approx(wanted, rel=1e-9)


def test_our_exact_ways_are_exact_and_the_others_near(tasks):
    for task in tasks:
        truth = true_gram(task)
        for way in our_ways(task):
            error = np.linalg.norm(way.run(task) - truth) / np.linalg.norm(truth)
            limit = {"gvoys, moments": 1e-9, "gvoys, sequences up to length 8": 1e-3}.get(way.name, 0.02)
            assert error < limit, (task.name, way.name)


def test_grakel_beside_ours(tmp_path):
    pytest.importorskip("grakel")
    found, machine = run_bench(Settings(quick=True, peers=("grakel",)))
    theirs = {row.task.split(", ", 2)[2]: row for row in found if row.way == "GraKeL"}
    assert theirs["geometric"].error < 1e-4
    ours = next(row for row in found if row.task == theirs["geometric"].task)
    assert theirs["geometric"].ratio == pytest.approx(theirs["geometric"].seconds / ours.seconds)
    assert ours.ratio == 1.0
    assert 1e-4 < theirs["geometric, labels"].error < 0.01  # its labels are not quite right, and the column says so
    assert machine["GraKeL"].startswith("0.")
    command = Settings(quick=True, peers=("grakel",), root=str(tmp_path)).command
    write_results(tmp_path / "results.json", found, machine, command)
    kept = json.loads((tmp_path / "results.json").read_text())
    assert kept["command"] == "python -m studies peers --peer grakel --quick --root FOLDER --limit 180"
    assert {"date", "processor", "cores", "numpy", "gvoys"} <= set(kept["machine"])
    assert len(kept["measurements"]) == len(found)


def test_peers_that_are_not_there(monkeypatch, tmp_path):
    monkeypatch.setenv("GVOYS_DATA", str(tmp_path))
    missing = Peer("other", "no_such_module", ("other>=1",), "worker.py")
    with pytest.raises(MissingDependencyError, match="other is not installed; --install makes an environment"):
        find_python(missing, install=False)
    with pytest.raises(ParameterError, match="there is no peer 'networkx'; choose among GraKeL, graphkit-learn"):
        peers_named(["networkx"])
    assert peers_named(["GRAKEL"]) == [PEERS[0]]
    with pytest.raises(ParameterError, match="above 0, not -5"):
        Settings(limit=-5)
