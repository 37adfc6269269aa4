"""Sketches and Gram matrices that stay on a GPU; most users need no more than ``device="cuda"``.

Importing this module imports numba.cuda, and CuPy where it is installed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys._compiled.cuda.device import check_cuda
from gvoys.defaults import KERNEL
from gvoys.errors import UnsupportedError
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.degrees import max_degree
from gvoys.io.convert import as_batch
from gvoys.series import Series, check_series
from gvoys.walks.checks import check_count, check_scale, check_seed
from gvoys.walks.method import check_supports
from gvoys.walks.resident import ResidentProfiles
from gvoys.walks.sketch import Sketch
from gvoys.walks.walk import Walk


def sketch_on_device(
    graphs: Any,
    max_length: int = 8,
    n_components: int = 512,
    *,
    labels: str | None = "auto",
    random_state: int = 0,
    scale: float = 1.0,
    **options: Any,
) -> Any:
    """Sketch of graphs as by ``profiles(graphs, "sketch", …)``, left on the GPU.

    Parameters
    ----------
    graphs : GraphBatch or list of graphs
        The graphs, as `as_batch` takes them.
    max_length : int, default=8
        Longest walk that is counted, at least 0.
    n_components : int, default=512
        Width of the sketch.
    labels : {"auto", "node", "edge", "both"} or None, default="auto"
        Labels that two walks must share; "auto" uses node labels if the graphs have them.
    random_state : int, default=0
        Seed; the result is a pure function of it, the graphs and the parameters.
    scale : float, default=1.0
        Divide adjacency matrices by this number.
    **options
        `start`, `stop`, `refine`, `backtrack` and `attribute_bandwidth`, as `profiles` takes them.

    Returns
    -------
    cupy.ndarray of shape (n_graphs, max_length + 1, width)
        The sketch. Other libraries share its memory by DLPack: ``torch.from_dlpack(sketch)``,
        ``jax.dlpack.from_dlpack(sketch)``. Where CuPy is not installed, it is a device array of numba-cuda.
    """
    batch, walk, method = _prepare(graphs, max_length, n_components, labels, random_state, options)
    return method.compute_on_device(batch, walk, np.full(len(batch), check_scale(scale)))


def gram(
    graphs: Any,
    series: Series,
    max_length: int = KERNEL.max_length,
    n_components: int = KERNEL.n_components,
    *,
    labels: str | None = "auto",
    random_state: int = 0,
    **options: Any,
) -> NDArray[np.float32]:
    """Gram matrix of sketches in single precision: graphs are copied to the GPU, and nothing but the matrix back.

    `RandomWalkKernel` with ``device="cuda"`` multiplies in double precision, and gives standard errors too.

    Parameters
    ----------
    graphs : GraphBatch or list of graphs
        The graphs, as `as_batch` takes them.
    series : Geometric, Exponential or Coefficients
        The weights of the walk lengths.
    max_length : int, default=8
        Longest walk that is counted, at least 0.
    n_components : int, default=512
        Width of the sketch of one walk length and iteration.
    labels : {"auto", "node", "edge", "both"} or None, default="auto"
        Labels that two walks must share; "auto" uses node labels if the graphs have them.
    random_state : int, default=0
        Seed; the same bits are drawn as on the CPU.
    **options
        `start`, `stop`, `refine`, `backtrack` and `attribute_bandwidth`, as `profiles` takes them.

    Returns
    -------
    ndarray of shape (n_graphs, n_graphs)
        The kernel values, in pinned memory.

    Raises
    ------
    UnsupportedError
        If CuPy is not installed, or the sketch does not fit into the memory of the GPU.
    """
    batch, walk, method = _prepare(graphs, max_length, n_components, labels, random_state, options)
    check_series(series, walk.n_iterations)
    profiles = method.profile(batch, walk)
    if not isinstance(profiles, ResidentProfiles):
        raise UnsupportedError(
            "gvoys.gpu.gram needs CuPy, and memory on the GPU for three times the sketch; use RandomWalkKernel, or "
            'pip install "gvoys[gpu]"'
        )
    return profiles.single_gram(series.resolved(lambda: max_degree(batch)))


def _prepare(
    graphs: Any, max_length: int, n_components: int, labels: str | None, seed: int, options: dict[str, Any]
) -> tuple[GraphBatch, Walk, Sketch]:
    check_cuda()
    batch = as_batch(graphs)
    walk = Walk.on(batch, max_length, labels, **options)
    method = Sketch(check_count(n_components, "n_components"), check_seed(seed), "cuda")
    check_supports(method, walk, batch)
    return batch, walk, method
