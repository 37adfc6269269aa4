"""Examples of every format in fuzz.py, changed at random, give an answer or one sentence; `make fuzz` tries more."""

import os

import numpy as np
import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("rdkit")

from fuzz import make_formats
from mutations import mutate

CHANGES = int(os.environ.get("GVOYS_FUZZ", "260"))  # of all formats together
SEED = int(os.environ.get("GVOYS_FUZZ_SEED", "0"))


@pytest.fixture(scope="module")
def formats(tmp_path_factory):
    return make_formats(tmp_path_factory.mktemp("fuzz") / "examples")


def test_changed_bytes_give_an_answer_or_a_sentence(formats):
    counts, wrong = {}, []
    for number, (name, one) in enumerate(formats.items()):
        examples = one.examples
        assert {one.outcome(example) for example in examples} == {"answer"}, name
        for seed in range(SEED, SEED + CHANGES // len(formats)):
            rng = np.random.default_rng([number, seed])
            try:
                found = one.outcome(mutate(examples[rng.integers(len(examples))], rng))
            except Exception as error:
                wrong.append((name, seed, f"{type(error).__name__}: {error}"[:300]))
                continue
            counts[name, found] = counts.get((name, found), 0) + 1
    print(*counts.items(), sep="\n")
    assert not wrong, "\n".join(map(str, wrong))
