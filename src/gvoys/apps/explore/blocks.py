"""Profiles small enough for a page, length by length, with an error bar on every kernel value.

Walks whose label sequences can be counted have exact profiles, which lie near a space of few dimensions. `values` are
their coordinates there; the rest, orthogonal to it, is projected on random signs, a byte each:

    K_i(G, H) = <values_i(G), values_i(H)> + <rest_i(G), rest_i(H)>,

where the last term is unbiased, with a variance of (|rest(G)|^2 |rest(H)|^2 + <rest(G), rest(H)>^2) / width.
Longer walks have a sketch, of which all components are kept, a byte each; the spread between its groups is its error.
Every length is divided by its mean K_i(G, G), so that long walks do not outgrow a page's numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.random_projection import SparseRandomProjection

from gvoys.errors import UnsupportedError
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.spectrum import max_degree
from gvoys.series import Series
from gvoys.walks import Moments, Sequences, Sketch, Walk
from gvoys.walks.checks import is_auto
from gvoys.walks.profiles import widened
from gvoys.walks.sequences import STATE_BUDGET
from gvoys.walks.sketch import WIDTH
from gvoys.walks.structure import usual_labels

_PAGE_BYTES = 8_000_000  # of all values on a page, and of all sketches
_RANKS = (32, 256)  # directions of an exact length, at least and at most
_REST = 64  # random signs
_MORE, _TURNS = 10, 2  # of subspace iteration: directions beyond those that are kept, and how often
_NEGLIGIBLE = 1e-12  # of the leading direction's size, squared
_COMPONENTS = (512, 2048)  # of a sketch, at least and at most


@dataclass(frozen=True)
class Length:
    """Profiles of one walk length: exact with a rest, or a sketch in several groups."""

    values: NDArray[np.float32]  # coordinates of exact profiles, or all components of a sketch
    rest: NDArray[np.float32] | None = None  # random projections of what is orthogonal to the coordinates
    n_groups: int = 1  # number of independent groups of a sketch; 1 for exact profiles

    @property
    def widening(self) -> float:
        """Factor of the spread between groups, for their small number; 0 if nothing is random."""
        return float(widened(np.array(1.0), self.n_groups)) if self.n_groups > 1 else 0.0


@dataclass(frozen=True)
class Blocks:
    """Profiles from which the page computes kernels."""

    mu: NDArray[np.float64]  # weights of the walk lengths
    means: NDArray[np.float64]  # means of K_i(G, G), by which lengths are divided
    lengths: list[Length]  # profiles of each length
    diagonal: NDArray[np.float64]  # K_i(G, G) / mean
    method: str  # how the profiles were computed, in words

    def features(self) -> NDArray[np.float64]:
        """Return unit vectors whose dot products are the cosines of the kernel with this mu."""
        shares = np.sqrt(self.mu * self.means)
        flat = np.hstack([share * block.values for share, block in zip(shares, self.lengths, strict=True)])
        norms = np.linalg.norm(flat.astype(np.float64), axis=1, keepdims=True)
        return flat / np.where(norms > 0, norms, 1.0)


def compute_blocks(batch: GraphBatch, series: Series | None, walk: Walk, seed: int) -> Blocks:
    """Profile the graphs, exactly as far as possible; without a series every length has the same share."""
    if is_auto(walk.labels):
        walk = replace(walk, labels=usual_labels(batch))
    walk = walk.on(batch)
    if walk.refine:
        raise UnsupportedError("a page cannot show Weisfeiler–Lehman iterations; pass refine=0")
    batch, walk = walk.labelled_by_structure(batch)
    max_length = walk.longest
    last = _last_exact(batch, walk)
    profiles: list[Any] = []
    if last >= 0:
        exact = Moments() if walk.plain else Sequences()
        made = exact.profile(batch, replace(walk, max_length=last))
        profiles = [made.block(0, length) for length in range(last + 1)]
    method = "exact, without labels" if walk.plain else "exact label sequences"
    width = WIDTH
    if last < max_length:
        width = int(np.clip(_PAGE_BYTES // (len(batch) * (max_length - last)) // WIDTH * WIDTH, *_COMPONENTS))
        sketch = Sketch(width, seed).profile(batch, walk)
        profiles += [sketch.block(0, length) for length in range(last + 1, walk.n_lengths)]
        method = f"label sequences, exact up to length {last}, then a sketch of {width} components"
    diagonal = np.column_stack([_squared_norms(profile) for profile in profiles])
    means = diagonal.mean(axis=0)
    if not np.isfinite(means).all():
        raise UnsupportedError(
            f"walks of up to {max_length} steps exceed the range of floating point; choose a smaller length"
        )
    sizes = np.where(means > 0, means, 1.0)
    profiles = [profile / np.sqrt(size) for profile, size in zip(profiles, sizes, strict=True)]
    rank = int(np.clip(_PAGE_BYTES // (4 * len(batch) * (max_length + 1)), *_RANKS))
    lengths = [_compress(profile, rank, seed + i) for i, profile in enumerate(profiles[: last + 1])]
    lengths += [Length(profile.astype(np.float32), n_groups=width // WIDTH) for profile in profiles[last + 1 :]]
    if any(length.rest is not None for length in lengths):
        method += ", compressed"
    mu = np.where(means > 0, 1.0 / (sizes * len(means)), 0.0)  # the same share of the mean K(G, G), which is one
    if series is not None:
        mu = np.asarray(series.resolved(max_degree(batch)).coefficients(len(means) - 1), np.float64)
    return Blocks(mu, means, lengths, diagonal / sizes, method)


def _last_exact(batch: GraphBatch, walk: Walk) -> int:
    """Return the length of the longest walks whose profiles fit exactly; -1 if not even single nodes do."""
    if walk.plain or walk.attributed:
        return walk.longest if walk.plain else -1
    fits = (
        Sequences().cost(replace(walk, max_length=length), batch).operations <= STATE_BUDGET / 2
        for length in range(walk.n_lengths)
    )
    return next((length - 1 for length, good in enumerate(fits) if not good), walk.longest)


def _compress(profiles: Any, rank: int, seed: int) -> Length:
    """Project exact profiles on their leading directions, and what is orthogonal to these on random signs."""
    if profiles.shape[1] <= rank + _REST:
        return Length(np.asarray(profiles.toarray() if sp.issparse(profiles) else profiles, np.float32))
    directions = _leading_directions(profiles, rank, seed)
    values = np.asarray(profiles @ directions, np.float64)
    if directions.shape[1] < rank:  # nothing is left over
        return Length(values.astype(np.float32))
    signs = SparseRandomProjection(_REST, density=1 / 8, random_state=seed).fit(profiles).components_
    rest = (profiles @ signs.T).toarray() - values @ (signs @ directions).T
    return Length(values.astype(np.float32), rest.astype(np.float32))


def _leading_directions(profiles: Any, rank: int, seed: int) -> NDArray[np.float64]:
    """Find orthonormal columns, (width, at most rank), by subspace iteration."""
    # there are many more label sequences than graphs, so that all but products happens on the side of the graphs
    directions = np.random.default_rng(seed).normal(size=(profiles.shape[0], min(rank + _MORE, profiles.shape[0])))
    for _ in range(_TURNS):
        directions = np.linalg.qr(profiles @ (profiles.T @ directions))[0]
    spanned = profiles.T @ directions
    sizes, mixture = np.linalg.eigh(spanned.T @ spanned)
    kept = np.argsort(-sizes)[:rank]
    kept = kept[sizes[kept] > _NEGLIGIBLE * sizes.max()]
    return spanned @ (mixture[:, kept] / np.sqrt(sizes[kept]))


def _squared_norms(profiles: Any) -> NDArray[np.float64]:
    if sp.issparse(profiles):
        return np.asarray(profiles.multiply(profiles).sum(axis=1), np.float64).ravel()
    return np.einsum("nj,nj->n", profiles, profiles, dtype=np.float64)
