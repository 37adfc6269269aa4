# make demo: the main job on real molecules.  make test: all checks.  make check: the fast ones.  make bench: measurements.
PYTHON ?= python3
BIN := .venv/bin

# Datasets that lie beside the checkout are used; without them the tests and benchmarks take other graphs.
DATA := $(abspath $(wildcard ../shared/data))
ifneq ($(DATA),)
export GVOYS_DATA ?= $(DATA)
endif

OLDEST := .venv-oldest/bin

.PHONY: help demo check test lint oldest dist bench bench-large reproduce docs fuzz clean

help:
	@sed -n 's/^# *//p' Makefile | head -1

demo: .venv/demo-installed
	$(BIN)/gvoys demo --overwrite

# For everyday work: what takes a minute once kernels are compiled.
FAST := tests/test_reference.py tests/test_series.py tests/test_contract.py tests/test_docs.py tests/test_docstrings.py \
	tests/exact tests/graphs tests/io/test_as_batch.py tests/io/test_sentences.py tests/walks/test_moments.py

check: lint
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile $(FAST)

lint: .venv/test-installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: lint
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder -m "not alone"
	$(BIN)/python -m pytest -m alone

# The main things with the oldest versions that pyproject.toml allows; they have wheels for Python 3.11 and 3.12.
oldest: .venv-oldest/installed
	NUMBA_CACHE_DIR=$(abspath .venv-oldest)/kernels $(OLDEST)/python -m pytest --noconftest tests/smoke.py

# Builds the wheel and the sdist, and uses both in empty environments, without this folder.
dist: .venv/test-installed
	rm -rf dist
	$(BIN)/pip install --quiet build
	$(BIN)/python -m build --outdir dist . > /dev/null
	$(BIN)/python tests/dist.py dist

bench: .venv/test-installed
	$(BIN)/pip install --quiet --editable ".[bench]"
	$(BIN)/python -m studies peers --install --out studies/results/peers-$(shell date -u +%F).json
	$(BIN)/python -m studies

bench-large: .venv/test-installed
	$(BIN)/python -m studies huge loading

reproduce: .venv/test-installed
	$(BIN)/python -m studies.paper all --out reproduced

docs: .venv/test-installed
	$(BIN)/pip install --quiet --editable ".[docs]"
	$(BIN)/sphinx-build -q -W --keep-going docs docs/_build/html
	$(BIN)/python docs/check_links.py docs/_build/html
	@echo docs/_build/html/index.html

fuzz: .venv/test-installed
	GVOYS_FUZZ=6500 $(BIN)/python -m pytest -s tests/test_fuzz.py
	GVOYS_MODEL_MUTATIONS=3000 $(BIN)/python -m pytest -s tests/learning/test_model_mutations.py
	GVOYS_MUTATIONS=10000 $(BIN)/python -m pytest -s tests/io/test_mutations.py
	GVOYS_STORE_MUTATIONS=5000 $(BIN)/python -m pytest -s tests/io/test_store_mutations.py
	GVOYS_RESUME_MUTATIONS=1500 $(BIN)/python -m pytest -s tests/scale/test_resume_mutations.py
	GVOYS_INDEX_MUTATIONS=1400 GVOYS_INDEX_BITS=1000000 $(BIN)/python -m pytest -s tests/search/test_index_mutations.py
	GVOYS_SAVING_SECONDS=10 $(BIN)/python -m pytest -s tests/io/test_files.py
	GVOYS_KILLS=20 $(BIN)/python -m pytest -s tests/scale/test_interruptions.py
	@if $(BIN)/pip install --quiet atheris 2> /dev/null; then $(BIN)/python tests/fuzz.py --seconds 60; \
		else echo "Atheris is not to be had here: no fuzzing by coverage"; fi

clean:
	rm -rf docs/_build docs/gallery docs/generated .venv .venv-oldest .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

# Without the extras the demo says what they would add.
.venv/demo-installed: pyproject.toml src/gvoys/__init__.py | .venv/created
	$(BIN)/pip install --quiet --editable ".[chem,explore,report]" || $(BIN)/pip install --quiet --editable .
	touch $@

.venv/test-installed: pyproject.toml src/gvoys/__init__.py | .venv/created
	$(BIN)/pip install --quiet --editable ".[test,peers]"
	touch $@

.venv/created:
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --upgrade pip
	touch $@

.venv-oldest/installed: pyproject.toml tests/oldest.py
	$(PYTHON) -m venv --clear .venv-oldest
	$(OLDEST)/python tests/oldest.py > .venv-oldest/constraints.txt
	$(OLDEST)/pip install --quiet --only-binary :all: --constraint .venv-oldest/constraints.txt \
		pytest networkx --editable ".[chem,report,cluster,explore]" || \
		{ echo "make oldest: the oldest versions could not be installed; is the package registry reachable?"; exit 1; }
	touch $@
