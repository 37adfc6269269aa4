"""Sketches and Gram matrices that stay on a GPU; most users need no more than ``device="cuda"``.

Importing this module imports numba.cuda, and CuPy where it is installed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys._compiled.cuda.device import check_cuda
from gvoys.errors import UnsupportedError
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.spectrum import max_degree
from gvoys.io.convert import as_batch
from gvoys.series import Series, check_series
from gvoys.walks.checks import check_count, check_scale, check_seed
from gvoys.walks.dense import ResidentProfiles
from gvoys.walks.sketch import N_COMPONENTS, Sketch
from gvoys.walks.walk import Walk, check_walk, takes_walk


@takes_walk()
def sketch_on_device(
    graphs: Any,
    walk: Walk = Walk(),  # noqa: B008 (immutable)
    n_components: int = N_COMPONENTS,
    *,
    random_state: int = 0,
    scale: float = 1.0,
) -> Any:
    """Sketch of graphs as by ``profiles(graphs, walk, "sketch", …)``, left on the GPU.

    Parameters
    ----------
    graphs : GraphBatch or list of graphs
        The graphs, as `as_batch` takes them.
    walk : Walk, default=Walk()
        What is counted; `max_length` is a number here.
    n_components : int, default=512
        Width of the sketch.
    random_state : int, default=0
        Seed; the result is a pure function of it, the graphs and the parameters.
    scale : float, default=1.0
        Divide adjacency matrices by this number.

    Returns
    -------
    cupy.ndarray of shape (n_graphs, max_length + 1, width)
        The sketch. Other libraries share its memory by DLPack: ``torch.from_dlpack(sketch)``,
        ``jax.dlpack.from_dlpack(sketch)``. Where CuPy is not installed, it is a device array of numba-cuda.
    """
    batch, method = _chosen(graphs, n_components, random_state)
    return method.compute_on_device(batch, check_walk(walk), np.full(len(batch), check_scale(scale)))


@takes_walk()
def gram(
    graphs: Any,
    series: Series,
    walk: Walk = Walk(),  # noqa: B008 (immutable)
    n_components: int = N_COMPONENTS,
    *,
    random_state: int = 0,
) -> NDArray[np.float32]:
    """Gram matrix of sketches in single precision: graphs are copied to the GPU, and nothing but the matrix back.

    `RandomWalkKernel` with ``device="cuda"`` multiplies in double precision, and gives standard errors too.

    Parameters
    ----------
    graphs : GraphBatch or list of graphs
        The graphs, as `as_batch` takes them.
    series : Geometric, Exponential or Coefficients
        The weights of the walk lengths.
    walk : Walk, default=Walk()
        What is counted; `max_length` is a number here.
    n_components : int, default=512
        Width of the sketch of one walk length and iteration.
    random_state : int, default=0
        Seed; the same bits are drawn as on the CPU.

    Returns
    -------
    ndarray of shape (n_graphs, n_graphs)
        The kernel values, in pinned memory.

    Raises
    ------
    UnsupportedError
        If CuPy is not installed, or the sketch does not fit into the memory of the GPU.
    """
    batch, method = _chosen(graphs, n_components, random_state)
    check_series(series, check_walk(walk).on(batch).n_iterations)
    profiles = method.profile(batch, walk)
    if not isinstance(profiles, ResidentProfiles):
        raise UnsupportedError(
            "gvoys.gpu.gram needs CuPy, and memory on the GPU for three times the sketch; use RandomWalkKernel, or "
            'pip install "gvoys[gpu]"'
        )
    return profiles.single_gram(series.resolved(lambda: max_degree(batch)))


def _chosen(graphs: Any, n_components: int, seed: int) -> tuple[GraphBatch, Sketch]:
    """Read the graphs, and make the method."""
    check_cuda()
    return as_batch(graphs), Sketch(check_count(n_components, "n_components"), check_seed(seed), "cuda")
