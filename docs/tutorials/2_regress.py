"""
Predict a number, with an interval
==================================

You get a standard deviation for each prediction, and 95 % intervals that contain about 95 % of new values.

.. code-block:: console

   $ pip install "gvoys[report]"

The data are the hydration free energies of 642 small molecules, FreeSolv, which comes with gvoys. An interval tells you
when to trust a prediction, and which molecule to measure next.
"""

import matplotlib.pyplot as plt
import numpy as np

import gvoys as gv

graphs, energy = gv.datasets.freesolv()
order = np.random.default_rng(0).permutation(len(graphs))
train, test = order[:400], order[400:]

model = gv.RandomWalkRegressor().fit(graphs[train], energy[train])
mean, std = model.predict(graphs[test], return_std=True)
error = mean - energy[test]
print(f"root mean square error {np.sqrt((error**2).mean()):.2f} kcal/mol; the energies spread by {energy.std():.2f}")

# %%
# The model is a Gaussian process. `fit` learns from the data how much each kind of walk counts, and how large the noise
# of a measurement is.
#
# Predictions and intervals
# -------------------------

inside = np.abs(error) <= 1.96 * std
figure, axes = plt.subplots(figsize=(6, 5.5), layout="constrained")
bars = {"linestyle": "none", "marker": "o", "markersize": 4, "elinewidth": 0.8}
for chosen, colour, name in ((inside, "#2f5f9f", "inside its interval"), (~inside, "#d1632a", "outside")):
    axes.errorbar(
        energy[test][chosen], mean[chosen], 1.96 * std[chosen], color=colour, label=f"{name}: {chosen.sum()}", **bars
    )
low, high = energy.min() - 1, energy.max() + 1
axes.plot([low, high], [low, high], color="0.6", zorder=0)
axes.set(xlabel="measured, kcal/mol", ylabel="predicted, with its 95 % interval", title="242 molecules held out")
axes.legend()
plt.show()

# %%
# Do the deviations mean something?
# ---------------------------------
# If they do, then molecules with small deviations have small errors. Put the molecules into an order, the surest first,
# and keep only the first half: the error should fall.

surest = np.argsort(std)
kept = np.arange(10, len(test) + 1)
rms = [np.sqrt((error[surest[:n]] ** 2).mean()) for n in kept]
print(f"{inside.mean():.1%} of the molecules are inside their 95 % interval")
print(f"error of the surest half: {rms[len(test) // 2 - 10]:.2f} kcal/mol, of all: {rms[-1]:.2f}")

figure, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
axes.plot(kept / len(test), rms, color="#2f5f9f")
axes.set(xlabel="share of molecules kept, the surest first", ylabel="error, kcal/mol", ylim=(0, None))
plt.show()

# %%
# Which molecule to measure next?
# -------------------------------
# Those with the largest deviations are where the model knows least. Start with 20 molecules, and choose the next ones
# by their deviation, or at random, five times each:


def learn(choose, seed, start=20, steps=4, batch=20):
    """Errors on the molecules held out, while the training set grows."""
    random = np.random.default_rng(seed)
    known, found = list(random.choice(train, start, replace=False)), []
    for _ in range(steps + 1):
        grown = gv.RandomWalkRegressor(gv.Walk(max_length=2)).fit(graphs[known], energy[known])
        found.append(np.sqrt(((grown.predict(graphs[test]) - energy[test]) ** 2).mean()))
        left = np.setdiff1d(train, known)
        known += list(choose(left, grown.predict(graphs[left], return_std=True)[1], batch, random))
    return found


def by_deviation(left, std, batch, random):
    return left[np.argsort(-std)[:batch]]


def at_random(left, std, batch, random):
    return random.choice(left, batch, replace=False)


measured = np.arange(20, 101, 20)
figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
for choose, colour, name in ((by_deviation, "#2f5f9f", "the least sure next"), (at_random, "0.6", "at random")):
    errors = np.array([learn(choose, seed) for seed in range(5)])
    axes.plot(measured, errors.mean(axis=0), marker="o", color=colour, label=name)
    axes.fill_between(measured, errors.min(axis=0), errors.max(axis=0), color=colour, alpha=0.15, linewidth=0)
axes.set(xlabel="molecules measured", ylabel="error, kcal/mol", ylim=(0, None))
axes.legend()
plt.show()

# %%
# What next
# ---------
# * :doc:`/regress`: several targets, the kernel, many thousands of molecules.
# * :doc:`/newcomer`: the same from a table, on the command line.
# * :doc:`/learning`: how the model works, and how good it is beside others.
