"""Products of profiles in which every walk length has the same share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.kernels.base_kernels import Pairs
from gvoys.kernels.profiler import LabelsAndAttributes
from gvoys.walks import Profiles

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Balance:
    """Weights that give every walk length the same trace over the fitted graphs, Weisfeiler–Lehman iterations added up.

    Products are then half-normalised, K(G, H) / (K(G, G) K(H, H))^(1/4): between counts, which tell sizes apart, and
    the cosine, which does not.
    """

    n_iterations: int
    lengths: Array  # (max_length + 1,)
    attributes: Array | None  # (2,)

    @classmethod
    def fitted(cls, profiles: LabelsAndAttributes, n_iterations: int) -> Balance:
        """Equal traces; attributes together count as much as labels together."""
        lengths = _equal_shares(profiles.labels, n_iterations)
        if profiles.attributes is None:
            return cls(n_iterations, lengths, None)
        attributes = _equal_shares(profiles.attributes, 1) * (len(lengths) / profiles.attributes.n_lengths)
        return cls(n_iterations, lengths, attributes)

    def of(self, profiles: LabelsAndAttributes) -> BalancedProfiles:
        """Graphs in the form in which they are compared."""
        return BalancedProfiles(profiles.iterations(self.n_iterations), self)

    def features(self, profiles: LabelsAndAttributes) -> NDArray[np.float32]:
        """(n_graphs, n_features) of dense profiles: dot products are the balanced, half-normalised kernel."""
        parts = [part.features(mu) for part, mu in self.parts(profiles.iterations(self.n_iterations))]
        features = np.concatenate(parts, axis=1) if len(parts) > 1 else parts[0]
        roots = _roots(np.einsum("nw,nw->n", features, features, dtype=np.float64))
        return np.divide(features, roots[:, None], dtype=np.float32, casting="same_kind")

    def parts(self, profiles: LabelsAndAttributes) -> list[tuple[Any, Array]]:
        """Profiles by labels and by attributes, where they count, each with its weights."""
        parts: list[tuple[Any, Array]] = [(profiles.labels, self.lengths)]
        if self.attributes is not None:
            parts.append((profiles.attributes, self.attributes))
        return parts


@dataclass(frozen=True)
class BalancedProfiles:
    """Graphs whose balanced, half-normalised products with others can be computed."""

    profiles: LabelsAndAttributes
    balance: Balance

    def __len__(self) -> int:
        return len(self.profiles)

    def take(self, graphs: Any) -> BalancedProfiles:
        """Some of the graphs."""
        return BalancedProfiles(self.profiles.take(graphs), self.balance)

    def pairs(self, others: BalancedProfiles | None = None) -> Pairs:
        """These graphs beside others, or beside themselves.

        In double precision: a product in single precision depends on the shape of the matrix it is computed in, and
        with it a prediction would depend on the other graphs of the call.
        """
        right = self if others is None else others
        inner = sum(
            left.gram(mu, None if others is None else right_part)
            for (left, mu), (right_part, _) in zip(self._parts, right._parts, strict=True)
        )
        squares = self._squares()
        return _half_normalised(inner, squares, squares if others is None else right._squares())

    def factors(self, length: int, part: str = "labels") -> Array:
        """Return the factors that turn a profile's numbers into features, (n_graphs,)."""
        profiles, mu = self._parts[part == "attributes"]
        powers = np.ldexp(1.0, length * profiles.exponents)
        return np.asarray(np.sqrt(mu[length]) * powers / _roots(self._squares()))

    def _squares(self) -> Array:
        """K(G, G) before half-normalisation."""
        return np.asarray(sum(part.diagonal(mu) for part, mu in self._parts))

    @property
    def _parts(self) -> list[tuple[Any, Array]]:
        return self.balance.parts(self.profiles)


class Products:
    """Some graphs beside themselves under several balances, which share what is the same for all."""

    def __init__(self, profiles: LabelsAndAttributes) -> None:
        self._profiles = profiles
        self._kept: dict[tuple[bool, int], tuple[Array, Array]] = {}  # by attributes or not, and iterations

    def pairs(self, balance: Balance) -> Pairs:
        """Return inner products of pairs, like `BalancedProfiles.pairs`."""
        parts = balance.parts(self._profiles.iterations(balance.n_iterations))
        result = [self._of(index > 0, balance.n_iterations, *part) for index, part in enumerate(parts)]
        squares = np.asarray(sum(values for _, values in result))
        return _half_normalised(np.add(result[0][0], result[1][0] if len(result) > 1 else 0.0), squares, squares)

    def _of(self, attributes: bool, n_iterations: int, part: Any, mu: Array) -> tuple[Array, Array]:
        """Inner products and squared lengths; those by attributes have no iterations."""
        key = (attributes, 0 if attributes else n_iterations)
        if key not in self._kept:
            self._kept[key] = part.gram(mu), part.diagonal(mu)
        return self._kept[key]


def _half_normalised(inner: Array, left: Array, right: Array) -> Pairs:
    """K(G, H) / (K(G, G) K(H, H))^(1/4), in place, with the squared lengths of both sides."""
    roots = _roots(left), _roots(right)
    inner /= roots[0][:, None]
    inner /= roots[1]
    return Pairs(inner, left / roots[0] ** 2, right / roots[1] ** 2)


def _roots(squares: Array) -> Array:
    """K(G, G)^(1/4), and 1 for graphs without walks."""
    return np.sqrt(np.sqrt(np.where(squares > 0, squares, 1.0)))


def _equal_shares(profiles: Profiles, n_iterations: int) -> Array:
    """1 / trace of each length's kernel over the first iterations, and 0 for lengths that no walk has."""
    traces = profiles.diagonals()[:n_iterations].sum(axis=0).mean(axis=1)
    return np.where(traces > 0, 1.0 / np.where(traces > 0, traces, 1.0), 0.0)


_ENOUGH = 300  # graphs that tell the alignment


def block_alignments(profiles: Profiles, codes: NDArray[np.int64]) -> NDArray[np.float64]:
    """For profiles of graphs and their classes: (n_iterations, n_lengths), by a few hundred of them at most.

    <K, Y> / (|K| |Y|) of centred matrices.
    """
    subset = slice(None, None, max(-(-len(codes) // _ENOUGH), 1))
    same = (codes[subset, None] == np.arange(codes.max() + 1)).astype(np.float64)
    same -= same.mean(axis=0)
    target, profiles = np.linalg.norm(same.T @ same), profiles.take(subset)
    out = np.zeros((profiles.n_iterations, profiles.n_lengths))
    for (iteration, length), K in profiles.each_gram():
        size = float(np.linalg.norm(_centred(K)) * target)
        out[iteration, length] = float(np.einsum("nc,nc->", same, K @ same)) / size if size > 0 else 0.0
    return out


def _centred(K: NDArray[np.float64]) -> NDArray[np.float64]:
    means = K.mean(axis=0)
    return K - means - means[:, None] + means.mean()
