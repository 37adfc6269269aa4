"""The main things, with whatever versions of the dependencies are installed: make oldest runs it on the oldest ones.

pytest does not collect it by itself: make test has all of this in more detail.
"""

import subprocess
import sys

import numpy as np
import pytest

import gvoys as gv

COMMANDS = ("demo", "evaluate", "learn", "embed", "kernel", "explore")
SMILES = ("CCO", "c1ccccc1", "CC(=O)O", "C1CC", "CCN", "c1ccncc1", "CC(C)C", "OCCO")
BATCH = gv.datasets.molecules(40, mean_nodes=10, random_state=0)
Y = (BATCH.graph_sizes > np.median(BATCH.graph_sizes)).astype(int)


def gvoys(*arguments):
    done = subprocess.run(
        [sys.executable, "-m", "gvoys", *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def molecules(tmp_path):
    lines = [f"{smiles} m{k}\n" for k, smiles in enumerate(SMILES)]
    (tmp_path / "a.smi").write_text("".join(lines))
    return tmp_path / "a.smi"


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help(command):
    assert "Usage" in gvoys(*filter(None, [command]), "--help")


def test_a_wrong_option_is_explained():
    done = subprocess.run([sys.executable, "-m", "gvoys", "demo", "--seed", "x"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "Invalid value for '--seed'" in done.stderr


def test_demo(tmp_path):
    assert "Open " in gvoys("demo", "-o", tmp_path / "demo.html")
    assert (tmp_path / "demo.html").stat().st_size > 1_000_000


def test_demo_of_kernels(tmp_path):
    folder = tmp_path / "MUTAG"
    folder.mkdir()
    shapes = ([(1, 2), (2, 3), (3, 4)], [(1, 2), (1, 3), (1, 4)])  # paths and stars in turn
    edges = [(4 * k + a, 4 * k + b) for k in range(40) for a, b in shapes[k % 2]]
    (folder / "MUTAG_A.txt").write_text("".join(f"{a}, {b}\n{b}, {a}\n" for a, b in edges))
    (folder / "MUTAG_graph_indicator.txt").write_text("".join(f"{k // 4 + 1}\n" for k in range(160)))
    (folder / "MUTAG_graph_labels.txt").write_text("1\n-1\n" * 20)
    assert "100.0 ± 0.0 %" in gvoys("demo", "--kernel", "--root", tmp_path, "--no-compare")


def test_kernel_and_features():
    K = gv.RandomWalkKernel(walk=gv.Walk(3), method="sequences").fit_transform(BATCH)
    X = gv.RandomWalkFeatures(walk=gv.Walk(3), n_components=4096, random_state=0).fit_transform(BATCH)
    assert K.shape == (40, 40)
    assert X.shape[0] == 40


def test_learners():
    model = gv.RandomWalkClassifier(gv.Walk(2, refine=1), kernel="linear", C=1.0)
    assert model.fit(BATCH, Y).score(BATCH, Y) > 0.8
    sizes = BATCH.graph_sizes.astype(float)
    assert np.abs(gv.RandomWalkRegressor(gv.Walk(2)).fit(BATCH, sizes).predict(BATCH) - sizes).mean() < 2


def test_store(tmp_path):
    gv.write_store(BATCH, tmp_path / "store")
    assert gv.open_store(tmp_path / "store").n_edges == BATCH.n_edges


@pytest.mark.parametrize("where", [[], ["--workers", "1"]])
def test_embed(molecules, tmp_path, where):
    assert "7 graphs in 1 part," in gvoys("embed", molecules, "-o", tmp_path / "out", "--components", "16", *where)
    assert "of 8 rows was skipped" in gvoys("kernel", molecules, "-o", tmp_path / "K.npy", "--components", "16")
    assert np.load(tmp_path / "K.npy").shape == (7, 7)


def test_explore(molecules, tmp_path):
    gvoys("explore", molecules, "-o", tmp_path / "page.html")
    assert (tmp_path / "page.html").stat().st_size > 10_000


def test_evaluate_with_plots(tmp_path):
    (tmp_path / "a.csv").write_text("smiles,y\n" + "CC,1\nc1ccccc1,2\nCCC,1\nc1ccncc1,2\n" * 6)
    gvoys("evaluate", tmp_path / "a.csv", "--target", "y", "--folds", "2", "--seed", "0", "--out", tmp_path / "plots")
    assert list(tmp_path.glob("plots/*/*.png"))


def test_graphs_of_networkx():
    networkx = pytest.importorskip("networkx")
    assert len(gv.as_batch([networkx.path_graph(3), networkx.cycle_graph(4)])) == 2
