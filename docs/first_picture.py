"""Draw the first picture of the README: python docs/first_picture.py writes docs/pictures/first.png.

Its three panels are results of the tutorials 2, 3 and 5, on one picture.
"""

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from rdkit.Chem import AllChem, MolFromSmiles

import gvoys as gv

PICTURE = Path(__file__).parent / "pictures" / "first.png"
BLUE, ORANGE = "#2f5f9f", "#d1632a"
IBUPROFEN = "CC(C)Cc1ccc(cc1)C(C)C(=O)O"


def draw_predictions(axes: Axes, model: gv.RandomWalkRegressor, graphs: gv.GraphBatch, energy: np.ndarray) -> None:
    """Predicted against measured, with intervals."""
    mean, std = model.predict(graphs, return_std=True)
    inside = abs(mean - energy) <= 1.96 * std
    for chosen, colour in ((inside, BLUE), (~inside, ORANGE)):
        axes.errorbar(
            energy[chosen], mean[chosen], 1.96 * std[chosen], fmt="o", markersize=3, elinewidth=0.7, color=colour
        )
    ends = [energy.min() - 1, energy.max() + 1]
    axes.plot(ends, ends, color="0.7", zorder=0)
    axes.set(xlabel="measured, kcal/mol", ylabel="predicted", title="Predict, with intervals")


def draw_shares(axes: Axes, model: gv.RandomWalkRegressor) -> None:
    """Atoms in the colours of their shares."""
    molecule = MolFromSmiles(IBUPROFEN)
    AllChem.Compute2DCoords(molecule)
    xy = molecule.GetConformer().GetPositions()[:, :2]
    why = model.explain(gv.from_smiles([IBUPROFEN]))[0]
    for bond in molecule.GetBonds():
        ends = [bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()]
        axes.plot(*xy[ends].T, color="0.45", linewidth=3 if bond.GetBondTypeAsDouble() > 1 else 1.6, zorder=1)
    limit = abs(why.nodes).max()
    axes.scatter(*xy.T, c=why.nodes, cmap="RdBu_r", vmin=-limit, vmax=limit, s=330, edgecolors="0.4", zorder=2)
    for atom, place in zip(molecule.GetAtoms(), xy, strict=True):
        if atom.GetSymbol() != "C":
            axes.annotate(atom.GetSymbol(), place, ha="center", va="center", fontsize=10, zorder=3)
    axes.set_aspect("equal")
    axes.set_axis_off()
    axes.margins(0.12)
    total = f"{why.decision:.1f} = {why.baseline:.1f} {why.nodes.sum():+.1f} by its atoms"
    axes.set_title(f"Explain, atom by atom\n{total}")


def draw_map(axes: Axes, side: int = 60) -> None:
    """Predictions on a network of streets with a river and two bridges."""
    rng = np.random.default_rng(0)
    number = np.arange(side * side).reshape(side, side)
    across = np.stack([number[:-1], number[1:]], axis=-1)
    bridges = across[29, [12, 47]]
    streets = np.concatenate([np.stack([number[:, :-1], number[:, 1:]], axis=-1).reshape(-1, 2)])
    others = np.delete(across, 29, axis=0).reshape(-1, 2)
    streets = np.concatenate([streets, others])
    edges = np.concatenate([streets[rng.random(len(streets)) > 0.1], bridges])
    truth = rng.normal(size=side * side) * (rng.random(side * side) < 0.01)
    degree = np.maximum(np.bincount(edges.ravel(), minlength=side * side), 1)
    for _ in range(120):
        truth = 0.5 * truth + 0.5 * np.bincount(edges.ravel(), truth[edges[:, ::-1].ravel()], side * side) / degree
    seen = rng.choice(side * side, 150, replace=False)
    graph = gv.GraphBatch.from_arrays(edges=edges, graph_sizes=[side * side])
    mean = gv.NodeRegressor().fit(graph, seen, truth[seen] / truth.std()).predict()
    limit = abs(mean).max()
    axes.imshow(mean.reshape(side, side), cmap="RdBu_r", vmin=-limit, vmax=limit)
    axes.plot(seen % side, seen // side, "k.", markersize=2)
    axes.axhline(29.5, color="0.2", linewidth=1, linestyle=":")
    axes.set(title="One large graph", xticks=[], yticks=[])


def main() -> None:
    """Draw and write."""
    graphs, energy = gv.datasets.freesolv()
    model = gv.RandomWalkRegressor().fit(graphs[:500], energy[:500])
    figure, panels = plt.subplots(1, 3, figsize=(12, 4), layout="constrained", width_ratios=(1, 1.15, 1))
    draw_predictions(panels[0], model, graphs[500:], energy[500:])
    draw_shares(panels[1], model)
    draw_map(panels[2])
    figure.savefig(PICTURE, dpi=110, facecolor="white")


if __name__ == "__main__":
    main()
