# `make demo` and `make test` do all the set-up on a fresh machine with Python 3.11.

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
# Three processes keep two cores busy: many tests wait for commands that they call. JOBS=6 make test uses six.
JOBS   ?= 3

SHARE  := share/man/man1/cs-score.1 share/bash-completion/completions/cs-score share/zsh/site-functions/_cs-score \
          share/fish/vendor_completions.d/cs-score.fish
# The date of everything in a distribution: that of the last commit; in an unpacked distribution that of its files.
export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || stat -c %Y PKG-INFO)

.PHONY: demo simulations test test-browser test-slow test-oldest test-newest docs coverage mutants bench bench-results share dist clean

# The stamps are made anew when the packaging metadata changes.
$(VENV)/run.stamp: setup.cfg
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[report]'
	touch $@

$(VENV)/docs.stamp: setup.cfg
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[docs]'
	touch $@

$(VENV)/dev.stamp: setup.cfg examples/cs-score-fever/setup.cfg
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev]'
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e examples/cs-score-fever
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
	$(BIN)/pytest -q examples

# Part of `make test`, where they are skipped if there is no browser: Debian's chromium and chromium-driver.
test-browser: $(VENV)/dev.stamp
	$(BIN)/pytest -q -m browser tests/verbs/report

# Everything with 200 examples of each law instead of 25, all recorded cases of ../shared, error rates: half an hour.
test-slow: $(VENV)/dev.stamp
	HYPOTHESIS_PROFILE=deep $(BIN)/pytest -q -n $(JOBS) --timeout 1800

# The quick tests with the oldest versions that setup.cfg allows of what the package needs, and on another Python:
# make test-newest NEWEST=python3.14
OLDEST ?= python3.11
NEWEST ?= python3.13
WITH   := -q -m 'not slow and not browser' -n $(JOBS) --dist loadfile

test-oldest:
	mkdir -p build
	sed -n '/^install_requires/,/^all =/s/^    \([a-z0-9-]*\)>=\([0-9.]*\)$$/\1==\2/p' setup.cfg > build/oldest.txt
	$(OLDEST) -m venv build/oldest
	build/oldest/bin/pip install --quiet --disable-pip-version-check -c build/oldest.txt -e '.[dev]'
	build/oldest/bin/python -m pytest $(WITH)

test-newest:
	$(NEWEST) -m venv build/newest
	build/newest/bin/pip install --quiet --disable-pip-version-check -e '.[dev]'
	build/newest/bin/python -m pytest $(WITH)

# The site, from docs/ and the tables of the package: build/site/index.html. No network; every warning is an error.
docs: $(VENV)/docs.stamp
	$(BIN)/sphinx-build --quiet --fresh-env --fail-on-warning --keep-going --jobs $(JOBS) docs build/site
	@echo "To look at in a browser: build/site/index.html"

coverage: $(VENV)/dev.stamp
	$(BIN)/pytest -q -n $(JOBS) -m 'not slow' --cov --cov-report=term:skip-covered

# The figures of docs/statistics, and whether they keep their limits; several minutes.
simulations: $(VENV)/dev.stamp
	$(BIN)/python -m benchmarks.simulations

bench: $(VENV)/dev.stamp
	$(BIN)/python -m benchmarks

# Writes benchmarks/RESULTS.md anew; takes several minutes on a quiet machine.
bench-results: $(VENV)/dev.stamp
	$(BIN)/python -m benchmarks --results benchmarks/RESULTS.md

# The manual page and what completes commands in a shell, which the wheel installs; a test says when they are old.
share: $(VENV)/run.stamp
	$(BIN)/cs-score man > $(word 1, $(SHARE))
	$(BIN)/cs-score completion bash > $(word 2, $(SHARE))
	$(BIN)/cs-score completion zsh > $(word 3, $(SHARE))
	$(BIN)/cs-score completion fish > $(word 4, $(SHARE))

# The same bytes each time: setuptools gives the archive the times and the owner of its files, so it is packed anew, and
# the wheel is made from it, which has to score a sample in an environment of its own.
dist:
	rm -rf dist build/dist
	$(PYTHON) -m venv build/dist
	build/dist/bin/pip install --quiet --disable-pip-version-check build twine
	build/dist/bin/python -m build --sdist
	tar -xzf dist/*.tar.gz -C build/dist && rm dist/*.tar.gz
	cd build/dist && tar --sort=name --mtime=@$$SOURCE_DATE_EPOCH --owner=0 --group=0 --numeric-owner \
	  --mode=u=rwX,go=rX -c cs_score-* | gzip -n9 > ../../dist/$$(basename cs_score-*).tar.gz
	umask 022 && build/dist/bin/pip wheel --quiet --disable-pip-version-check --no-deps -w dist dist/*.tar.gz
	build/dist/bin/twine check --strict dist/*
	rm -rf build/empty && $(PYTHON) -m venv build/empty
	build/empty/bin/pip install --quiet --disable-pip-version-check dist/*.whl
	build/empty/bin/cs-score score -expand ISLE26 queries/ldc-queries.xml assessments/pool-2016.tab submissions/tide-kb.tab.txt
	sha256sum dist/*

# Changes the scoring and the statistics in one place at a time, and counts the changes that the quick tests notice; hours
# for all, minutes for make mutants ONLY='cs_score.coldstart.ranking*'. .venv/bin/mutmut show NAME prints a change.
mutants: $(VENV)/dev.stamp
	$(BIN)/pip install --quiet --disable-pip-version-check mutmut==3.8.1
	mkdir -p build/tmp
	PYTEST_DEBUG_TEMPROOT=$(CURDIR)/build/tmp HYPOTHESIS_PROFILE=mutants $(BIN)/mutmut run --max-children $(JOBS) $(ONLY)
	@$(BIN)/mutmut results --all true | sed -n 's/^ *\(cs_score[^:]*\)\.x[^.:]*: \(.*\)/\1: \2/p' | sort | uniq -c

clean:
	rm -rf $(VENV) build dist mutants .mypy_cache .ruff_cache .pytest_cache .hypothesis demo-out
