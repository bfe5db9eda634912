# Two commands: `make demo` shows what convexcls does, `make test` runs every check.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

.PHONY: demo test lint clean

demo: $(STAMP)
	@$(BIN)/convexcls demo

test: lint
	OMP_NUM_THREADS=1 $(BIN)/pytest -n auto

lint: $(STAMP)
	$(BIN)/ruff check convexcls tests benchmarks
	$(BIN)/ruff format --check convexcls tests benchmarks
	$(BIN)/mypy
	$(BIN)/lint-imports

$(STAMP): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("convexcls needs Python 3.11 or newer" if sys.version_info < (3, 11) else 0)'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $(STAMP)

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
