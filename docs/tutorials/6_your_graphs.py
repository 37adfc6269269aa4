"""
Your own graphs and labels
==========================

You bring graphs from anywhere, with labels of any kind, and use all of gvoys on them.

.. code-block:: console

   $ pip install "gvoys[report]" networkx

The graphs here are small logic circuits. Nodes are gates, and edges are wires with a direction. Some circuits have a
fault: somewhere a NOT gate feeds another NOT gate, which does nothing.
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import gvoys as gv

rng = np.random.default_rng(0)


def circuit(n_gates, faulty):
    """Gates in an order, each fed by one or two of the gates before it."""
    graph = nx.DiGraph()
    graph.add_node(0, label="IN")
    for k in range(1, n_gates):
        sources = rng.choice(k, size=min(k, 1 + k % 2), replace=False)
        may_invert = len(sources) == 1 and graph.nodes[sources[0]]["label"] != "NOT"
        kind = "NOT" if may_invert and rng.random() < 0.6 else rng.choice(["AND", "OR", "XOR"])
        graph.add_node(k, label=str(kind))
        graph.add_edges_from((int(each), k) for each in sources)
    if faulty:
        inverters = [node for node, kind in graph.nodes(data="label") if kind == "NOT"] or [0]
        graph.add_node(n_gates, label="NOT")
        graph.add_edge(int(rng.choice(inverters)), n_gates)
    else:
        graph.add_node(n_gates, label="NOT")
        graph.add_edge(0, n_gates)
    return graph


faulty = rng.random(300) < 0.5
circuits = [circuit(int(rng.integers(12, 22)), fault) for fault in faulty]

# %%
# A label is any value that Python can hash: strings here, numbers or tuples elsewhere. gvoys reads the attribute
# ``label`` of nodes and edges, and ``weight`` of edges, unless you name others.

batch = gv.as_batch(circuits)
batch

# %%
# Kernels and features
# --------------------
# `RandomWalkKernel` and `RandomWalkFeatures` are scikit-learn transformers. Walks follow the wires and are compared by
# the gates that they visit.

model = make_pipeline(
    gv.RandomWalkKernel(gv.Geometric("auto"), gv.Walk(max_length=3, start="ones", stop="ones")),
    SVC(kernel="precomputed", C=100),
)
scores = cross_val_score(model, batch, faulty, cv=5)
print(f"accuracy by walks, and a support vector machine of yours: {scores.mean():.3f}")
gates_alone = gv.RandomWalkKernel(gv.Coefficients([1.0]), gv.Walk(max_length=0, start="ones", stop="ones"))
scores = cross_val_score(make_pipeline(gates_alone, SVC(kernel="precomputed", C=100)), batch, faulty, cv=5)
print(f"accuracy by counting gates alone: {scores.mean():.3f}")

# %%
# Which sequence reveals the fault?
# ---------------------------------
# A classifier can say what it looks at. These are the sequences with the largest shares in the decision for one faulty
# circuit:

classifier = gv.RandomWalkClassifier(gv.Walk(max_length=3, refine=0), kernel="linear").fit(batch[:200], faulty[:200])
accuracy = (classifier.predict(batch[200:]) == faulty[200:]).mean()
print(f"accuracy of the classifier on 100 other circuits: {accuracy:.3f}")
which = 200 + int(np.flatnonzero(faulty[200:])[0])
why = classifier.explain(batch[which], of=True)[0]
for each in why.sequences[:6]:
    print(f"{each.share:+.2f}  {each.spelled}")

# %%
why

# %%
# A picture of all graphs
# -----------------------
# Two principal components of the features. ``gv.explore(batch, faulty, "page.html")`` makes an interactive page.

features = gv.RandomWalkFeatures(
    gv.Geometric("auto"), gv.Walk(max_length=3, start="ones", stop="ones"), method="sequences"
)
X = features.fit_transform(batch).toarray()
X -= X.mean(axis=0)
left, size, _ = np.linalg.svd(X, full_matrices=False)
figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
for value, name in ((False, "sound"), (True, "faulty")):
    axes.scatter(*(left[:, :2] * size[:2])[faulty == value].T, s=16, label=name)
axes.set(xlabel="first component", ylabel="second component")
axes.legend()
plt.show()

# %%
# What next
# ---------
# * :doc:`/graphs`: igraph, PyTorch Geometric, SciPy matrices, arrays, tables and files.
# * :doc:`/methods`: which method for which graphs.
# * :doc:`/structure`: graphs without labels.
