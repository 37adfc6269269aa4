"""RandomWalkClassifier: graphs in, classes out, one fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from gvoys.errors import ParameterError, UnsupportedError
from gvoys.estimators.base import as_seed
from gvoys.estimators.learner import Learner
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.check import as_array
from gvoys.io.convert import as_batch
from gvoys.kernels.balance import Balance, BalancedProfiles, Products, block_alignments
from gvoys.kernels.base_kernels import BaseKernel, Nystroem, Pairs
from gvoys.kernels.engines import Engine, KernelMachine, LinearMachine, Training
from gvoys.kernels.explaining_learners import Explainer
from gvoys.kernels.explanation import Explanation, with_smiles
from gvoys.kernels.inputs import check_walk_of_learner, similarity_floor, warn_of_unused
from gvoys.kernels.profiler import LabelsAndAttributes, Profiler, usual_walk
from gvoys.kernels.progress import Progress, progress_bars
from gvoys.kernels.selection import (
    DEFAULT,
    GRID,
    Choice,
    choose,
    is_better,
    is_positive,
    nearest_ten,
    subsample,
    values_of,
)
from gvoys.kernels.targets import Targets, check_weights, read_columns, warn_of_single_graphs
from gvoys.series import Coefficients
from gvoys.threads import threads
from gvoys.walks.checks import check_count, is_auto
from gvoys.walks.method import check_device
from gvoys.walks.structure import usual_labels
from gvoys.walks.walk import Walk, check_walk, takes_walk

_BLOCK = 4096  # graphs whose profiles are in memory at once
_FOLDS = 5  # of the inner cross-validation
N_LANDMARKS = 1000  # graphs that Nyström features are made of
_SAMPLE = 3000  # graphs by which the kernel is chosen where there are too many for a Gram matrix


class RandomWalkClassifier(ClassifierMixin, Learner):
    """Classify graphs by the walks they share, with refined labels and a support vector machine.

    `fit` profiles the graphs (walks of every length, labels after every Weisfeiler–Lehman iteration),
    gives every length the same trace, half-normalises, and puts a base kernel on the profiles. What is "auto" is chosen
    by inner cross-validation: the default (three iterations, Matérn 1/2, C = 10) is left only for something better by
    over one standard error. All constants come from the graphs of `fit`, and a prediction depends on no other graph of
    the call.

    Parameters
    ----------
    walk : "auto" or Walk, default="auto"
        What is counted. "auto" means walks of length 0 … 6 that start and stop anywhere, by node labels where there are
        any, with edge labels in molecules (where node labels are tuples); nodes without labels are told apart by their
        degree and core number, in directed graphs by their degree. It chooses among 0, 1 and 3 Weisfeiler–Lehman
        iterations, excludes backtracking walks where the mean degree is at most 3, as in molecules, and uses node
        attributes, in walks of length 0 and 1 that weigh as much as the labels, where inner cross-validation says that
        they help; return probabilities stand for the attributes of graphs with neither labels nor attributes.
        `partial_fit`, which has no cross-validation, ignores attributes then. A Walk is used as given; its fields
        `refine`, `backtrack` and `attribute_bandwidth` may be "auto" too.
    kernel : {"auto", "linear", "matern12", "matern32", "gaussian"}, default="auto"
        Base kernel on the profiles; "auto" chooses among linear, Matérn 1/2 and Gaussian.
    C : float or "auto", default="auto"
        Penalty of the support vector machine; "auto" chooses among 1, 10 and 100.
    method : {"auto", "sequences", "sketch"}, Sketch or Combined, default="auto"
        How walks are counted: exactly, label sequence by label sequence, or in a sketch of 256 components for each
        length and iteration, and 512 for graphs of over 100 nodes on average. "auto" counts each iteration up to the
        length by which a sample of the graphs has few sequences, which in molecules is the longest, and sketches the
        rest. ``gvoys.walks.Sketch(128)`` and ``gvoys.walks.Combined(128)`` mean "sketch" and "auto" with another width.
    class_weight : dict, "balanced" or None, default=None
        Weight of each class by its name, one where it is not named; "balanced" weighs classes by the inverse of their
        numbers of graphs.
    max_exact : int, default=20000
        Past this many graphs the Gram matrix is not formed: logistic regression on Nyström features takes its place.
        `partial_fit` always does that, with the default kernel.
    random_state : int, RandomState or None, default=0
        Seed of the sketch and of the folds.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.
    device : {"cpu", "cuda"}, default="cpu"
        Where sketches and their products are computed; with "cuda", `method` "auto" means "sketch".
    verbose : bool, default=False
        Whether `fit` shows progress bars, on stderr.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,), or list of them
        The classes, or those of each column where y has several.
    walk_ : Walk
        The walk that was used or chosen.
    chosen_ : Choice
        The `refine`, `kernel` and `C` that were used, with the scores of all that were tried.
    series_ : Coefficients
        The series mu, one coefficient per length.
    contributions_ : ndarray of shape (n_iterations + 1, max_length + 1)
        Alignment of each block with the classes, by a few hundred graphs; 1 would be perfect. Not there past
        `max_exact`.
    similarity_floor_ : float or None
        Graphs that are less similar to the nearest fitted one are "unlike" in `predict_table`; None past `max_exact`.

    Examples
    --------
    >>> import gvoys as gv
    >>> molecules = gv.datasets.molecules(120)
    >>> large = molecules.graph_sizes > 25
    >>> model = RandomWalkClassifier().fit(molecules[:80], large[:80])
    >>> model.score(molecules[80:], large[80:]) > 0.7
    True
    """

    @takes_walk(
        n_components="write method=gvoys.walks.Combined(n_components), or Sketch",
        cv="the inner cross-validation has 5 folds",
        n_landmarks="Nyström features are made of 1000 graphs",
    )
    def __init__(
        self,
        walk: Walk | str = "auto",
        kernel: str = "auto",
        *,
        C: float | str = "auto",
        method: Any = "auto",
        class_weight: Any = None,
        max_exact: int = 20_000,
        random_state: Any = 0,
        n_jobs: int | None = None,
        device: str = "cpu",
        verbose: bool = False,
    ) -> None:
        self.walk = walk
        self.kernel = kernel
        self.C = C
        self.method = method
        self.class_weight = class_weight
        self.max_exact = max_exact
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.device = device
        self.verbose = verbose

    # -- fitting

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> RandomWalkClassifier:
        """Profile the graphs, choose a kernel, and train.

        Parameters
        ----------
        X : list of graphs or GraphBatch
            Anything that `as_batch` takes.
        y : array-like of shape (n_graphs,) or (n_graphs, n_outputs)
            The class of each graph; or several columns of classes, such as labels that may go together, which share
            the kernel that is chosen and its Gram matrix.
        sample_weight : array-like of shape (n_graphs,) or None, default=None
            Weight of each graph in training, choice and calibration: 2 multiplies its C by 2, as if it were there
            twice, and 0 leaves it out. The constants of the kernel count every graph once. None means that all are 1.

        Returns
        -------
        RandomWalkClassifier
            The fitted classifier.

        Warns
        -----
        InputWarning
            If a class has a single graph, or graphs have edge attributes.
        """
        batch, columns = self._read_training(X, y, sample_weight)
        warn_of_unused(self, batch)
        exact = len(batch) <= check_count(self.max_exact, "max_exact")
        self.__dict__.pop("contributions_", None)  # of an earlier fit
        self.similarity_floor_: float | None = None
        self._fit_profiler(batch)
        self._remember(batch)
        for classes, targets in zip(self._classes(), columns, strict=True):
            warn_of_single_graphs(classes, targets.codes, calibrated=exact)
        with progress_bars(self.verbose) as progress:
            train = self._train_kernel if exact else self._train_linear
            self.engine_: Engine = train(batch, columns, progress)
        self._keep_walk()
        return self

    chosen_: Choice
    profiler_: Profiler

    def _keep_walk(self) -> None:
        """Put what was chosen in the place of what was "auto"."""
        self.walk_ = replace(self.profiler_.walk_of_graphs, refine=self.chosen_.refine)

    def _read_training(self, X: Any, y: Any, sample_weight: Any) -> tuple[GraphBatch, list[Targets]]:
        """Graphs that weigh something, and their classes, column by column."""
        batch = as_batch(X)
        columns_read, several = read_columns(y, len(batch))
        classes = [part for part, _ in columns_read]
        self.classes_: Any = classes if several else classes[0]
        codes = np.column_stack([part for _, part in columns_read])
        batch, codes, weights = self._keep_weighty(batch, codes, check_weights(sample_weight, len(batch)))
        for names, codes_of_target in zip(classes, codes.T, strict=True):
            lost = names[np.bincount(codes_of_target, minlength=len(names)) == 0].tolist()
            if lost:
                raise ParameterError(f"all graphs of class {lost[0]!r} have weight 0; leave them out, or let one count")
        return batch, [Targets(codes_of_target.copy(), weights) for codes_of_target in codes.T]

    def _classes(self) -> list[NDArray[Any]]:
        """The classes of each column."""
        return self.classes_ if isinstance(self.classes_, list) else [self.classes_]

    def _fit_profiler(self, batch: GraphBatch) -> None:
        self.walk_ = self._choose_walk(batch)
        grids = {name: self._grid(name) for name in GRID}  # before any work, so that a bad value costs none
        self._weights()
        self.seed_ = as_seed(self.random_state)
        check_device(self.device)
        method = "sketch" if is_auto(self.method) and self.device != "cpu" else self.method
        most = replace(self.walk_, refine=max(grids["refine"]))
        self.profiler_ = Profiler.fitted(batch, most, seed=self.seed_, method=method)

    def _choose_walk(self, batch: GraphBatch) -> Walk:
        """Return the walk, in which refine, backtrack and attribute_bandwidth may be "auto"."""
        if is_auto(self.walk):
            return usual_walk(batch, refine="auto", attribute_bandwidth="auto")
        walk = check_walk_of_learner(check_walk(self.walk), "edge_attribute_bandwidth")
        return replace(walk, labels=usual_labels(batch)) if is_auto(walk.labels) else walk

    def _weights(self) -> Any:
        """The weights of the classes by their codes, as scikit-learn takes them."""
        given = self.class_weight
        if given is None or (isinstance(given, str) and given == "balanced"):
            return given
        if not isinstance(given, dict):
            raise ParameterError(f'class_weight must be a dictionary, "balanced" or None, not {given!r}')
        if isinstance(self.classes_, list):
            raise ParameterError('class_weight must be "balanced" or None where y has several columns of classes')
        names = self.classes_.tolist()
        for name, weight in given.items():
            if name not in names:
                raise ParameterError(f"class_weight has {name!r}, which is none of the classes {names}")
            if not is_positive(weight):
                raise ParameterError(f"class_weight[{name!r}] must be a positive number, not {weight!r}")
        return {code: given.get(name, 1.0) for code, name in enumerate(names)}

    def _grid(self, name: str) -> tuple[Any, ...]:
        """Return the values to choose a parameter from: the given one, or several for "auto"."""
        return values_of(name, self.walk_.refine if name == "refine" else getattr(self, name))

    def _train_kernel(self, batch: GraphBatch, columns: list[Targets], progress: Progress) -> KernelMachine:
        """On the Gram matrix of all graphs."""
        with progress.running("profiles"):
            profiles = self.profiler_.profile(batch, self.n_jobs, self.device)
        profiles, pairs, left_out = self._choose(profiles, columns, progress)
        fitted, pairs = self._fit_kernel(profiles, pairs)
        self.contributions_ = np.mean([block_alignments(profiles.labels, item.codes) for item in columns], axis=0)
        self.similarity_floor_ = similarity_floor(pairs.inner)
        how = self._training(self.chosen_.C, progress)
        return KernelMachine.trained(self.kernel_, fitted, pairs, columns, how, left_out)

    def _choose(
        self, profiles: LabelsAndAttributes, columns: list[Targets], progress: Progress
    ) -> tuple[LabelsAndAttributes, Pairs | None, list[NDArray[np.float64] | None] | None]:
        """Choose by some of the graphs; if by all, keep their pairs, and decisions on each by machines without it.

        The profiles that come back lack attributes that do not help.
        """
        sample = subsample(columns, self.seed_)
        all_of_them = len(sample) == len(profiles)
        products = Products(profiles if all_of_them else profiles.take(sample))
        known = [targets.take(sample) for targets in columns]
        profiles = self._without_idle_attributes(profiles, products, known, progress)
        balances = {refine: Balance.fitted(profiles, refine + 1) for refine in self._grid("refine")}
        Cs, names = self._grid("C"), self._grid("kernel")

        def compare(refine: int) -> tuple[Pairs, dict[tuple[int, str], NDArray[np.float64]]]:
            result = products.pairs(balances[refine])
            return result, {(refine, name): BaseKernel.fitted(name, result).gram(result) for name in names}

        with threads(self.n_jobs):
            made = {refine: compare(refine) for refine in balances}
        pairs = {refine: result for refine, (result, _) in made.items()}
        grams = {key: K for refine in balances for key, K in made[refine][1].items()}
        self.chosen_, left_out = choose(grams, known, Cs, self._training(Cs[0], progress), self.n_jobs)
        return (profiles, pairs[self.chosen_.refine], left_out) if all_of_them else (profiles, None, None)

    def _without_idle_attributes(
        self, profiles: LabelsAndAttributes, products: Products, known: list[Targets], progress: Progress
    ) -> LabelsAndAttributes:
        """Leave attributes out unless they help, where that is "auto": by machines with the default kernel."""
        if profiles.attributes is None or not is_auto(self.walk_.attribute_bandwidth):
            return profiles
        alone, name, C = profiles.without_attributes(), self._default_kernel(), nearest_ten(self._grid("C"))

        def compare(each: LabelsAndAttributes) -> NDArray[np.float64]:
            pairs = products.pairs(Balance.fitted(each, max(self._grid("refine")) + 1))
            return BaseKernel.fitted(name, pairs).gram(pairs)

        with threads(self.n_jobs):
            old, new = compare(alone), compare(profiles)
        if is_better(old, new, known, C, self._training(C, progress), self.n_jobs):
            return profiles
        self.profiler_ = self.profiler_.without_attributes()
        return alone

    def _default_kernel(self) -> str:
        kernels = self._grid("kernel")
        return DEFAULT if DEFAULT in kernels else kernels[0]

    def _fit_kernel(self, profiles: LabelsAndAttributes, pairs: Pairs | None) -> tuple[BalancedProfiles, Pairs]:
        """Graphs in the form in which they are compared, their pairs, and the chosen base kernel with its unit."""
        self.balance_ = Balance.fitted(profiles, self.chosen_.refine + 1)
        self.series_ = Coefficients(self.balance_.lengths)
        fitted = self.balance_.of(profiles)
        pairs = fitted.pairs() if pairs is None else pairs
        self.kernel_ = BaseKernel.fitted(self.chosen_.kernel, pairs)
        return fitted, pairs

    def _training(self, C: float, progress: Progress) -> Training:
        return Training(C, self._weights(), _FOLDS, self.seed_, progress)

    # -- without a Gram matrix of all graphs

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> RandomWalkClassifier:
        """Learn from some more graphs; the first ones give the constants and landmarks, with the default kernel.

        Parameters
        ----------
        X : list of graphs or GraphBatch
            Anything that `as_batch` takes.
        y : array-like of shape (n_graphs,)
            The class of each graph.
        classes : array-like, default=None
            All classes; needed at the first call.
        sample_weight : array-like of shape (n_graphs,) or None, default=None
            Weight of each graph, which multiplies its step; 0 leaves it out. None means that all are 1.

        Returns
        -------
        RandomWalkClassifier
            The classifier, which has learned from these graphs too.
        """
        batch, names, weights = self._read_piece(X, y, sample_weight)
        engine, seen = getattr(self, "engine_", None), getattr(self, "seen_labels_", None)
        if not isinstance(engine, LinearMachine) or engine.learner is None:
            engine, seen = self._begin_streaming(batch, classes), None
        else:
            self._warn_of_kind(batch)
        codes = np.searchsorted(self.classes_, names)
        if (self.classes_[np.minimum(codes, len(self.classes_) - 1)] != names).any():
            raise ParameterError("y must hold one of `classes` for each graph")
        self.engine_ = engine.learned(self._balanced(batch), Targets(codes, weights), len(self.classes_))
        self._remember(batch, seen)
        return self

    def _read_piece(self, X: Any, y: Any, sample_weight: Any) -> tuple[GraphBatch, NDArray[Any], Any]:
        """Graphs that weigh something, and the names of their classes."""
        batch, names = as_batch(X), as_array(y)
        if names.shape != (len(batch),):
            raise ParameterError("y must hold one of `classes` for each graph")
        result = self._keep_weighty(batch, names, check_weights(sample_weight, len(batch)))
        self.__dict__.pop("kept_", None)  # which numbers graphs of `fit`
        return result

    def _begin_streaming(self, batch: GraphBatch, classes: Any) -> LinearMachine:
        if classes is None:
            raise ParameterError("the first partial_fit needs all classes: partial_fit(X, y, classes=[…])")
        self.classes_, self.similarity_floor_ = np.unique(np.asarray(classes)), None
        weights = self._weights()
        if weights == "balanced":
            raise ParameterError("partial_fit cannot balance classes that it has not seen; give class_weight={…}")
        self._fit_profiler(batch)
        if is_auto(self.walk_.attribute_bandwidth):
            self.profiler_ = self.profiler_.without_attributes()
        self.chosen_ = Choice(max(self._grid("refine")), self._default_kernel(), float("nan"), float("nan"), {})
        self._keep_walk()
        profiles = self.profiler_.profile(batch[self._some(batch, 0)], self.n_jobs, self.device)
        return LinearMachine.streaming(self._fit_landmarks(profiles), weights)

    def _train_linear(self, batch: GraphBatch, columns: list[Targets], progress: Progress) -> LinearMachine:
        """The kernel is chosen by a sample of the graphs, which holds the landmarks."""
        subset = self._some(batch, _SAMPLE)
        profiles = self.profiler_.profile(batch[subset], self.n_jobs, self.device)
        known = [targets.take(subset) for targets in columns]
        profiles, pairs, _ = self._choose(profiles, known, progress)
        nystroem = self._fit_landmarks(profiles, pairs)
        blocks = _blocks(len(batch))
        # all graphs at once: in single precision, which halves the memory
        parts = [
            nystroem.embed(self._balanced(batch[block])).astype(np.float32)
            for block in progress.track(blocks, "profiles", len(blocks))
        ]
        return LinearMachine.trained(nystroem, np.concatenate(parts), columns, self._training(self.chosen_.C, progress))

    def _some(self, batch: GraphBatch, at_least: int) -> NDArray[np.int64]:
        order = np.random.default_rng(self.seed_).permutation(len(batch))
        return np.sort(order[: max(N_LANDMARKS, at_least)])

    def _fit_landmarks(self, profiles: LabelsAndAttributes, pairs: Pairs | None = None) -> Nystroem:
        fitted, _ = self._fit_kernel(profiles, pairs)
        return Nystroem.fitted(self.kernel_, fitted.take(slice(0, N_LANDMARKS)))

    def _balanced(self, batch: GraphBatch) -> BalancedProfiles:
        return self.balance_.of(self.profiler_.profile(batch, self.n_jobs, self.device))

    # -- predicting

    def plot_contributions(self, path: Any) -> None:
        """Draw `contributions_` into a file.

        Parameters
        ----------
        path : str or Path
            The file, .png or .svg.
        """
        from gvoys.drawing import plots

        check_is_fitted(self, "contributions_")
        plots.save_contributions(Path(path), self.contributions_)

    def decision_function(self, X: Any) -> Any:
        """Confidence in the classes.

        Parameters
        ----------
        X : list of graphs or GraphBatch
            Anything that `as_batch` takes.

        Returns
        -------
        ndarray of shape (n_graphs,) or (n_graphs, n_classes)
            For the second of two classes, or for each of several; a list of them where y had several columns.
        """
        check_is_fitted(self, "engine_")
        return self._one(self._decisions(X))

    def _decisions(self, X: Any) -> list[NDArray[np.float64]]:
        shapes = [(0,) if len(classes) == 2 else (0, len(classes)) for classes in self._classes()]
        return self._by_blocks(X, self.engine_.decide, shapes)

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each graph.

        Parameters
        ----------
        X : list of graphs or GraphBatch
            Anything that `as_batch` takes.

        Returns
        -------
        ndarray of shape (n_graphs,) or (n_graphs, n_outputs)
            The classes.
        """
        check_is_fitted(self, "engine_")
        predicted = self._named(self._decisions(X))
        return np.column_stack(predicted) if isinstance(self.classes_, list) else predicted[0]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of the graphs whose class is predicted; of several columns, all of them.

        Parameters
        ----------
        X : list of graphs or GraphBatch
            Anything that `as_batch` takes.
        y : array-like of shape (n_graphs,) or (n_graphs, n_outputs)
            The classes.
        sample_weight : array-like of shape (n_graphs,) or None, default=None
            Weight of each graph.

        Returns
        -------
        float
            The accuracy.
        """
        right = self.predict(X) == as_array(y)
        return float(np.average(right.all(axis=1) if right.ndim == 2 else right, weights=sample_weight))

    def predict_proba(self, X: Any) -> Any:
        """Probabilities of the classes, calibrated by cross-validation inside `fit`.

        Parameters
        ----------
        X : list of graphs or GraphBatch
            Anything that `as_batch` takes.

        Returns
        -------
        ndarray of shape (n_graphs, n_classes)
            One row per graph, which sums to one; a list of them where y had several columns.
        """
        check_is_fitted(self, "engine_")
        shapes = [(0, len(classes)) for classes in self._classes()]
        return self._one(self._by_blocks(X, self.engine_.probabilities, shapes))

    def explain(
        self, X: Any, of: Any = None, n_sequences: int = 10, smiles: Sequence[str] | None = None
    ) -> list[Explanation]:
        """Why each graph is decided as it is: the shares of its nodes, edges, walk lengths and iterations.

        A walk's share is split equally among its nodes, or its edges. Shares of nodes add up to what the decision
        differs by from that on a graph without walks. The base kernel is followed along the ray from there (integrated
        gradients). Where the model sketches walks, shares have standard errors. Linear in the edges; `explain` takes a
        few times as long as `predict`.

        Parameters
        ----------
        X : list of graphs or GraphBatch
            Anything that `as_batch` takes.
        of : object, default=None
            The class whose decision is explained; None means the second of two classes, or the predicted one of
            several.
        n_sequences : int, default=10
            Number of label sequences that are named of each graph.
        smiles : sequence of str or None, default=None
            The SMILES that the graphs were read from, so that they are drawn as molecules; None knows them where X is
            a list of SMILES.

        Returns
        -------
        list of Explanation
            One for each graph.

        Raises
        ------
        ParameterError
            If there is no such class.
        UnsupportedError
            If y had several columns.
        """
        batch, result, count = self._read(X), [], check_count(n_sequences, "n_sequences", 0)
        explainer = self._explainer()
        for block in _blocks(len(batch)):
            with threads(self.n_jobs):
                graphs = self._on_cpu(batch[block])
                result += explainer.explain(batch[block], graphs, self._codes(graphs, of), count)
        return with_smiles(result, X, smiles)

    def _explainer(self) -> Explainer:
        check_is_fitted(self, "engine_")
        if isinstance(self.classes_, list):
            raise UnsupportedError("explanations are of models with one column of classes; fit one for each column")
        fitted, weights, intercepts = self.engine_.by_class(0)
        known = cast(BalancedProfiles, fitted)
        return Explainer(self.profiler_, self.kernel_, known, weights, intercepts, self.classes_)

    def _on_cpu(self, batch: GraphBatch) -> BalancedProfiles:
        """Explanations are computed there."""
        return self.balance_.of(self.profiler_.profile(batch, self.n_jobs))

    def _codes(self, graphs: BalancedProfiles, of: Any) -> NDArray[np.int64]:
        """Codes of the classes that decisions are explained for."""
        names = self.classes_.tolist()
        if of is None and len(names) > 2:
            return self.engine_.decide(graphs)[0].argmax(axis=1)
        if of is not None and of not in names:
            raise ParameterError(f"of={of!r} is none of the classes {names}")
        return np.full(len(graphs), 1 if of is None else names.index(of))

    def _explained(self, batch: GraphBatch, of: Any, codes: Any) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        graphs, explainer = self._on_cpu(batch), self._explainer()
        codes = self._codes(graphs, of) if codes is None else codes
        return explainer.decide(graphs, codes), codes

    def predict_table(self, X: Any) -> dict[str, NDArray[Any]]:
        """All that is known of each graph, as columns of a table.

        Parameters
        ----------
        X : list of graphs or GraphBatch
            Anything that `as_batch` takes.

        Returns
        -------
        dict of str to ndarray of shape (n_graphs,)
            "prediction"; "probability CLASS" of each class, where there are probabilities; of several columns
            "prediction 0", "probability 0 CLASS" and so on; "nearest", the number of the
            fitted graph that is most like it, and "similarity", the cosine with it, where fitted graphs are kept;
            "unseen", the share of nodes whose label no fitted graph has; "unlike", whether some label is unseen or the
            similarity is below `similarity_floor_`: predictions for such graphs are extrapolations, and at most about
            1 % of graphs like the fitted ones are among them.
        """
        check_is_fitted(self, "engine_")
        batch = self._read(X)
        result = [self.engine_.judge(self._balanced(batch[block])) for block in _blocks(max(len(batch), 1))]
        decisions = _joined([item.decisions for item in result])
        table: dict[str, NDArray[Any]] = {}
        for index, (classes, named) in enumerate(zip(self._classes(), self._named(decisions), strict=True)):
            number = f" {index}" if isinstance(self.classes_, list) else ""
            table[f"prediction{number}"] = named
            if result[0].probabilities[index] is not None:
                known = np.concatenate([item.probabilities[index] for item in result])
                names = (f"probability{number} {name}" for name in classes.tolist())
                table |= dict(zip(names, known.T, strict=True))
        if result[0].nearest is not None:
            table["nearest"] = self._numbered(np.concatenate([item.nearest for item in result]))
            table["similarity"] = np.concatenate([item.similarity for item in result])
        return self._with_likeness(table, batch)

    def transform(self, X: Any) -> NDArray[np.float32]:
        """Features like those by which the model compares graphs, below its base kernel.

        For the linear base kernel their dot products, divided by ``kernel_.unit ** 2``, are the model's kernel; the
        others are functions of their distances. Where the model counts label sequences, features are sketches of the
        same walks, and their products are the model's on average.

        Parameters
        ----------
        X : list of graphs or GraphBatch
            Anything that `as_batch` takes.

        Returns
        -------
        ndarray of shape (n_graphs, n_features)
            The features, float32; each row is a function of its graph alone.
        """
        check_is_fitted(self, "balance_")
        batch = self._read(X)
        profile = self.profiler_.in_sketches().profile
        blocks = _blocks(max(len(batch), 1))
        return np.concatenate(
            [self.balance_.features(profile(batch[block], self.n_jobs, self.device)) for block in blocks]
        )

    def _uses_node_labels(self) -> bool:
        return self.profiler_.walk.node_labels

    def _named(self, decisions: list[NDArray[np.float64]]) -> list[NDArray[Any]]:
        """The class that each decision is for, column by column."""
        codes = [item.argmax(axis=1) if item.ndim == 2 else (item > 0).astype(int) for item in decisions]
        return [classes[values] for classes, values in zip(self._classes(), codes, strict=True)]

    def _one(self, columns: list[NDArray[np.float64]]) -> Any:
        return columns if isinstance(self.classes_, list) else columns[0]

    def _by_blocks(self, X: Any, decide: Any, empty: list[Any]) -> list[NDArray[np.float64]]:
        batch = self._read(X)
        parts = [decide(self._balanced(batch[block])) for block in _blocks(len(batch))]
        return _joined(parts) if parts else [np.empty(shape) for shape in empty]


def _joined(parts: list[list[NDArray[np.float64]]]) -> list[NDArray[np.float64]]:
    """Columns of several groups of graphs, one group after the other."""
    return [np.concatenate(column) for column in zip(*parts, strict=True)]


def _blocks(n: int) -> list[slice]:
    return [slice(begin, min(begin + _BLOCK, n)) for begin in range(0, n, _BLOCK)]
