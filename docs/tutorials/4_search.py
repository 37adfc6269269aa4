"""
Search a library
================

You get the most similar graphs of a library, with their similarities, in milliseconds per query.

.. code-block:: console

   $ pip install "gvoys[chem,report]"

The library is a list of 5000 molecules that comes with RDKit.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from rdkit import RDConfig
from rdkit.Chem import Draw, MolFromSmiles, rdFingerprintGenerator
from rdkit.DataStructs import BulkTanimotoSimilarity

import gvoys as gv

library = gv.io.open_graphs(Path(RDConfig.RDDataDir, "NCI", "first_5K.smi")).read()
index = gv.Index().add(library.batch, ids=library.ids)
print(f"{len(index):,} molecules, {len(library.skipped)} rows were skipped; the first: {library.skipped[0].reason}")

# %%
# Ask
# ---
# Which molecules are like these three drugs? Caffeine is in the library itself, and finds itself first:

names = {
    "aspirin": "CC(=O)Oc1ccccc1C(=O)O",
    "ephedrine": "CC(NC)C(O)c1ccccc1",
    "caffeine": "Cn1cnc2c1c(=O)n(C)c(=O)n2C",
}
hits = index.nearest(gv.from_smiles(list(names.values())), k=4)
for name, ids, similarities in zip(names, hits.ids, hits.similarities):
    print(f"{name:10}", "  ".join(f"{each} ({value:.2f})" for each, value in zip(ids, similarities)))

# %%
# Look at the hits
# ----------------
# The first column has the queries, and the numbers are similarities: 1 for the same graph, 0 where no label is shared.

smiles = dict(line.split()[::-1] for line in Path(RDConfig.RDDataDir, "NCI", "first_5K.smi").read_text().splitlines())
shown, legends = [], []
for name, ids, similarities in zip(names, hits.ids, hits.similarities):
    shown += [MolFromSmiles(names[name]), *(MolFromSmiles(smiles[each]) for each in ids)]
    legends += [name, *(f"{value:.2f}" for value in similarities)]
figure, axes = plt.subplots(figsize=(10, 5.4), layout="constrained")
axes.imshow(Draw.MolsToGridImage(shown, molsPerRow=5, subImgSize=(300, 270), legends=legends))
axes.set_axis_off()
plt.show()

# %%
# Beside fingerprints
# -------------------
# Chemists compare molecules by the Tanimoto similarity of ECFP4 fingerprints. The two measures agree on very similar
# molecules, and less on the rest: a fingerprint records whether a fragment occurs, walks count how often.

fingerprints = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=2048)
some = library.ids[:1500]
everything = [fingerprints.GetFingerprint(MolFromSmiles(smiles[each])) for each in some]
query = fingerprints.GetFingerprint(MolFromSmiles(names["ephedrine"]))
tanimoto = np.array(BulkTanimotoSimilarity(query, everything))
ours = gv.Index().add(library.batch[:1500], ids=some).nearest(gv.from_smiles([names["ephedrine"]]), k=1500)
place = {each: k for k, each in enumerate(some)}
walks = np.empty(len(some))
walks[[place[each] for each in ours.ids[0]]] = ours.similarities[0]

figure, axes = plt.subplots(figsize=(5.5, 4.5), layout="constrained")
axes.scatter(tanimoto, walks, s=8, alpha=0.4, color="#2f5f9f", linewidths=0)
axes.set(xlabel="Tanimoto similarity of ECFP4", ylabel="similarity by walks", title="1500 molecules and ephedrine")
plt.show()

# %%
# What next
# ---------
# * :doc:`/search`: indexes in files, libraries of millions, search by a model of yours.
# * ``gvoys search library.smi queries.smi -k 10 -o hits.csv --index library.index`` does the same on the command line.
