"""Draw the pictures of README and docs that no tutorial makes: python docs/draw_pictures.py writes docs/pictures.

The panels are of the same kind as those of the tutorials 2, 3 and 5.
"""

from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.image import AxesImage

import gvoys as gv
from gvoys.drawing.attribution_drawing import draw_picture
from gvoys.drawing.picture import picture_of

PICTURES = Path(__file__).parent / "pictures"
SIDE = 60  # of the network of streets
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
    why = model.explain([IBUPROFEN])[0]
    draw_picture(axes, picture_of(why), why, points=0.4)
    middle, half = np.mean(axes.get_ylim()), 0.4 * np.ptp(axes.get_xlim())
    axes.set_ylim(middle + half, middle - half)  # as high as the panels beside it
    total = f"{why.decision:.1f} = {why.baseline:.1f} {why.nodes.sum():+.1f} by its atoms"
    axes.set_title(f"Explain, atom by atom\n{total}")


def measured_streets() -> tuple[gv.GraphBatch, np.ndarray, np.ndarray]:
    """A network of streets with a river and two bridges, the crossings that were measured, and the values there."""
    rng = np.random.default_rng(0)
    number = np.arange(SIDE * SIDE).reshape(SIDE, SIDE)
    along = np.stack([number[:, :-1], number[:, 1:]], axis=-1).reshape(-1, 2)
    across = np.stack([number[:-1], number[1:]], axis=-1)
    streets = np.concatenate([along, np.delete(across, 29, axis=0).reshape(-1, 2)])
    edges = np.concatenate([streets[rng.random(len(streets)) > 0.1], across[29, [12, 47]]])
    values = rng.normal(size=SIDE * SIDE) * (rng.random(SIDE * SIDE) < 0.01)
    degree = np.maximum(np.bincount(edges.ravel(), minlength=SIDE * SIDE), 1)
    for _ in range(120):
        values = 0.5 * values + 0.5 * np.bincount(edges.ravel(), values[edges[:, ::-1].ravel()], SIDE * SIDE) / degree
    seen = rng.choice(SIDE * SIDE, 150, replace=False)
    return gv.GraphBatch.from_arrays(edges=edges, graph_sizes=[SIDE * SIDE]), seen, values[seen] / values.std()


def draw_map(axes: Axes, values: np.ndarray, seen: np.ndarray, title: str, **colours: Any) -> AxesImage:
    """Values of all crossings, and which were measured."""
    image = axes.imshow(values.reshape(SIDE, SIDE), **colours)
    axes.plot(seen % SIDE, seen // SIDE, "k.", markersize=2)
    axes.axhline(29.5, color="0.2", linewidth=1, linestyle=":")
    axes.set(title=title, xticks=[], yticks=[])
    return image


def both_signs(values: np.ndarray) -> dict[str, Any]:
    """Colours in which 0 is white."""
    return {"cmap": "RdBu_r", "vmin": -abs(values).max(), "vmax": abs(values).max()}


def draw_first() -> None:
    """Predictions, shares and a map."""
    graphs, energy = gv.datasets.freesolv()
    model = gv.RandomWalkRegressor().fit(graphs[:500], energy[:500])
    figure, panels = plt.subplots(1, 3, figsize=(12, 4), layout="constrained", width_ratios=(1, 1.15, 1))
    draw_predictions(panels[0], model, graphs[500:], energy[500:])
    draw_shares(panels[1], model)
    graph, seen, values = measured_streets()
    mean = gv.NodeRegressor().fit(graph, seen, values).predict()
    draw_map(panels[2], mean, seen, "One large graph", **both_signs(mean))
    figure.savefig(PICTURES / "first.png", dpi=110, facecolor="white")


def draw_nodes() -> None:
    """Two maps: predictions, and how sure they are."""
    graph, seen, values = measured_streets()
    mean, std = gv.NodeRegressor().fit(graph, seen, values).predict(return_std=True)
    figure, panels = plt.subplots(1, 2, figsize=(9.5, 4.2), layout="constrained")
    for panel, shown, title in zip(panels, (mean, std), ("predicted", "standard deviation"), strict=True):
        colours = both_signs(mean) if shown is mean else {"cmap": "viridis"}
        figure.colorbar(draw_map(panel, shown, seen, title, **colours), ax=panel, shrink=0.85)
    figure.savefig(PICTURES / "nodes.png", dpi=110, facecolor="white")


if __name__ == "__main__":
    draw_first()
    draw_nodes()
