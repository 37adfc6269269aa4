"""
Explain a prediction
====================

You get the share of every atom, bond and walk length in a prediction. The shares of the atoms add up to the prediction.

.. code-block:: console

   $ pip install "gvoys[chem,report]"

The model predicts how well a molecule mixes with water, by its hydration free energy: the more negative, the better.
"""

import matplotlib.pyplot as plt
import numpy as np

import gvoys as gv

graphs, energy = gv.datasets.freesolv()
model = gv.RandomWalkRegressor().fit(graphs, energy)

names = {
    "4-nitroaniline": "Nc1ccc(cc1)[N+](=O)[O-]",
    "octan-1-ol": "CCCCCCCCO",
    "ibuprofen": "CC(C)Cc1ccc(cc1)C(C)C(=O)O",
}
molecules = list(names.values())  # graphs would do, too; of SMILES the structures are drawn
explained = model.explain(molecules)

# %%
# Octanol is a chain of eight carbons with a hydroxyl group at its end. Its atoms have these shares, in kcal/mol:

why = explained[1]
print(f"prediction {why.decision:.2f} = {why.baseline:.2f} (an empty graph) {why.nodes.sum():+.2f} (its atoms)")
why

# %%
# Orange atoms lower the energy, blue ones raise it. The hydroxyl group lowers it and the chain raises it, as a chemist
# would expect. Below the molecule you see where the label sequences with the largest shares occur. In a notebook the
# last line of a cell draws the picture; ``why.save("why.svg")`` writes it to a file.
#
# Ibuprofen has an acid group that likes water, and two greasy ends:

explained[2]

# %%
# Nitroaniline has two groups that like water, one at each end of the ring:

explained[0]

# %%
# How far do you have to look?
# ----------------------------
# Shares by walk length: length 0 stands for the atoms alone, length 1 for bonds, and longer walks for larger
# surroundings.

figure, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
places = np.arange(explained[0].lengths.shape[1])
for k, (name, each) in enumerate(zip(names, explained)):
    axes.bar(places + 0.27 * (k - 1), each.lengths.sum(axis=0), width=0.25, label=name)
axes.axhline(0, color="0.5", linewidth=0.8)
axes.set(xlabel="walk length", ylabel="share, kcal/mol", xticks=places)
axes.legend()
plt.show()

# %%
# The label sequences with the largest shares. Atoms are compared by their element alone ("C"), by element and hydrogens
# ("CH3"), with their neighbours ("C(–C)(–O)"), and by degree and rings ("fine").

for each in explained[1].sequences[:5]:
    print(f"{each.share:+.2f}  {each}")

# %%
# A second opinion
# ----------------
# How does the prediction change if an atom is deleted? This takes longer, and the numbers do not add up, but they
# should point the same way.

deleted = model.explain_by_deletion(molecules)
figure, axes = plt.subplots(1, 3, figsize=(10, 3.4), layout="constrained")
for panel, name, each, other in zip(axes, names, explained, deleted):
    panel.scatter(each.nodes, np.asarray(getattr(other, "nodes", other)), color="#2f5f9f")
    panel.axhline(0, color="0.8", zorder=0)
    panel.axvline(0, color="0.8", zorder=0)
    panel.set(title=name, xlabel="share of an atom", ylabel="change by deleting it" if panel is axes[0] else "")
plt.show()

# %%
# What next
# ---------
# * :doc:`/explain`: what a share is, how good explanations are, and when not to trust them.
# * ``gvoys explain MODEL DATA -o why.html`` draws a whole table on one page.
