"""What is compared: learners with nothing set, or with what their parts are named after, beside fingerprints."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

import gvoys as gv
from gvoys.apps.evaluation.baselines import Forest, GramMethod, ecfp4_counts, tanimoto
from gvoys.apps.evaluation.evaluate import LearnerMethod, Method
from studies.learning_data import Molecules

N_COLUMNS = 2**16  # so many that hardly two fragments share one


@dataclass(frozen=True)
class Compared:
    """A method by its name, with the parameters that its results are kept under."""

    name: str
    parameters: dict[str, Any]
    make: Callable[[Molecules], Method]


def learner(name: str, model: Any) -> Compared:
    """A learner of gvoys."""
    return Compared(name, model.get_params(), lambda set_: LearnerMethod(model, set_.batch, set_.y, set_.classes))


REGRESSOR = learner("gvoys", gv.RandomWalkRegressor())
CLASSIFIER = learner("gvoys", gv.RandomWalkClassifier())
TANIMOTO = Compared(
    "ECFP4 Tanimoto", {"n_columns": N_COLUMNS}, lambda set_: GramMethod(_similarities(set_), set_.y, None)
)
FOREST = Compared(
    "ECFP4 + random forest", {}, lambda set_: Forest(ecfp4_counts(set_.smiles), set_.y, set_.classes, None)
)
_LAYERS = ("coarse", "given", "fine")
PARTS = (
    learner("linear", gv.RandomWalkRegressor(kernel="linear")),
    learner("Matérn 3/2, given labels", gv.RandomWalkRegressor(kernel="matern32", layers=("given",))),
    learner("Matérn 3/2, all layers", gv.RandomWalkRegressor(kernel="matern32", layers=_LAYERS)),
    learner("default", gv.RandomWalkRegressor()),
)


@lru_cache(1)
def _similarities(molecules: Molecules) -> np.ndarray:
    return tanimoto(ecfp4_counts(molecules.smiles, N_COLUMNS))
