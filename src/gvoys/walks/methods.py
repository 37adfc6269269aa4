"""The methods by name: the only place where a name becomes a method."""

from __future__ import annotations

from typing import Any

from gvoys.errors import ParameterError
from gvoys.graphs.batch import GraphBatch
from gvoys.walks.checks import check_count, check_seed, is_auto
from gvoys.walks.method import WalkMethod, check_supports, choose_method
from gvoys.walks.moments import Moments
from gvoys.walks.sampled import SampledWalks
from gvoys.walks.sequences import Sequences
from gvoys.walks.sketch import N_COMPONENTS, Sketch
from gvoys.walks.walk import Walk

METHODS = tuple(each.name for each in (Moments, Sequences, Sketch, SampledWalks))


def method_named(
    name: Any,
    n_components: int = N_COMPONENTS,
    seed: int = 0,
    device: str = "cpu",
    replicates: tuple[int, ...] = (0,),
) -> WalkMethod:
    """Make a method of its name, with the parameters that it has."""
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
    raise ParameterError(f"method must be 'auto' or one of {', '.join(map(repr, METHODS))}, not {name!r}")


def resolve_walk(walk: Walk, name: Any, batch: GraphBatch) -> Walk:
    """Check a walk, and choose the labels that the method of this name uses."""
    return Moments().resolve(walk, batch) if isinstance(name, str) and name == Moments.name else walk.on(batch)


def method_of_features(name: Any, walk: Walk, batch: GraphBatch, *options: Any) -> tuple[WalkMethod, str]:
    """Return the method of features, and the reason for it; the options are those of `method_named`."""
    if not is_auto(name):
        method, reason = method_named(name, *options), "as asked"
    else:
        method, reason = choose_method([method_named(item, *options) for item in ("moments", "sketch")], walk, batch)
        if isinstance(method, Sketch):
            reason = "labels are used, and a sketch's width does not depend on the graphs"
    check_supports(method, walk, batch)
    return method, reason
