"""The walk kernel as a GPyTorch kernel: mu is a parameter of torch, and graphs come as tensors of their features."""

from __future__ import annotations

from typing import Any

import numpy as np

from gvoys.errors import MissingDependencyError
from gvoys.io.convert import as_batch
from gvoys.kernels.blocks import WalkBlocks, walks_on
from gvoys.walks.checks import check_count
from gvoys.walks.walk import takes_walk

try:
    import torch
    from gpytorch.constraints import Positive
    from gpytorch.kernels import Kernel
    from linear_operator.operators import MatmulLinearOperator, RootLinearOperator
except ImportError:
    raise MissingDependencyError('the adapter needs GPyTorch; install it with pip install "gvoys[gpytorch]"') from None


class WalkKernel(Kernel):
    """K = sum_b mu_b X_b X'_b^T over the blocks of `RandomWalkRegressor`, a constant among them."""

    has_lengthscale = False

    @takes_walk()
    def __init__(
        self,
        X: Any,
        walk: Any = "auto",
        *,
        cosine: bool = True,
        n_components: int = 1024,
        seed: int = 0,
        n_jobs: int | None = None,
        dtype: Any = torch.float64,
    ) -> None:
        super().__init__()
        batch = as_batch(X)
        walks = walks_on(batch, walk, refine=0)
        count = check_count(n_components, "n_components")
        self.walks, _ = WalkBlocks.fitted(batch, walks, cosine=cosine, n_components=count, seed=seed, n_jobs=n_jobs)
        self.dtype_of_features = dtype
        self.register_buffer("columns", torch.as_tensor(self.walks.columns))
        n_blocks = len(self.walks.names)
        self.register_parameter("raw_mu", torch.nn.Parameter(torch.zeros(n_blocks, dtype=dtype)))
        self.register_constraint("raw_mu", Positive())
        self.mu = torch.full((n_blocks,), 1.0 / n_blocks, dtype=dtype)

    @property
    def blocks(self) -> list[str]:
        """Names of the blocks, one for each amplitude."""
        return self.walks.names

    @property
    def mu(self) -> Any:
        """Amplitudes by block."""
        return self.raw_mu_constraint.transform(self.raw_mu)

    @mu.setter
    def mu(self, value: Any) -> None:
        self.initialize(
            raw_mu=self.raw_mu_constraint.inverse_transform(torch.as_tensor(value, dtype=self.raw_mu.dtype))
        )

    def encode(self, graphs: Any) -> Any:
        """Features of graphs as a tensor, (n_graphs, n_columns)."""
        features = self.walks.features(as_batch(graphs))
        return torch.as_tensor(np.asarray(features), dtype=self.dtype_of_features, device=self.raw_mu.device)

    def forward(self, x1: Any, x2: Any, diag: bool = False, **params: Any) -> Any:
        root = self.mu[self.columns].sqrt()
        left, right = x1 * root, x2 * root
        if diag:
            return (left * right).sum(-1)
        if x1.shape == x2.shape and torch.equal(x1, x2):
            return RootLinearOperator(left)
        return MatmulLinearOperator(left, right.transpose(-1, -2))
