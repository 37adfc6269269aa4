"""Folds: what is never on both sides, and shares of the classes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from raising import raises
from sklearn.model_selection import StratifiedKFold

from gvoys.apps.evaluation import make_folds
from gvoys.apps.evaluation.folds import groups_for, joined_groups, merge_duplicates, same_molecules
from gvoys.errors import ParameterError
from gvoys.io import open_graphs


def sides(folds, values):
    """For each fold the values to train on and to test on."""
    return [({*values[fold.train]}, {*values[fold.test]}) for fold in folds]


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 2)), min_size=40, max_size=80), st.integers(0, 5))
def test_a_group_is_never_on_both_sides(rows, seed):
    groups, y = np.array(rows).T
    if len(np.unique(groups)) < 3:
        return
    folds = make_folds(y.astype(float), False, 3, (seed, seed + 1), groups)
    assert [(fold.seed, fold.number) for fold in folds] == [(s, k) for s in (seed, seed + 1) for k in (1, 2, 3)]
    for known, asked in sides(folds, groups):
        assert not known & asked
    for seed_of in (seed, seed + 1):
        tested = np.concatenate([fold.test for fold in folds if fold.seed == seed_of])
        assert sorted(tested) == list(range(len(y)))


def test_folds_of_groups_and_without():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 300, 1000)
    y = np.where(rng.random(300) < 0.2, "rare", "common")[groups]
    for classify in (True, False):
        folds = make_folds(y if classify else rng.normal(size=1000), classify, 10, (0,), groups)
        assert {len(fold.test) for fold in folds} <= set(range(90, 111))
    shares = [np.mean(y[fold.test] == "rare") for fold in make_folds(y, True, 10, (0,), groups)]
    assert np.std(shares) < 0.01  # 0.04 or so where folds are filled by their sizes alone
    y = np.repeat([0, 1], [30, 50])
    expected = list(StratifiedKFold(5, shuffle=True, random_state=3).split(y, y))
    for groups in (None, np.arange(80)):
        for fold, (train, test) in zip(make_folds(y, True, 5, (3,), groups), expected, strict=True):
            np.testing.assert_array_equal(fold.train, train)
            np.testing.assert_array_equal(fold.test, test)
    y = np.array(["a"] * 20 + ["b"] * 20 + ["alone"])
    folds = make_folds(y, True, 10, (0,))
    assert sum("alone" in y[fold.test] for fold in folds) == 1
    assert all({"a", "b"} <= set(y[fold.train]) for fold in folds)


@pytest.mark.parametrize(
    ("y", "classify", "n_folds", "groups", "words"),
    [
        ([0] * 9 + [1], True, 2, None, "two classes of two graphs"),
        ([0] * 9, True, 2, None, "two classes of two graphs"),
        ([0, 1] * 5, True, 6, None, "between 2 and 5, since the largest class has 5 graphs; it is 6"),
        (np.arange(4.0), False, 1, None, "between 2 and 4, since there are 4 graphs; it is 1"),
        ([0, 0, 1, 1], True, 2, [0, 0, 1, 1], "groups leave a fold with one class to learn from"),
        (np.arange(4.0), False, 3, [0, 0, 1, 1], "3 folds need as many groups, and there are 2"),
    ],
)
def test_too_few(y, classify, n_folds, groups, words):
    raises(ParameterError, words, make_folds, np.asarray(y), classify, n_folds, (0,), groups)


def test_groups_that_are_joined_and_duplicates_that_are_merged():
    assert joined_groups([0, 0, 1, 2, 3], "abbcd").tolist() == [0, 0, 0, 1, 2]
    assert joined_groups([0, 1, 2]).tolist() == [0, 1, 2]
    same = np.array([3, 1, 3, 0, 1, 7])
    places, means, none = merge_duplicates(np.array([1.0, 5.0, 3.0, 0.0, 6.0, 9.0]), same, False)
    assert (places.tolist(), means.tolist(), none) == ([0, 1, 3, 5], [2.0, 5.5, 0.0, 9.0], 0)
    places, classes, n_bad = merge_duplicates(np.array(["a", "b", "a", "b", "c", "a"]), same, True)
    assert (places.tolist(), classes.tolist(), n_bad) == ([0, 3, 5], ["a", "b", "a"], 1)


# -- molecules
@pytest.fixture
def molecules():
    pytest.importorskip("rdkit")
    pd = pytest.importorskip("pandas")
    texts = ["CCO", "OCC", "c1ccccc1C", "c1ccccc1CC", "CCCl", "C[C@H](O)F", "C[C@@H](O)F"]
    return open_graphs(pd.DataFrame({"smiles": texts, "lab": ["x", "y", "y", "z", None, "x", "w"]})).read()


def test_each_split_keeps_its_groups(molecules):
    same = same_molecules(molecules)
    together = {
        "random": groups_for("random", molecules, same),
        "scaffold": groups_for("scaffold", molecules, same),
        "group": groups_for("group", molecules, same, "LAB"),
    }
    assert together["scaffold"][2] == together["scaffold"][3] != together["scaffold"][0]  # benzene
    assert together["group"][0] == together["group"][2]  # CCO is in x and y, toluene in y
    assert together["group"][4] not in np.delete(together["group"], 4)  # without a lab, for itself
    for groups in together.values():
        assert groups[0] == groups[1]
    same = same_molecules(molecules)
    assert same[0] == same[1]
    assert same[5] == same[6]  # two hands of one molecule, which no label tells apart
    assert len(np.unique(same)) == 5
    same = same_molecules(molecules)
    with pytest.raises(ParameterError, match="there is no split 'magic'; choose one of random, scaffold, group"):
        groups_for("magic", molecules, same)
    raises(ParameterError, "--split group needs --group COLUMN", groups_for, "group", molecules, same)
    raises(ParameterError, "--split group needs --group COLUMN", groups_for, "random", molecules, same, "lab")
    raises(ValueError, "has no column 'lap'", groups_for, "group", molecules, same, "lap")
