"""The methods by name: the only place where a name becomes a method."""

from __future__ import annotations

from typing import Any

from gvoys.defaults import KERNEL
from gvoys.errors import ParameterError
from gvoys.walks.checks import check_count, check_seed
from gvoys.walks.method import WalkMethod
from gvoys.walks.moments import Moments
from gvoys.walks.sequences import Sequences
from gvoys.walks.sketch import Sketch
from gvoys.walks.voyagers import SampledWalks

__all__ = ["METHODS", "labels_for", "method_named"]

METHODS = tuple(each.name for each in (Moments, Sequences, Sketch, SampledWalks))


def method_named(
    name: Any,
    n_components: int = KERNEL.n_components,
    seed: int = 0,
    device: str = "cpu",
    replicates: tuple[int, ...] = (0,),
) -> WalkMethod:
    """Make a method of its name.

    Parameters
    ----------
    name : {"moments", "sequences", "sketch", "voyagers"}
        Name of the method.
    n_components : int, default=512
        Width of a sketch, or number of walkers per node.
    seed : int, default=0
        Seed of all random bits.
    device : {"cpu", "cuda"}, default="cpu"
        Where to compute.
    replicates : tuple of int, default=(0,)
        Which independent draws of sampled walks.

    Returns
    -------
    WalkMethod
        The method.

    Raises
    ------
    ParameterError
        If there is no method of this name.
    """
    count, seed = check_count(n_components, "n_components"), check_seed(seed)
    methods = (
        Moments(device),
        Sequences(device),
        Sketch(count, seed, device),
        SampledWalks(count, seed, device, replicates),
    )
    for method in methods:
        if isinstance(name, str) and method.name == name:
            return method
    raise ParameterError(f"there is no method {name!r}; choose one of {', '.join(map(repr, METHODS))}")


def labels_for(name: Any, labels: Any) -> Any:
    """Moments ignore labels that nobody asked for; every other method uses them."""
    both = isinstance(name, str) and isinstance(labels, str)
    return None if both and (name, labels) == (Moments.name, "auto") else labels
