# Every target builds what it needs in .venv itself. Set PYTHON for another interpreter (3.11 or later).
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Tests run in two processes: what a small machine has.
WORKERS ?= 2

.PHONY: help demo data test test-full lint bench clean

help:
	@echo "make demo       build the environment; check and find formulas on data/examples/"
	@echo "make test       linters, types, import rules and the test suite (about 7 minutes on 2 cores)"
	@echo "make test-full  the same with the large counts (some 12 minutes more)"
	@echo "make lint       linters, types and import rules alone"
	@echo "make bench      the measurements behind the performance claims, smoke size"
	@echo "make data       make the files of data/ anew, byte for byte"
	@echo "make clean      remove the environment and everything built"

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed; set PYTHON=")'
	@echo "building $(VENV) ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@PYTHONWARNINGS=ignore $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@echo "compiling the search kernels ..."
	@$(BIN)/induction solve data/examples/examples.yaml > /dev/null
	@touch $@

demo: $(READY)
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh data/examples/demo.sh

# mypy and import-linter do not follow the mapped packages of an editable install, so they see a plain copy.
lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@rm -rf build/lint build/lib && $(BIN)/python -m pip install --quiet --disable-pip-version-check \
		--no-deps --no-build-isolation --target build/lint .
	cd build/lint && ../../$(BIN)/mypy --config-file ../../pyproject.toml --strict -p induction
	cd build/lint && ../../$(BIN)/lint-imports --no-logo ../../pyproject.toml

test: lint
	$(BIN)/pytest -n $(WORKERS) -m "not full"

test-full: lint
	$(BIN)/pytest -n $(WORKERS)

bench: $(READY)
	$(BIN)/python benchmarks/check.py --tier smoke
	$(BIN)/python benchmarks/search.py --tier smoke
	$(BIN)/python benchmarks/equivalence.py --tier smoke
	$(BIN)/python benchmarks/suite.py --tier smoke

data: $(READY)
	$(BIN)/python data/build.py

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
