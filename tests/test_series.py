"""The series: coefficients, tails, modulation, and what they refuse."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gvoys as gv
from gvoys.errors import DivergenceError, ModulationError, ParameterError

ALL = [gv.Geometric(0.2), gv.Exponential(0.7), gv.Coefficients([1.0, 0.5, 0.25, 0.0, 2.0])]


def test_coefficients():
    np.testing.assert_allclose(gv.Geometric(0.3).coefficients(3), [1, 0.3, 0.09, 0.027])
    np.testing.assert_allclose(gv.Exponential(2.0).coefficients(3), [1, 2, 2, 4 / 3])
    np.testing.assert_array_equal(gv.Coefficients([1, 0, 3]).coefficients(1), [1, 0])
    np.testing.assert_array_equal(gv.Geometric(0).coefficients(2), [1, 0, 0])
    np.testing.assert_allclose(gv.Geometric(1e-6).coefficients(200, scale=1000.0), 1.0, rtol=1e-12)
    assert gv.Geometric(5.0).truncated(2) == gv.Coefficients([1, 5, 25])


@pytest.mark.parametrize("series", ALL, ids=repr)
def test_scale_is_folded_in(series):
    np.testing.assert_allclose(series.coefficients(6, scale=4.0), series.coefficients(6) * 16.0 ** np.arange(7))


@pytest.mark.parametrize("series", ALL, ids=repr)
def test_evaluate_and_tail_add_up_to_the_coefficients(series):
    growth = 1.7
    powers = growth ** np.arange(201.0)
    terms = series.coefficients(200) * powers
    assert series.evaluate(growth) == pytest.approx(terms.sum(), rel=1e-12)
    for length in (0, 1, 3, 10):
        assert series.tail_bound(length, growth) == pytest.approx(terms[length + 1 :].sum(), rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("series", ALL, ids=repr)
@pytest.mark.parametrize("rtol", [0.5, 1e-3, 1e-12])
def test_truncation_length_is_the_smallest_that_does(series, rtol):
    length = series.truncation_length(2.5, rtol)
    assert series.relative_tail(length, 2.5) <= rtol
    assert length == 0 or series.relative_tail(length - 1, 2.5) > rtol


def test_radius_and_divergence():
    assert gv.Geometric(0.25).radius == 4.0
    assert gv.Exponential(3.0).radius == gv.Coefficients([1, 2]).radius == gv.Geometric(0).radius == math.inf
    with pytest.raises(
        DivergenceError,
        match=r"decay \* rho1 \* rho2 = 1.25 is not below 1; the decay must be below 0.2, or truncate the series",
    ):
        gv.Geometric(0.25).truncation_length(5.0)
    with pytest.raises(
        DivergenceError, match=r"may reach exp\(1000\), past the range of float64; the decay must be at most 0.65"
    ):
        gv.Exponential(1.0).check_convergence(1000.0)
    assert gv.Geometric(0.9999).truncation_length(1.0, 1e-30) == 690740
    with pytest.raises(DivergenceError, match="needs over 1000000 terms"):
        gv.Geometric(1 - 1e-9).truncation_length(1.0)


@pytest.mark.parametrize("series", [gv.Geometric("auto"), gv.Exponential("auto")])
def test_auto_decay(series):
    assert series.resolved(4.0).decay == 1 / 16
    assert series.resolved(0.0).decay == 1.0
    assert gv.Geometric(0.3).resolved(4.0) == gv.Geometric(0.3)
    with pytest.raises(ParameterError, match="has no value before fitting"):
        series.coefficients(3)


@pytest.mark.parametrize(
    "decay", [-0.1, math.nan, math.inf, "fast", None, True, [0.1], 10**400, 0.1j, np.array([0.1, 0.2])]
)
@pytest.mark.parametrize("kind", [gv.Geometric, gv.Exponential])
def test_wrong_decays_are_refused(kind, decay):
    with pytest.raises(ParameterError, match='decay must be "auto" or a finite number of at least 0'):
        kind(decay)


@pytest.mark.parametrize(
    ("mu", "message"),
    [
        ([], "a flat list of one number or more"),
        ([[[1.0]]], "a flat list of one number or more"),
        (["a"], "a flat list of one number or more"),
        ([1, -0.5], "mu_1 = -0.5: every coefficient must be finite and at least 0, or the kernel is not positive"),
        ([1, 2, math.nan], "mu_2 = nan"),
    ],
)
def test_wrong_coefficients_are_refused(mu, message):
    with pytest.raises(ParameterError, match=message):
        gv.Coefficients(mu)


@pytest.mark.parametrize("length", [-1, 1.5, "8", True])
def test_wrong_lengths_are_refused(length):
    for series in ALL:
        with pytest.raises(ParameterError, match="max_length must be an integer of at least 0"):
            series.coefficients(length)


def convolve(f, length):
    return np.convolve(f, f)[: length + 1]


@pytest.mark.parametrize(
    "series", [gv.Geometric(0.3), gv.Exponential(0.7), gv.Coefficients([1, 2, 3, 2, 1]), gv.Coefficients([0, 0, 4])]
)
def test_f_convolved_with_itself_is_mu(series):
    np.testing.assert_allclose(convolve(series.modulation(12), 12), series.coefficients(12), rtol=1e-12, atol=1e-15)


def test_geometric_modulation_keeps_the_decay():
    """The paper's f_k = (2k-1)!! / (2^k k!) forgets decay^k."""
    k = np.arange(6)
    expected = 0.3**k * np.array([math.comb(2 * i, i) for i in k]) / 4.0**k
    np.testing.assert_allclose(gv.Geometric(0.3).modulation(5), expected, rtol=1e-14)
    assert np.isfinite(gv.Geometric(0.9).modulation(2000)).all()


def test_a_series_of_nothing():
    zero = gv.Coefficients([0, 0])
    assert zero.modulation(3).tolist() == [0, 0, 0, 0]
    assert zero.modulation_length(2.0) == zero.truncation_length(2.0) == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: gv.Coefficients([1, 1]).modulation(5),
            r"negative at k = 2.*use moments, sequences, sketch or OneSidedVoyagers instead, which only need mu >= 0",
        ),
        (lambda: gv.Coefficients([0, 1, 1]).modulation(3), "mu starts at the odd power 1, so no modulation f"),
        (lambda: gv.Coefficients([1, 1]).modulation_length(2.0), r"diverges at growth 2 \(radius 1\)"),
    ],
)
def test_series_without_a_modulation(call, message):
    with pytest.raises(ModulationError, match=message):
        call()


@pytest.mark.parametrize(
    "series",
    [gv.Geometric(0.3), gv.Exponential(2.0), gv.Coefficients([1, 2, 1]), gv.Geometric(0.5).truncated(60)],
    ids=lambda s: repr(s)[:30],
)
@pytest.mark.parametrize("rtol", [1e-3, 1e-9])
def test_the_bound_on_the_tail_of_f_holds(series, rtol):
    growth = 1.2
    length = series.modulation_length(growth, rtol)
    whole = math.sqrt(series.evaluate(growth))
    kept = (series.modulation(length) * growth ** np.arange(length + 1.0)).sum()
    assert 0 <= whole - kept + 1e-13 * whole <= rtol * whole + 1e-13 * whole


def test_a_perfect_square_has_a_finite_f():
    assert gv.Coefficients([1, 2, 1]).modulation_length(100.0) == 1
    assert gv.Coefficients([0, 0, 1]).modulation_length(100.0) == 1


@given(st.lists(st.floats(0, 2), min_size=1, max_size=6).filter(lambda f: f[0] > 0.5))
def test_squares_of_non_negative_polynomials_are_taken_apart(f):
    mu = gv.Coefficients(np.convolve(f, f))
    np.testing.assert_allclose(mu.modulation(len(f) + 3)[: len(f)], f, rtol=1e-6, atol=1e-6 * max(f))


def test_series_compare_copy_and_print():
    import copy

    assert gv.Geometric(0.1) == gv.Geometric(0.1) != gv.Exponential(0.1)
    assert repr(gv.Coefficients([1, 0.5])) == "Coefficients(mu=(1.0, 0.5))"
    assert copy.deepcopy(gv.Coefficients([1, 2])) == gv.Coefficients([1, 2])
