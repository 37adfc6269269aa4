"""
A map of one large graph
========================

You measured something at some nodes of one graph, and get a prediction for all the others, with its uncertainty.

.. code-block:: console

   $ pip install "gvoys[report]"

The graph is a network of streets: a grid with a river through it and two bridges, of which a tenth of the streets,
chosen at random, is closed. What is near along the streets need not be near as the crow flies.
"""

import matplotlib.pyplot as plt
import numpy as np

import gvoys as gv

# %%
# The network
# -----------
# `GraphBatch.from_arrays` makes a graph of a list of edges, without any other package.

side = 60
rng = np.random.default_rng(0)
number = np.arange(side * side).reshape(side, side)
along = np.stack([number[:, :-1], number[:, 1:]], axis=-1).reshape(-1, 2)
across = np.stack([number[:-1], number[1:]], axis=-1)  # across[29] lead over the river
bridges = across[29, [12, 47]]
streets = np.concatenate([along, np.delete(across, 29, axis=0).reshape(-1, 2)])
edges = np.concatenate([streets[rng.random(len(streets)) > 0.1], bridges])
graph = gv.GraphBatch.from_arrays(edges=edges, graph_sizes=[side * side])
graph

# %%
# Something that spreads along streets: a mixture of a few sources, each smoothed by the network, and noise. We measure
# it at 150 of the 3600 crossings.

sources = np.zeros(side * side)
sources[rng.choice(side * side, 24, replace=False)] = rng.normal(size=24)
smooth = sources
degree = np.maximum(np.bincount(edges.ravel(), minlength=side * side), 1)
for _ in range(120):
    around = np.bincount(edges.ravel(), smooth[edges[:, ::-1].ravel()], minlength=side * side)
    smooth = 0.5 * smooth + 0.5 * around / degree
truth = smooth / smooth.std()
seen = rng.choice(side * side, 150, replace=False)
measured = truth[seen] + 0.1 * rng.normal(size=len(seen))

# %%
# Fit and predict
# ---------------
# The model learns from the values how far they reach along the streets, and how noisy they are.

model = gv.NodeRegressor().fit(graph, seen, measured)
mean, std = model.predict(return_std=True)
print(f"noise {model.noise_:.2f} (it was 0.10)")
hidden = np.setdiff1d(np.arange(side * side), seen)
error = mean[hidden] - truth[hidden]
print(f"error at {len(hidden)} crossings: {np.sqrt((error**2).mean()):.2f}; the values spread by {truth.std():.2f}")
print(f"inside the 95 % interval: {(np.abs(error) <= 1.96 * std[hidden]).mean():.0%}")

# %%
# The map
# -------

figure, axes = plt.subplots(1, 3, figsize=(12, 4.2), layout="constrained")
limit = np.abs(truth).max()
for panel, values, title in zip(axes, (truth, mean, std), ("the truth", "predicted", "standard deviation")):
    colours = {"cmap": "magma", "vmin": 0} if values is std else {"cmap": "RdBu_r", "vmin": -limit, "vmax": limit}
    image = panel.imshow(values.reshape(side, side), **colours)
    figure.colorbar(image, ax=panel, shrink=0.8)
    panel.axhline(29.5, color="0.3", linewidth=1, linestyle=":")
    panel.set(title=title, xticks=[], yticks=[])
axes[1].plot(seen % side, seen // side, "k.", markersize=3)
plt.show()

# %%
# Values do not leak through the river, the dotted line, except at the bridges. Deviations are small near a measurement,
# and large in corners that no measured street leads to.
#
# Where to measure next?
# ----------------------

next_node = int(np.argmax(std))
again = gv.NodeRegressor().fit(graph, [*seen, next_node], [*measured, truth[next_node]])
after = again.predict(return_std=True)[1]
print(f"crossing {next_node}: standard deviation {std[next_node]:.2f}, and {after[next_node]:.2f} once it is measured")

# %%
# What next
# ---------
# :doc:`/nodes` has kernels of nodes, classes, other ways to read a graph, and graphs of millions of nodes.
