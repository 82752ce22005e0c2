# `make demo` and `make test` do all the set-up on a fresh machine with Python 3.11.

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
# The suite uses two processes; JOBS=4 make test uses four.
JOBS   ?= 2

.PHONY: demo test test-browser test-slow coverage bench bench-results clean

# The stamps are made anew when the packaging metadata changes.
$(VENV)/run.stamp: setup.cfg
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[report]'
	touch $@

$(VENV)/dev.stamp: setup.cfg
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@

# The invented knowledge base of submissions/ becomes a run; then the two invented runs, as runs of knowledge bases and
# of slot filling are scored. Outputs must be new files, so the folder is made anew.
demo: $(VENV)/run.stamp
	rm -rf demo-out
	mkdir demo-out
	$(BIN)/cs-score validate-kb -output tac -output_dir demo-out -error_file demo-out/tide.errlog submissions/tide.tac
	$(BIN)/cs-score resolve-queries -error_file demo-out/tide.resolved --explain demo-out/tide.explained.tsv \
	  queries/sf-queries.xml demo-out/tide.tac.valid demo-out/tide.tab.txt
	$(BIN)/cs-score -output_file demo-out/tide -queries queries/queryids.txt -error_file demo-out/tide.scored.errlog \
	  -expand ISLE26 \
	  queries/ldc-queries.xml assessments/pool-2016.tab demo-out/tide.tab.txt
	$(BIN)/cs-score -output_file demo-out/tide-kb -queries queries/queryids.txt -error_file demo-out/tide-kb.errlog \
	  -expand ISLE26 \
	  queries/ldc-queries.xml submissions/tide-kb.tab.txt assessments/pool-2016.tab
	$(BIN)/cs-score -output_file demo-out/gull-sf -queries queries/queryids.txt -error_file demo-out/gull-sf.errlog \
	  -expand ISLE26 -justifications 1:1 -ignore UNASSESSED -wrong INCORRECT:INCORRECT_PARENT:INEXACT:DUPLICATE \
	  queries/ldc-queries.xml submissions/gull-sf.tab.txt assessments/pool-2016.tab
	$(BIN)/cs-score -output_file demo-out/gull-2016 -queries queries/queryids.txt -error_file demo-out/gull-2016.errlog \
	  -expand ISLE26 --follow 3.0 \
	  queries/ldc-queries.xml submissions/gull-2016.tab assessments/pool-2015.tab
	@for run in tide tide-kb gull-sf gull-2016; do \
	  echo; echo "== demo-out/$$run.summary"; cat demo-out/$$run.summary; \
	  [ ! -e demo-out/$$run.ap ] || { echo; echo "== demo-out/$$run.ap, from SUMMARY on"; sed -n '/^SUMMARY/,$$p' demo-out/$$run.ap; }; \
	done
	$(BIN)/cs-score report -queries queries/queryids.txt -expand ISLE26 -o demo-out/report.html \
	  queries/ldc-queries.xml submissions/tide-kb.tab.txt assessments/pool-2016.tab
	@echo; echo "How each number comes about: submissions/README.md"
	@echo "To look at in a browser: demo-out/report.html, why TIDE_KB scored what it did"

test: $(VENV)/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest -q -n $(JOBS) --dist loadfile -m 'not slow'

# Part of `make test`, where they are skipped if there is no browser: Debian's chromium and chromium-driver.
test-browser: $(VENV)/dev.stamp
	$(BIN)/pytest -q -m browser tests/report

# Everything with 200 examples of each law instead of 25, all recorded cases of ../shared, error rates: half an hour.
test-slow: $(VENV)/dev.stamp
	HYPOTHESIS_PROFILE=deep $(BIN)/pytest -q -n $(JOBS) --timeout 1800

coverage: $(VENV)/dev.stamp
	$(BIN)/pytest -q -n $(JOBS) -m 'not slow' --cov --cov-report=term:skip-covered

bench: $(VENV)/dev.stamp
	$(BIN)/python -m benchmarks

# Writes benchmarks/RESULTS.md anew; takes several minutes on a quiet machine.
bench-results: $(VENV)/dev.stamp
	$(BIN)/python -m benchmarks --results benchmarks/RESULTS.md

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis demo-out
