"""The default classifier's fit beside GraKeL's Weisfeiler–Lehman kernel with a support vector machine, in one run."""

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

import gvoys as gv
from benchmarks.memory import peak_memory
from benchmarks.timing import measure, show
from gvoys.errors import DatasetError

BARS = {"MUTAG": 3.0, "ENZYMES": 3.0, "PROTEINS": 1.0, "DD": 1.0, "NCI1": 1.0}  # most times GraKeL's
REPEATS = {"MUTAG": 7, "ENZYMES": 5, "PROTEINS": 5, "DD": 2, "NCI1": 2}
COLLECTION = (2000, 430)  # graphs that grew by preferential attachment, and nodes of each


def run(console: Console) -> None:
    _beside_grakel(console)
    _attached(console)


def _beside_grakel(console: Console) -> None:
    try:
        import grakel
    except ImportError:
        console.print('GraKeL is left out: pip install "gvoys[peers]"\n')
        return
    table = Table("graphs", "gvoys", "GraKeL WL + SVC", "ratio", "at most", title="fit on nine of ten folds, defaults")
    for name, bar in BARS.items():
        try:
            batch, y = gv.datasets.load_tu(name)
        except DatasetError as error:
            console.print(f"{name} is left out: {error}", markup=False)
            continue
        train, _ = next(StratifiedKFold(10, shuffle=True, random_state=0).split(y, y))
        some = batch[train]
        graphs = list(grakel.graph_from_networkx(some.to_networkx(), node_labels_tag="label"))
        ours = measure(lambda: gv.RandomWalkClassifier().fit(some, y[train]), REPEATS[name])  # noqa: B023
        theirs = measure(lambda: _grakel_fit(graphs, y[train]), REPEATS[name])  # noqa: B023
        table.add_row(name, str(ours), str(theirs), f"{ours.seconds / theirs.seconds:.2f}", f"{bar:.1f}")
    console.print(table)


def _grakel_fit(graphs: list, y: np.ndarray) -> object:
    from grakel.kernels import VertexHistogram, WeisfeilerLehman

    K = WeisfeilerLehman(n_iter=4, normalize=True, base_graph_kernel=VertexHistogram).fit_transform(graphs)
    return GridSearchCV(SVC(kernel="precomputed"), {"C": [0.1, 1.0, 10.0, 100.0]}, cv=5).fit(K, y)


def _attached(console: Console) -> None:
    """Many graphs with hubs, and no labels: degrees take their place."""
    batch = preferential_attachment(*COLLECTION)
    y = np.random.default_rng(1).integers(2, size=len(batch))
    memory, seconds = peak_memory(lambda: gv.RandomWalkClassifier().fit(batch, y), beyond=False)
    console.print(
        f"{COLLECTION[0]:,} graphs of {COLLECTION[1]} nodes by preferential attachment, largest degree "
        f"{np.diff(batch.indptr).max()}: {show(seconds)} (60 s wanted), {memory / 1e9:.2f} GB in all (4 wanted)\n"
    )


def preferential_attachment(n_graphs: int, n_nodes: int, seed: int = 0) -> gv.GraphBatch:
    """Trees in which each new node joins an older one with a probability that goes by its degree."""
    rng = np.random.default_rng(seed)
    ends = np.zeros((n_graphs, 2 * (n_nodes - 1)), np.int64)  # of all edges so far: a node is there once per edge
    for node in range(1, n_nodes):
        drawn = rng.integers(max(2 * (node - 1), 1), size=n_graphs)
        ends[:, 2 * node - 2], ends[:, 2 * node - 1] = node, ends[np.arange(n_graphs), drawn]
    edges = ends.reshape(n_graphs, -1, 2) + n_nodes * np.arange(n_graphs)[:, None, None]
    return gv.GraphBatch.from_arrays(edges=edges.reshape(-1, 2), graph_sizes=np.full(n_graphs, n_nodes))
