"""What is there for GPUs alone; most users need no more than ``device="cuda"``.

Importing this module imports numba.cuda, and CuPy where it is installed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys._kernels.arguments import Ends
from gvoys._kernels.cpu.sketch.lanes import WIDTH
from gvoys._kernels.cuda import GpuSketch, check_cuda, compute_moments, empty_on_host
from gvoys.errors import ParameterError, UnsupportedError
from gvoys.graphs.batch import GraphBatch
from gvoys.io.convert import as_batch
from gvoys.walks import voyagers
from gvoys.walks.checks import check_count, check_scale, check_seed
from gvoys.walks.voyagers import WalkConfig
from gvoys.walks.walk import Walk

__all__ = [
    "GpuSketch",
    "check_cuda",
    "compute_moments",
    "compute_voyagers",
    "compute_walks",
    "empty_on_host",
    "sketch_on_device",
]


def sketch_on_device(
    graphs: Any,
    max_length: int = 8,
    n_components: int = 512,
    *,
    start: Any = "uniform",
    stop: Any = "uniform",
    labels: str | None = "auto",
    random_state: int = 0,
    scale: float = 1.0,
) -> Any:
    """Sketch of labelled graphs as by ``profiles(graphs, "sketch", …)``, left on the GPU.

    Parameters
    ----------
    graphs : GraphBatch or list of graphs
        The graphs, as `as_batch` takes them.
    max_length : int, default=8
        Longest walk that is counted, at least 0.
    n_components : int, default=512
        Width of the sketch, a multiple of 128.
    start : {"uniform", "ones"} or array-like, default="uniform"
        Weight of each node as the start of a walk: 1 / n, 1, or one number per node of all graphs.
    stop : {"uniform", "ones"} or array-like, default="uniform"
        Weight of each node as the end of a walk, like `start`.
    labels : {"auto", "node"} or None, default="auto"
        Labels that two walks must share; "auto" uses node labels if the graphs have them.
    random_state : int, default=0
        Seed; the result is a pure function of it, the graphs and the parameters.
    scale : float, default=1.0
        Divide adjacency matrices by this number.

    Returns
    -------
    device array of shape (n_graphs, max_length + 1, n_components)
        The sketch. It has ``__cuda_array_interface__``: ``cupy.asarray(made)`` and
        ``torch.as_tensor(made, device="cuda")`` share its memory.

    Notes
    -----
    For the other options of `profiles` use ``profiles(…, device="cuda")``, which copies the result to the host.
    """
    batch = as_batch(graphs)
    walk = Walk.on(batch, max_length, labels, start=start, stop=stop)
    if walk.edge_labels:
        raise UnsupportedError("sketch_on_device cannot use edge labels; use profiles(…, device='cuda')")
    if check_count(n_components, "n_components") % WIDTH:
        raise ParameterError(f"n_components must be a multiple of {WIDTH} here, not {n_components}")
    check_cuda()
    factors = np.full(len(batch), 1.0 / check_scale(scale))
    ends = Ends(*(array.astype(np.float32) for array in (*walk.ends(batch), factors)))
    work = GpuSketch(batch, walk, ends, check_seed(random_state))
    return work.plain_on_device((len(batch), walk.n_lengths, n_components), np.float32(1.0 / np.sqrt(n_components)))


def compute_walks(
    batch: GraphBatch, walk: Walk, scales: NDArray[np.float64], config: WalkConfig
) -> NDArray[np.float64]:
    """Profiles by one-sided walks, every length kept apart, by the GPU.

    Parameters
    ----------
    batch : GraphBatch
        The graphs.
    walk : Walk
        What is walked.
    scales : ndarray of shape (n_graphs,)
        Number that each graph's adjacency matrix is divided by.
    config : WalkConfig
        How many walkers are sampled, and what they share.

    Returns
    -------
    ndarray of shape (n_graphs, n_lengths, n_components)
        The profiles.
    """
    return voyagers.compute_walks(batch, walk, scales, config, device="cuda")


def compute_voyagers(
    batch: GraphBatch,
    walk: Walk,
    scales: NDArray[np.float64],
    config: WalkConfig,
    deposits: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Features of Algorithm 1, by the GPU.

    Parameters
    ----------
    batch : GraphBatch
        The graphs.
    walk : Walk
        Labels, start and stop weights.
    scales : ndarray of shape (n_graphs,)
        Number that each graph's adjacency matrix is divided by.
    config : WalkConfig
        How many walkers are sampled, and what they share.
    deposits : ndarray of shape (n_lengths,)
        The factors sqrt(f_l) * scale^l up to the longest walk.

    Returns
    -------
    ndarray of shape (n_graphs, n_components)
        The features.
    """
    return voyagers.compute_voyagers(batch, walk, scales, config, deposits, device="cuda")
