"""Estimators and functions called with values of the wrong kind; the work of those that can do with them is bounded."""

import inspect

import numpy as np
from mutations import mutate, wrong

import gvoys as gv

CLASSES = [
    *(gv.RandomWalkFeatures, gv.RandomWalkKernel, gv.GraphVoyagers, gv.OneSidedVoyagers, gv.GraphRandomFeatures),
    *(gv.RandomWalkClassifier, gv.RandomWalkRegressor),
]
SERIES = [gv.Geometric("auto"), gv.Geometric(0.01), gv.Exponential(0.1), gv.Coefficients([1, 0.5, 0.25])]


def bounded(value):
    """A number that asks for no more work than a test can do."""
    real = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    return 7 if real and value == value and abs(value) > 1000 else value


def a_series(rng):
    if rng.random() < 0.6:
        return SERIES[rng.integers(len(SERIES))]
    return [gv.Geometric, gv.Exponential, gv.Coefficients][rng.integers(3)](wrong(rng))


def call_estimator(rng):
    """Fit and apply an estimator of which some parameters are wrong."""
    batch = gv.datasets.molecules(8)
    kind = CLASSES[rng.integers(len(CLASSES))]
    names = [name for name in inspect.signature(kind).parameters if name != "kwargs"]
    values = [4, 8, 16, 0.5]
    given = {
        names[rng.integers(len(names))]: bounded(wrong(rng)) if rng.random() < 0.9 else values[rng.integers(4)]
        for _ in range(rng.choice([1, 1, 2, 3]))
    }
    if "series" in names and "series" not in given and kind not in (gv.RandomWalkClassifier, gv.RandomWalkRegressor):
        given["series"] = a_series(rng)
    model = kind(**given)
    if kind is gv.GraphRandomFeatures:
        model.fit(batch[0])
        return
    y = batch.graph_sizes > np.median(batch.graph_sizes) if kind is gv.RandomWalkClassifier else np.arange(8.0)
    model.fit(batch, y)
    found = model.predict(batch) if hasattr(model, "predict") else model.transform(batch)
    assert np.isfinite(np.asarray(found, float)).all()


def call_function(folder, rng):
    """Call one of the functions with wrong arguments."""
    batch = gv.datasets.molecules(4)
    empty = [gv.GraphBatch.from_arrays([], sizes) for sizes in ([0], [1, 0, 5], [])]
    graphs = [batch, batch[0], None, 3, "x", [], *empty][rng.integers(9)]

    def value():
        return bounded(wrong(rng))

    def one_of(*values):
        return values[rng.integers(len(values))]

    def named(*names):
        return {one_of(*names): value()}

    def theory():
        function = getattr(
            gv.theory,
            one_of("load_bound", "difference_bound", "concentration_bound", "walks_needed", "finite_variance"),
        )
        parameters = inspect.signature(function).parameters.values()
        needed = [p for p in parameters if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
        function(*(one_of(batch, gv.Geometric(0.01), value()) for _ in needed))

    smiles = mutate(b"CC(C)c1ccccc1[N+](=O)[O-]", rng).decode("latin1")
    one_of(
        lambda: gv.profiles(
            graphs,
            gv.Walk(one_of(3, value())),
            method=one_of("moments", "sketch", "sequences", "voyagers", value()),
            **named("n_components", "start", "stop", "scale", "labels", "random_state"),
        ),
        lambda: gv.compute_gram(
            one_of(value(), gv.profiles(batch, gv.Walk(4), method="moments")), one_of(gv.Geometric(0.1), value())
        ),
        lambda: gv.exact_kernel(
            batch[0], graphs, one_of(*SERIES[1:], value()), **named("solver", "start", "stop", "labels")
        ),
        lambda: gv.estimate(batch[0], graphs, one_of(gv.Geometric(0.01), value()), rtol=one_of(0.5, 0.1, value())),
        lambda: gv.estimate_on_product(batch[0], graphs, one_of(gv.Geometric(0.01), value())),
        lambda: gv.from_smiles(one_of(value(), ["CCO", value()], [value()], [smiles])),
        lambda: gv.datasets.load_tu(
            one_of("../../x", "/etc/passwd", "..", "", "MUTAG\x00", "M" * 5000, "a\nb", value()), root=folder
        ),
        lambda: gv.datasets.load_smiles(one_of(value(), "/etc/passwd", folder, "/nonexistent.csv"), value()),
        lambda: gv.datasets.molecules(value()),
        lambda: gv.datasets.erdos_renyi(value(), value(), value()),
        lambda: gv.datasets.regular(value(), value(), value()),
        lambda: gv.datasets.stochastic_block(value(), value(), value()),
        lambda: gv.open_store(one_of(value(), folder, "/etc")),
        lambda: gv.write_store(one_of(graphs, value()), folder / "store"),
        lambda: gv.write_store(batch, one_of(folder / "store", folder, _within(folder, value()))),
        lambda: gv.io.open_graphs(one_of(value(), graphs), **named("smiles", "id", "target", "root")).read(),
        lambda: gv.learn_series(one_of(batch, graphs), one_of(np.arange(4) % 2, value()), one_of("alignment", value())),
        theory,
    )()


def _within(folder, value):
    """Names go into the folder, so that nothing is written elsewhere."""
    return str(folder / value.replace("/", "_").replace("..", "_")) if isinstance(value, str) else value
