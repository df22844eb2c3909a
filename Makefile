# SPDX-License-Identifier: BSD-3-Clause
# Thin: every target is one line to meson, pip, pytest or a script. `make` alone lists them.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

# Tools come from .venv (see tools/setup.sh), so that everybody has the same Meson and the same formatter.
export PATH := $(CURDIR)/.venv/bin:$(PATH)

RELEASE := build/release
SANITIZE := build/sanitize
FUZZ := build/fuzz
FUZZ_SECONDS ?= 10
STRICT_FRAMES ?= 1e7
PYTEST_ARGS ?=
BENCH_ARGS ?=
TRIALS ?= 100
SEED ?=
FAULT ?=
JOB ?=
VERSION ?= 25.11

HEADING = @printf '\n== %s\n'

C_FILES = $(shell find engine -name '*.[ch]')
PYTHON_DIRS = $(wildcard src tools tests bench lab examples)
SANITIZERS := -Db_sanitize=address,undefined -Db_lundef=false -Ddpdk_link=shared -Dunit_tests=enabled -Dbuildtype=debugoptimized
# Those of OSS-Fuzz's images, but for its own macro; both sanitizers at once.
FUZZ_FLAGS := -O1 -gline-tables-only -fno-omit-frame-pointer -fsanitize=address,undefined -fsanitize=fuzzer-no-link
SANITIZER_ENV := ASAN_OPTIONS=detect_leaks=1:abort_on_error=1 \
	UBSAN_OPTIONS=halt_on_error=1:abort_on_error=1:print_stacktrace=1

## help: what can be made
.PHONY: help
help:
	@echo 'make TARGET, where TARGET is'
	@sed -n 's/^## \([a-z-]*\): /  \1|/p' Makefile | column -t -s '|'

## setup: install what developing and testing need (apt packages; Python ones into .venv)
.PHONY: setup setup-run
setup:
	@tools/setup.sh dev
setup-run:
	@tools/setup.sh run

# --- Build: engine and package in one go, into .venv -----------------------------------------------
# Folders are prerequisites too: their time changes when a file is removed.
INSTALLED := .venv/.wirerate-installed
BUILT_FROM := meson.build meson_options.txt pyproject.toml \
	$(shell find engine src \( -name __pycache__ -prune \) -o \( -type d -o -type f ! -name '*.pyc' \) -print)

## build: compile what changed, install engine and package into .venv
.PHONY: build
build: setup-run
	@$(MAKE) -s $(INSTALLED)

$(INSTALLED): $(BUILT_FROM)
	$(HEADING) 'build: engine and package into .venv'
	@find src -name __pycache__ -prune -exec rm -rf {} +
	@if [ -f $(RELEASE)/build.ninja ]; then ninja -C $(RELEASE) --quiet; fi # warnings are seen; pip hides them
	@pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --force-reinstall \
		-Cbuild-dir=$(RELEASE) .
	@touch $@

## demo: five seconds of traffic on this machine, no NIC, no hugepages, no settings changed
.PHONY: demo
demo: build
	$(HEADING) 'demo: wirerate perf --duration 5'
	@wirerate perf --duration 5

# --- Test ------------------------------------------------------------------------------------------
## test: everything: the quick part, sanitized unit tests, fuzzing for seconds, lab, behaviour
.PHONY: test
test:
	@$(MAKE) quick
	@$(MAKE) sanitize
	@$(MAKE) fuzz
	@$(MAKE) lab-stage
	@$(MAKE) behaviour

## quick: what needs no traffic: build, check, unit tests, plans and frames; on all CPUs
.PHONY: quick
quick:
	@$(MAKE) setup
	@$(MAKE) build
	@$(MAKE) check
	@$(MAKE) every-dpdk
	@$(MAKE) unit
	@$(MAKE) plans

## unit: the engine's unit tests
.PHONY: unit
unit: build
	$(HEADING) 'unit: engine/tests'
	@# `make demo` may have configured the build before cmocka was installed.
	@grep -q '"unit"' $(RELEASE)/meson-info/intro-tests.json || \
		meson setup --reconfigure -Dunit_tests=enabled $(RELEASE) >/dev/null
	@meson test -C $(RELEASE) --suite unit --print-errorlogs

## sanitize: the same under AddressSanitizer and UBSan, warnings are errors
.PHONY: sanitize
sanitize:
	$(HEADING) 'sanitize: engine/tests under ASan and UBSan'
	@[ -f $(SANITIZE)/build.ninja ] || meson setup $(SANITIZE) $(SANITIZERS) -Dwerror=true >/dev/null
	@ninja -C $(SANITIZE) --quiet all meson-test-prereq
	@$(SANITIZER_ENV) meson test -C $(SANITIZE) --suite unit --print-errorlogs --no-rebuild

## fuzz: every fuzz target for FUZZ_SECONDS (10), from its seeds
.PHONY: fuzz
fuzz:
	$(HEADING) 'fuzz: engine/fuzz, $(FUZZ_SECONDS) s each'
	@CC=clang CXX=clang++ CFLAGS='$(FUZZ_FLAGS)' CXXFLAGS='$(FUZZ_FLAGS)' LIB_FUZZING_ENGINE=-fsanitize=fuzzer \
		OUT=$(CURDIR)/$(FUZZ)/out WORK=$(CURDIR)/$(FUZZ)/work engine/fuzz/oss-fuzz/build.sh
	@$(SANITIZER_ENV) tools/fuzz.sh $(FUZZ) $(FUZZ_SECONDS)
	@PYTHONPATH=src python tests/fuzz/fuzz_plan.py $(FUZZ_SECONDS)

## lab: jobs in a guest with emulated NICs; lists them, JOB='perf measured' runs some, JOB=all every one (docs/lab.md)
.PHONY: lab lab-stage
lab: build
	@python -m lab.lab $(JOB)

## lab-stage: the lab's part of `make test`; skipped, with the reason, where QEMU with igb cannot be had
lab-stage: build
	$(HEADING) 'lab-stage: emulated NICs'
	@python -m lab.lab --or-skip stage

# Of all tests, those that measure nothing: they may share the CPUs.
PLANS := tests/unit tests/golden tests/property
## plans: the package's own tests, no engine runs for long; PYTEST_ARGS='-k ring' picks
.PHONY: plans
plans: build
	$(HEADING) 'plans: $(PLANS)'
	@python -m pytest --numprocesses=auto $(PLANS) $(PYTEST_ARGS)

## behaviour: the other tests, against the installed program; PYTEST_ARGS='-k ring' picks
.PHONY: behaviour
behaviour: build strict-engine
	$(HEADING) 'behaviour: tests/ without $(PLANS)'
	@# loadgroup hands tests out one by one, as workers become free
	@python -m pytest --numprocesses=auto --dist=loadgroup tests $(PLANS:%=--ignore=%) $(PYTEST_ARGS)

## chaos: TRIALS (100) random trials with faults, each judged by a witness (docs/chaos.md); SEED=N repeats
.PHONY: chaos
chaos: build
	$(HEADING) 'chaos: $(TRIALS) trials'
	@PYTHONPATH=tests python -m chaos --trials $(TRIALS) $(if $(SEED),--seed $(SEED)) $(if $(FAULT),--fault '$(FAULT)')

## strict: every command on devices with a NIC's rules, STRICT_FRAMES (1e7) frames in each case
.PHONY: strict strict-engine
strict: build strict-engine
	$(HEADING) 'strict: $(STRICT_FRAMES) frames in each case'
	@STRICT_FRAMES=$(STRICT_FRAMES) python -m pytest -s --timeout 1200 tests/behaviour/test_strict_device.py
strict-engine: build
	@ninja -C $(RELEASE) --quiet engine/tests/strict/wirerate-engine-strict

# --- Check -----------------------------------------------------------------------------------------
## check: format, lint, types, spelling, include direction, sizes; changes nothing
.PHONY: check
check:
	$(HEADING) 'check: format'
	@clang-format --dry-run -Werror $(C_FILES)
	@ruff format --check --quiet $(PYTHON_DIRS)
	$(HEADING) 'check: lint'
	@ruff check --quiet $(PYTHON_DIRS)
	$(HEADING) 'check: types'
	@mypy --no-error-summary $(PYTHON_DIRS)
	$(HEADING) 'check: spelling'
	@git ls-files -z --cached --others --exclude-standard --deduplicate | xargs -0 codespell
	$(HEADING) 'check: docs/python-reference.md is what the docstrings say'
	@python tools/api_reference.py --check
	$(HEADING) 'check: include direction, sizes'
	@python tools/check_includes.py
	@python tools/check_size.py

## every-dpdk: every C source compiles with Debian's other long-term DPDKs; skipped, with the reason, without a mirror
.PHONY: every-dpdk
every-dpdk:
	$(HEADING) 'every-dpdk: headers of 22.11, 24.11, 25.11'
	@python -m tools.dpdk headers

## dpdk: build, link and run with DPDK VERSION (25.11) in a tree of its own, build/dpdk/VERSION
.PHONY: dpdk
dpdk: build
	$(HEADING) 'dpdk: $(VERSION)'
	@python -m tools.dpdk tree $(VERSION)

## fix: let the formatters and the linter change what they can
.PHONY: fix
fix:
	@clang-format -i $(C_FILES)
	@ruff check --quiet --fix $(PYTHON_DIRS) || true
	@ruff format $(PYTHON_DIRS)

# --- The rest --------------------------------------------------------------------------------------
## bench: cycles per frame, and figures of whole runs, on this machine; BENCH_ARGS goes to bench/run.py
.PHONY: bench
bench: setup build
	$(HEADING) 'bench'
	@python bench/run.py $(BENCH_ARGS)
	@python bench/measuring.py
	@python bench/searching.py
	@python bench/headlines.py

## clean: remove what was built, keep .venv
.PHONY: clean
clean:
	rm -rf build dist $(INSTALLED) .mypy_cache .pytest_cache .ruff_cache .hypothesis
