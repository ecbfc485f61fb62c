# One word each: install, demo, test, test-slow, lint, bench. Every target does its own set-up.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
BENCH_STAMP := $(VENV)/.installed-bench
KERNELS := $(VENV)/.compiled

.PHONY: install demo test test-slow lint format bench clean

install: $(STAMP)

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit("funcal needs Python 3.11 or newer; found " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)

$(STAMP): pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

$(BENCH_STAMP): $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev,bench]'
	@touch $@

# The kernels are compiled once, as part of the set-up, by a demonstration that nobody sees.
$(KERNELS): $(STAMP) $(shell find src -name '*.py')
	@echo "Compiling the numerical kernels (once, some minutes) ..."
	@$(BIN)/funcal demo --quiet --out $(VENV)/warm-up --force > /dev/null
	@touch $@

demo: $(KERNELS)
	$(BIN)/funcal demo --out demo-output --force

test: install
	$(BIN)/python -m pytest -n 2

test-slow: $(BENCH_STAMP)
	$(BIN)/python -m pytest -n 2 -m slow

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: install
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(BENCH_STAMP)
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) demo-output build
