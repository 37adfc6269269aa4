"""The GPyTorch adapter gives the numbers of RandomWalkRegressor; it is checked where GPyTorch is installed."""

import sys

import numpy as np
import pytest
import spelling

import gvoys as gv
from gvoys.errors import MissingDependencyError

BATCH = gv.datasets.molecules(70, mean_nodes=10, random_state=6)


def test_without_gpytorch_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "gpytorch", None)
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "gvoys.estimators.gpytorch", raising=False)
    with pytest.raises(MissingDependencyError, match=r"gvoys\[gpytorch\]"):
        import gvoys.estimators.gpytorch  # noqa: F401


def test_the_posterior_of_the_regressor():
    gpytorch = pytest.importorskip("gpytorch", reason="the extra gpytorch is not installed")
    import torch

    from gvoys.estimators.gpytorch import WalkKernel

    y = BATCH.graph_sizes + np.random.default_rng(0).normal(size=70)
    model = spelling.regressor(2, kernel="linear", max_exact=10, n_components=90).fit(BATCH[:50], y[:50])
    kernel = WalkKernel(BATCH[:50], max_length=2, n_components=90)
    assert kernel.blocks == model.blocks_
    kernel.mu = model.mu_
    targets = torch.as_tensor((y[:50] - model.mean_) / model.deviation_)
    likelihood = gpytorch.likelihoods.GaussianLikelihood(noise_constraint=gpytorch.constraints.Positive()).double()
    likelihood.noise = model.noise_

    class Process(gpytorch.models.ExactGP):
        def __init__(self):
            super().__init__(kernel.encode(BATCH[:50]), targets, likelihood)
            self.mean_module, self.covar_module = gpytorch.means.ZeroMean(), kernel

        def forward(self, x):
            return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))

    process = Process().double()
    value = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, process)(process(*process.train_inputs), targets)
    assert value.item() * 50 == pytest.approx(model.log_marginal_likelihood_, rel=1e-6)
    value.backward()
    assert torch.isfinite(kernel.raw_mu.grad).all()
    assert kernel.raw_mu.grad.abs().max() > 0
    process.eval()
    likelihood.eval()
    with torch.no_grad():
        found = likelihood(process(kernel.encode(BATCH[50:])))
    mean, std = model.predict(BATCH[50:], return_std=True)
    np.testing.assert_allclose(model.mean_ + model.deviation_ * found.mean.numpy(), mean, rtol=1e-5)
    np.testing.assert_allclose(model.deviation_ * found.stddev.numpy(), std, rtol=1e-4)
