"""Measures and baselines, each beside scikit-learn's or RDKit's own."""

import numpy as np
import pytest
from sklearn import metrics
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, DotProduct, WhiteKernel

import gvoys as gv
from gvoys.apps.evaluation import LearnerMethod, Prediction, baselines_for
from gvoys.apps.evaluation.baselines import GramMethod, Process, ecfp4_counts, tanimoto
from gvoys.apps.evaluation.evaluate import measure

RNG = np.random.default_rng(0)


def test_numbers_are_measured_as_scikit_learn_does():
    truth, values, deviation = RNG.normal(size=(3, 50))
    found = measure(truth, Prediction(values, None, np.abs(deviation)), None)
    assert list(found) == ["RMSE", "MAE", "R2", "coverage"]
    assert found["RMSE"] == pytest.approx(metrics.mean_squared_error(truth, values) ** 0.5)
    assert found["MAE"] == pytest.approx(metrics.mean_absolute_error(truth, values))
    assert found["R2"] == pytest.approx(metrics.r2_score(truth, values))
    assert found["coverage"] == np.mean(np.abs(truth - values) < 1.96 * np.abs(deviation))
    assert np.isnan(measure(np.ones(3), Prediction(np.ones(3)), None)["R2"])
    classes = np.array([0, 1])
    found = measure(np.ones(4), Prediction(np.ones(4)), classes)
    assert found["accuracy"] == found["balanced accuracy"] == 1.0
    assert np.isnan(found["ROC-AUC"])
    found = measure(np.ones(4), Prediction(np.ones(4), np.ones((4, 2))), classes)
    assert np.isnan(found["ROC-AUC"])


@pytest.mark.parametrize("names", [["no", "yes"], ["a", "b", "c"]])
def test_classes_are_measured_as_scikit_learn_does(names):
    classes = np.array(names)
    truth, values = RNG.choice(classes, (2, 60))
    scores = RNG.dirichlet(np.ones(len(classes)), 60)
    found = measure(truth, Prediction(values, scores), classes)
    assert found["accuracy"] == metrics.accuracy_score(truth, values)
    assert found["balanced accuracy"] == pytest.approx(metrics.balanced_accuracy_score(truth, values))
    if len(classes) == 2:
        auc, area = (f(truth == "yes", scores[:, 1]) for f in (metrics.roc_auc_score, metrics.average_precision_score))
    else:
        auc = metrics.roc_auc_score(truth, scores, multi_class="ovr")
        area = metrics.average_precision_score(truth[:, None] == classes, scores)
    assert found["ROC-AUC"] == pytest.approx(auc)
    assert found["PR-AUC"] == pytest.approx(area)


def test_the_process_is_scikit_learns():
    """On a linear kernel, with the same amplitude and noise."""
    X = RNG.normal(size=(60, 5))
    y = X @ RNG.normal(size=5) + 0.3 * RNG.normal(size=60) + 7.0
    new = RNG.normal(size=(20, 5))
    ours = Process.fitted(X @ X.T, y)
    found = ours.predict(new @ X.T, (new**2).sum(axis=1))
    kernel = ConstantKernel(ours.amplitude) * DotProduct(1e-9, "fixed") + WhiteKernel(ours.amplitude * ours.noise)
    theirs = GaussianProcessRegressor(kernel, optimizer=None, alpha=0.0).fit(X, y - y.mean())
    mean, deviation = theirs.predict(new, return_std=True)
    np.testing.assert_allclose(found.values, mean + y.mean(), rtol=1e-6)
    np.testing.assert_allclose(found.deviation, deviation, rtol=1e-6)
    best = theirs.log_marginal_likelihood(theirs.kernel_.theta)
    for step in np.eye(2):  # amplitude and noise
        assert theirs.log_marginal_likelihood(theirs.kernel_.theta + 0.05 * step) < best
        assert theirs.log_marginal_likelihood(theirs.kernel_.theta - 0.05 * step) < best


def test_the_wl_baseline_is_grakels():
    grakel = pytest.importorskip("grakel")
    from gvoys.apps.evaluation.baselines import _wl_gram

    batch, _ = gv.datasets.load_tu("MUTAG")
    batch = batch[:30]
    graphs = []
    for graph in batch:
        labels = dict(enumerate(graph.node_labels.codes.tolist()))
        graphs.append(grakel.Graph(graph.adjacency().toarray(), node_labels=labels))
    theirs = grakel.WeisfeilerLehman(n_iter=4, normalize=True).fit_transform(graphs)
    np.testing.assert_allclose(_wl_gram(batch), theirs, rtol=1e-6)


def test_fingerprints_are_rdkits():
    pytest.importorskip("rdkit")
    from rdkit import Chem, DataStructs
    from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator

    texts = ["CCO", "c1ccccc1CCN", "CC(=O)Oc1ccccc1C(=O)O", "C" * 30, "[Na+].[Cl-]"]
    make = GetMorganGenerator(radius=2, fpSize=2048)
    prints = [make.GetCountFingerprint(Chem.MolFromSmiles(text)) for text in texts]
    expected = [DataStructs.BulkTanimotoSimilarity(one, prints) for one in prints]
    np.testing.assert_allclose(tanimoto(ecfp4_counts(texts)), expected, rtol=1e-12)


@pytest.fixture(scope="module")
def chains():
    pytest.importorskip("rdkit")
    texts = [f"{'C' * n}{end}" for n in range(1, 16) for end in ("", "O", "N", "C#N")]
    return gv.from_smiles(texts), texts


@pytest.mark.parametrize("classify", [True, False])
def test_every_baseline_learns_what_it_can(chains, classify):
    batch, texts = chains
    y = np.array(["O" in text for text in texts]) if classify else batch.graph_sizes.astype(float)
    classes = np.unique(y) if classify else None
    found = baselines_for(batch, y, classes, texts, 1)
    machine = "SVC" if classify else "GP"
    constant = "majority" if classify else "mean"
    assert list(found) == [constant, f"WL + {machine}", "ECFP4 + RF", f"Tanimoto + {machine}"]
    rng = np.random.default_rng(1).permutation(60)
    train, test = rng[:45], rng[45:]
    scores = {name: measure(y[test], each.fit(train)(test), classes) for name, each in found.items()}
    first = "accuracy" if classify else "RMSE"
    for name in list(found)[1:]:
        better = scores[name][first] - scores[constant][first]
        assert (better if classify else -better) > 0.1, name
    assert set(baselines_for(batch, y, classes, None, 1)) == {constant, f"WL + {machine}"}


def test_a_class_that_was_not_learned_has_the_lowest_score(chains):
    batch, texts = chains
    y = np.repeat([0, 1, 2], [30, 29, 1])
    classes = np.unique(y)
    train, test = np.arange(59), np.arange(50, 60)
    methods = baselines_for(batch, y, classes, texts, 1)
    methods["gvoys"] = LearnerMethod(gv.RandomWalkClassifier(gv.Walk(refine=0), C=1.0), batch, y, classes)
    for name, method in methods.items():
        found = method.fit(train)(test)
        assert found.scores.shape == (10, 3), name
        assert (found.scores[:, 2] <= found.scores.min(axis=1)).all(), name


def test_gram_methods_use_the_training_graphs_alone():
    K = np.eye(12) + 0.1
    y = np.arange(12.0)
    for classes, targets in ((None, y), (np.array([0, 1]), (y > 5).astype(int))):
        train, test = np.array([0, 1, 2, 9, 10, 11]), np.array([3, 4])
        before = GramMethod(K, targets, classes).fit(train)(test).values
        changed = targets.copy()
        changed[3:9] = targets[0]
        np.testing.assert_array_equal(GramMethod(K, changed, classes).fit(train)(test).values, before)
