"""
Classify molecules
==================

You get a classifier for graphs in three lines, a fair estimate of its accuracy, and a look at which walks it uses.

.. code-block:: console

   $ pip install "gvoys[peers,report]"

The data are 188 nitro compounds; the question is which of them are mutagenic. The dataset, MUTAG, comes with GraKeL.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import RocCurveDisplay
from sklearn.model_selection import cross_val_predict

import gvoys as gv

graphs, y = gv.datasets.load_tu("MUTAG")
graphs

# %%
# Nodes are atoms, edges are bonds. Both have labels, which the classifier uses by itself.
#
# Fit and predict
# ---------------
# `fit` chooses everything else by cross-validation on the graphs that you pass: the number of Weisfeiler–Lehman
# iterations, the base kernel, and C.

order = np.random.default_rng(0).permutation(len(graphs))
train, test = order[:150], order[150:]
model = gv.RandomWalkClassifier().fit(graphs[train], y[train])
accuracy = (model.predict(graphs[test]) == y[test]).mean()
print(f"accuracy: {accuracy:.0%} on {len(test)} molecules that the model has not seen")
print(f"chosen: {model.chosen_.kernel} kernel, {model.chosen_.refine} iterations, C = {model.chosen_.C:g}")

# %%
# How sure is it?
# ---------------
# `predict_proba` gives probabilities. They are calibrated on graphs that the model was not trained on. In
# five-fold cross-validation each molecule gets a probability from a model that was not trained on it:

probabilities = cross_val_predict(gv.RandomWalkClassifier(), graphs, y, cv=5, method="predict_proba")[:, 1]

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
RocCurveDisplay.from_predictions(y, probabilities, ax=left, name="gvoys", plot_chance_level=True)
left.set_title("five folds")
for value, name in ((1, "mutagenic"), (-1, "not mutagenic")):
    right.hist(probabilities[y == value], bins=np.linspace(0, 1, 21), alpha=0.7, label=name)
right.set(xlabel="probability of being mutagenic", ylabel="molecules")
right.legend()
plt.show()

# %%
# Which walks matter?
# -------------------
# Each cell is a kernel of its own: walks of one length, after a number of Weisfeiler–Lehman iterations. The colour says
# how well that kernel alone agrees with the classes.

figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
image = axes.imshow(model.contributions_, cmap="viridis", vmin=0, aspect="auto")
axes.set(xlabel="walk length", ylabel="Weisfeiler–Lehman iteration", yticks=range(len(model.contributions_)))
figure.colorbar(image, label="alignment with the classes")
plt.show()

# %%
# What next
# ---------
# * :doc:`/classify`: several classes, weights of classes, large collections, all options.
# * :doc:`3_explain`: which atoms a prediction rests on.
# * :doc:`/evaluate`: the same comparison beside baselines, as one command: ``gvoys evaluate MUTAG``.
