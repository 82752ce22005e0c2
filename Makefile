# `make demo` and `make test` do all the set-up on a fresh machine with Python 3.11.

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
# The suite uses two processes; JOBS=4 make test uses four.
JOBS   ?= 2

.PHONY: demo test test-slow bench clean

# The stamps are made anew when the packaging metadata changes.
$(VENV)/run.stamp: setup.cfg
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -e .
	touch $@

$(VENV)/dev.stamp: setup.cfg
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@

test: $(VENV)/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest -q -n $(JOBS) -m 'not slow' --cov --cov-report=term:skip-covered

test-slow: $(VENV)/dev.stamp
	$(BIN)/pytest -q -n $(JOBS) -m slow

bench: $(VENV)/dev.stamp
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis demo-out
