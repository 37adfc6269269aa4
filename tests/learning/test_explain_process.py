"""Explanations of the regressor: sums, integrals along rays, and walks one by one."""

import numpy as np
import pytest
import spelling
from scipy import integrate

import gvoys as gv
from gvoys.kernels.explaining_learners import _along_shares

SMILES = """
CCO CC(=O)O c1ccccc1 Cc1ccccc1 CCN CC(C)N Oc1ccccc1 CCOC(C)=O CC#N ClCCl CCCCCC NC(=O)c1ccccc1 O=[N+]([O-])c1ccccc1
c1ccncc1 C1CCCCC1 CC(C)O OCCO FC(F)F CS(C)=O Clc1ccccc1 CCCCO CCCO CCCCN CNC COC c1ccc2ccccc2c1
"""
MOLECULES = gv.from_smiles(SMILES.split())
Y = np.array([each.n_entries / 2 + 0.3 * each.n_nodes for each in MOLECULES])
EMPTY = gv.GraphBatch.from_arrays([], [0], node_labels=[], edge_labels=[])


def fitted(kernel="matern32", **options):
    return spelling.regressor(3, kernel=kernel, max_iterations=5, **options).fit(MOLECULES[:20], Y[:20])


@pytest.mark.parametrize("kernel", ["auto", "linear", "matern12", "matern32", "gaussian", "matern32 + linear"])
@pytest.mark.parametrize("options", [{}, {"layers": ("given",), "refine": 0}, {"backtrack": True}], ids=str)
def test_shares_add_up_to_the_prediction(kernel, options):
    model = fitted(kernel, **options)
    found = model.explain(MOLECULES)  # fitted ones among them
    nothing = model.predict(EMPTY)[0]
    for each, predicted in zip(found, model.predict(MOLECULES), strict=True):
        assert each.of is None
        assert each.decision == pytest.approx(predicted, rel=1e-9)
        assert each.baseline == pytest.approx(nothing, rel=1e-9)
        gain = each.decision - each.baseline
        assert each.nodes.sum() == pytest.approx(gain, rel=1e-9, abs=1e-9)
        assert each.lengths.sum() == pytest.approx(gain, rel=1e-9, abs=1e-9)
        assert each.edge_shares.sum() == pytest.approx(each.lengths[:, 1:].sum(), rel=1e-9, abs=1e-9)
        assert not each.node_errors.any()


def test_landmarks_and_several_targets():
    induced = spelling.regressor(3, max_exact=10, n_components=12, max_iterations=5).fit(MOLECULES, Y)
    for each, predicted in zip(induced.explain(MOLECULES), induced.predict(MOLECULES), strict=True):
        assert each.decision == pytest.approx(predicted, rel=1e-8)
        assert each.nodes.sum() == pytest.approx(each.decision - each.baseline, rel=1e-8, abs=1e-8)
    several = fitted_on_two()
    predicted = several.predict(MOLECULES)
    for target in (0, 1):
        for each, own in zip(several.explain(MOLECULES, of=target), predicted[:, target], strict=True):
            assert each.decision == pytest.approx(own, rel=1e-9)
            assert each.nodes.sum() == pytest.approx(each.decision - each.baseline, rel=1e-9, abs=1e-9)
    with pytest.raises(gv.errors.ParameterError, match=r"of must be the number of a target, 0 … 1, not 2"):
        several.explain(MOLECULES, of=2)


def fitted_on_two():
    return spelling.regressor(3, max_iterations=3).fit(MOLECULES, np.column_stack([Y, -(Y**2)]))


def test_linear_models_of_many_graphs_say_what_is_missing():
    model = spelling.regressor(3, kernel="linear", max_exact=10, max_iterations=3).fit(MOLECULES, Y)
    with pytest.raises(gv.errors.UnsupportedError, match="need at most max_exact graphs"):
        model.explain(MOLECULES[:1])


def test_shares_of_sets_are_integrals_of_gradients():
    for common, left, right in [(3, 5, 7), (5, 5, 5), (0, 4, 2), (2, 2, 9), (4, 9, 4), (0, 0, 3), (0, 3, 0)]:
        adds, takes, value = (float(each[0, 0]) for each in _along_shares(
            np.array([[float(common)]]), np.array([float(left)]), np.array([float(right)])
        ))  # fmt: skip
        alone, either = left - common, left + right - common
        assert value == pytest.approx(common / either if either else 0.0)
        assert common * adds - alone * takes == pytest.approx(value, abs=1e-12)
        if right:
            both = integrate.quad(lambda t, m=right, a=alone: 1 / (m + t * a), 0, 1)[0]
            lost = integrate.quad(lambda t, m=right, a=alone, s=common: t * s / (m + t * a) ** 2, 0, 1)[0]
            assert adds == pytest.approx(both, rel=1e-9)
            assert takes == pytest.approx(lost, rel=1e-9, abs=1e-12)


def test_explanations_find_what_was_planted():
    batch = MOLECULES
    labels = np.array([label[0] for label in batch.node_labels.decode()])
    worth = np.select([labels == "N", labels == "O"], [2.0, -1.0], 0.0)
    y = np.add.reduceat(worth, batch.node_offsets[:-1])
    model = spelling.regressor(2).fit(batch, y)
    for each, own in zip(model.explain(batch), np.split(worth, batch.node_offsets[1:-1]), strict=True):
        if np.ptp(own) > 0:
            assert np.corrcoef(each.nodes, own)[0, 1] > 0.8
