# `make demo` shows what convexcls does, `make test` runs every check, `make bench` races it against its peers,
# `make docs` builds the documentation site, `make hunt` looks for false certificates, `make mutants` breaks the trusted
# core in turn, `make test-machines` runs the tests as other machines would, `make test-lowest` with old libraries.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

# The peers live in an environment of their own: in the other one they would become backends of cvxpy in the tests.
BENCH       := .venv-bench
BENCH_STAMP := $(BENCH)/.installed

LOWEST := .venv-lowest

.PHONY: demo test test-machines test-lowest hunt mutants lint docs bench clean

demo: $(STAMP)
	@$(BIN)/convexcls demo

test: lint
	OMP_NUM_THREADS=1 $(BIN)/pytest -n auto --dist worksteal

# The whole suite under every BLAS kernel that this processor can run, with one and two threads, in other orders, with
# one worker and without: some twenty runs. OPTIONS are pytest's, such as OPTIONS=tests/solvers/smooth/test_newton.py.
test-machines: $(STAMP)
	$(BIN)/python tests/machines.py $(OPTIONS)

# The lowest versions that pyproject.toml allows, with a resolver that can look for them. Older libraries warn of the
# newer ones below them. Two solvers of others end undecided there, on a problem each, and one picture looks different.
test-lowest:
	test -x $(LOWEST)/bin/python || $(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check uv
	$(LOWEST)/bin/uv pip install --quiet --python $(LOWEST)/bin/python --resolution lowest-direct -e '.[test]'
	OMP_NUM_THREADS=1 $(LOWEST)/bin/python -m pytest -n auto --dist worksteal -W ignore::DeprecationWarning \
	  --deselect 'tests/crosscutting/test_gallery.py::test_solver_finds_the_known_answer[nist_wampler2-cvxpy:HIGHS]' \
	  --deselect 'tests/solvers/test_solvers.py::test_every_accepting_solver_solves_every_model[least-absolute]' \
	  --deselect 'tests/plots/test_plots_images.py::test_a_picture_looks_as_it_did_and_a_spoilt_one_does_not[probability]' $(OPTIONS)

# Every comparison, sign, constant and check of the trusted core broken in turn, until a test fails. MUTANTS chooses:
# MUTANTS="--files '*/parsing.py' --jobs 2", or --list.
mutants: $(STAMP)
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.mutants $(MUTANTS)

lint: $(STAMP)
	$(BIN)/ruff check convexcls tests benchmarks docs examples
	$(BIN)/ruff format --check convexcls tests benchmarks docs examples
	$(BIN)/mypy
	$(BIN)/lint-imports

# Every warning is an error; the pages' code and the examples are run. Open docs/_build/html/index.html.
docs: $(STAMP)
	OMP_NUM_THREADS=1 $(BIN)/python -m sphinx -b html -W --keep-going -n -q docs docs/_build/html

# QUICK=1 for small sizes; more options in BENCH_OPTIONS, such as BENCH_OPTIONS="--only logistic --threads 2".
bench: $(BENCH_STAMP)
	$(BENCH)/bin/python -m benchmarks.run $(if $(QUICK),--quick) $(BENCH_OPTIONS)

# Problems drawn by SEED, solved, and compared with independent oracles; more in HUNT_OPTIONS, such as
# HUNT_OPTIONS="--solvers all --families epoch,offsets --jobs 2" or "--only 7:1234" for one of them at length.
hunt: $(STAMP)
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.hunt --count $(or $(COUNT),1000) --seed $(or $(SEED),0) $(HUNT_OPTIONS)

$(BENCH_STAMP): pyproject.toml
	test -x $(BENCH)/bin/python || $(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[bench]'
	touch $(BENCH_STAMP)

$(STAMP): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("convexcls needs Python 3.11 or newer" if sys.version_info < (3, 11) else 0)'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $(STAMP)

clean:
	rm -rf docs/_build docs/examples $(VENV) $(BENCH) $(LOWEST) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
