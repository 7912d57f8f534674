# Each target sets up what it needs: a virtual environment in .venv with the pinned packages (those of
# floodway itself, and for tests the others), and the native module, built in release form. Stamps inside
# .venv make repeated runs quick.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help mpi demo page test-page test test-rust test-python test-long soak least audit bench bench-compare bench-scaling bench-peers bench-command loom miri pgo lint generate validation mutants mutation reproduced docs wheel test-wheel sdist clean tools

# Tests against published reference data run where this folder exists, and are skipped elsewhere.
FLOODWAY_REFERENCE ?= $(abspath $(wildcard ../shared))
ifneq ($(FLOODWAY_REFERENCE),)
export FLOODWAY_REFERENCE
endif

VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
INSTALLED_DEV := $(VENV)/.installed-dev
INSTALLED_DOCS := $(VENV)/.installed-docs
AUDIT := $(VENV)/audit
INSTALLED_AUDIT := $(VENV)/.installed-audit
INSTALLED_RELEASE := $(VENV)/.installed-release
INSTALLED_LAB := $(VENV)/.installed-lab
BUILT := $(VENV)/.built
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check

RUST_SOURCES := $(shell find crates -name '*.rs' -o -name '*.toml')

# The least versions are those that Cargo.toml and pyproject.toml name.
LEAST_RUST := $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
LEAST_PYTHON := $(shell sed -n 's/^requires-python = ">=3\.\(.*\)"/\1/p' pyproject.toml)

help: ## Show this
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 18

# PFC as the scenario has it, with its thresholds, against Bifrost, over the same 42 MB.
demo: $(BUILT) ## Compare PFC with Bifrost over 80 km; tables, pictures and pages in out/demo/
	@$(BIN)/floodway compare scenarios/demo.toml --out out/demo --force \
	  --vary long-haul.flow-control=pfc,bifrost --report

test: lint test-rust test-python ## Formatting, lints, types, and all tests but the long ones

test-rust: tools
	cargo test --workspace --locked --quiet

# A process a core; the tests of a file stay in one process, in their order.
PYTEST := $(BIN)/python -m pytest --quiet --numprocesses auto --dist loadfile

test-python: $(BUILT) $(INSTALLED_DEV)
	$(PYTEST)

test-long: $(BUILT) $(INSTALLED_DEV) ## The long tests, and Rust's properties with four times the cases; CI runs them, too
	FLOODWAY_LONG=1 cargo test --workspace --locked --quiet -- --include-ignored
	$(PYTEST) -m long

# The page of `floodway report`: TypeScript to one script and one style, which are checked in. Needs Node.
PAGE := page

page: page/node_modules ## Build the page of `floodway report` again from its sources, with Node and npm
	cd $(PAGE) && npx --no-install tsc --noEmit && node build.mjs

$(PAGE)/node_modules: $(PAGE)/package-lock.json
	cd $(PAGE) && npm ci --ignore-scripts --no-audit --no-fund
	@touch $@

# Needs Chromium and its driver (Debian: chromium, chromium-driver).
test-page: $(BUILT) $(INSTALLED_DEV) $(PAGE)/node_modules ## The page of `floodway report` in a browser, offline
	$(PYTEST) tests/test_report.py tests/test_report_page.py tests/test_perfetto.py

# The least versions that pyproject.toml names, in .venv. Undone by: touch requirements/dev.lock.
LEAST_NEEDED = import tomllib; project = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
  print(*(need.replace(">=", "==") for need in \
  [*project["dependencies"], *sum(project["optional-dependencies"].values(), [])]), sep="\n")

least: $(INSTALLED_DEV) ## The least versions of the Python packages instead of the newest, for tests
	$(BIN)/python -c '$(LEAST_NEEDED)' > $(VENV)/least.txt
	$(PIP) install --requirement $(VENV)/least.txt

# Needs a network: lists of known faults are fetched. cargo install --locked cargo-deny
audit: $(INSTALLED_AUDIT) | tools ## Licences, sources and known faults of crates and Python packages
	@command -v cargo-deny >/dev/null || { echo "missing: cargo-deny: cargo install --locked cargo-deny" >&2; exit 1; }
	cargo deny --locked check
	for lock in requirements/*.lock; do $(AUDIT)/bin/pip-audit --disable-pip --no-deps --strict --requirement $$lock || exit 1; done

# From a seed on, so many at a time: make soak COUNT=20000 FIRST=1 JOBS=2. KILLS=0 leaves the kills out.
COUNT ?= 1000
FIRST ?= 1
JOBS ?= 2
KILLS ?= 50

soak: $(BUILT) $(INSTALLED_DEV) ## Random scenarios and kills, not in CI: COUNT=20000 FIRST=1 JOBS=2 KILLS=200
	$(BIN)/python tests/soak/run.py --first $(FIRST) --count $(COUNT) --jobs $(JOBS)
ifneq ($(and $(wildcard tests/soak/kills.py),$(filter-out 0,$(KILLS))),)
	$(BIN)/python tests/soak/kills.py --kills $(KILLS)
endif

# Some cases: make bench CASES="two-dc-80km two-dc-600km". A count of runs, or no history:
# OPTIONS="--runs 3 --no-keep".
CASES ?=
OPTIONS ?=

bench: $(BUILT) ## Speed, events and memory of a fixed set, and instructions; adds to benchmarks/history.json
	$(BIN)/python -m floodway_lab.bench run $(CASES:%=--case %) $(OPTIONS)

bench-compare: $(BUILT) ## The last two entries of that history: fails where one is slower by more than 10 %
	$(BIN)/python -m floodway_lab.bench compare $(OPTIONS)

bench-scaling: $(BUILT) ## 16 to 8,192 hosts: table and picture of docs/performance.md
	$(BIN)/python -m floodway_lab.bench scaling $(OPTIONS)

# Other simulators' builds and their peers.toml are in FLOODWAY_PEERS, as docs/peers.md says. Five pairs:
# OPTIONS="--turns 5".
PAIRS ?=

bench-peers: $(BUILT) ## Other simulators and floodway on the same work by turns: FLOODWAY_PEERS=DIR, see docs/peers.md
	FLOODWAY_PEERS="$(FLOODWAY_PEERS)" $(BIN)/python -m floodway_lab.bench peers $(PAIRS:%=--pair %) $(OPTIONS)

bench-command: $(BUILT) ## What the command line itself takes, beside the simulation
	$(BIN)/python -m floodway_lab.bench command $(OPTIONS)

# In a folder of its own, since the flag builds all crates anew.
loom: tools ## All orders of threads at the barrier between windows, and in what they exchange there, under loom
	RUSTFLAGS="--cfg loom" cargo test --locked --quiet --target-dir target/loom -p floodway-engine --lib loom_tests

# Needs a nightly toolchain with that component: rustup toolchain install nightly --component miri.
miri: ## Unsafe code and what stands on it, under Rust's interpreter
	MIRIFLAGS=-Zmiri-strict-provenance cargo +nightly miri test --locked -p floodway-blueprint -p floodway-fabric --lib -- column:: pool:: link::arena:: run::windows::tests::a_crowd

# Needs the LLVM tools of the same Rust: rustup component add llvm-tools. Undone by:
# touch Cargo.toml && make demo.
pgo: $(INSTALLED) | tools ## The native module built again, faster by a profile of runs
	PIP_QUIET=1 VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --quiet --pgo --locked
	@touch $(BUILT)

lint: $(BUILT) $(INSTALLED_DEV) ## Formatting, clippy, ruff, types
	cargo fmt --all --check
	cargo fmt --manifest-path examples/own-mechanism/Cargo.toml --check
	cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
	$(BIN)/ruff format --quiet --check python lab tests .ci
	$(BIN)/ruff check --quiet python lab tests .ci
	$(BIN)/mypy --no-error-summary
	$(BIN)/python -m mypy.stubtest floodway._floodway

generate: $(BUILT) $(INSTALLED_DEV) ## Write again what is made from the code: schema, builders, pages of the documentation
	$(BIN)/python -m floodway_lab.generate .

# What comes from the reference stays as it is where there is none.
validation: $(BUILT) $(INSTALLED_DEV) ## Run the HPCC simulator's cases, the times of jobs and the minimal cases: tables and pictures of docs/validation.md
ifneq ($(FLOODWAY_REFERENCE),)
	$(BIN)/floodway validate $(FLOODWAY_REFERENCE)/reference/ns3 --report docs/validation.md --force
	$(BIN)/floodway validate $(FLOODWAY_REFERENCE)/reference/ai/runs --report docs/validation.md --out out/validate-jobs --force
endif
	$(BIN)/python tests/semantics.py docs/validation.md

# Some papers, without the page: make mutants PAPERS="casl rcm".
PAPERS ?=

mutants: $(BUILT) ## Mechanisms with something wrong: each must make a verdict of its paper worse; docs/mutants.md
	$(BIN)/python -m floodway_lab.reproduction mutants --write $(PAPERS)

# Needs cargo-mutants: cargo install --locked cargo-mutants. A sample: make mutation SAMPLE=100 SEED=1.
# Those of one file: FILE=rcm/sampler.rs. Not optimised, since compiling takes longer than the tests.
SAMPLE ?= 0
SEED ?= 1
FILE ?=

mutation: $(BIN)/python ## Mechanisms with an operator or a result changed: their Rust tests must fail; SAMPLE=100 JOBS=2
	@command -v cargo-mutants >/dev/null || { echo "missing: cargo-mutants; cargo install --locked cargo-mutants" >&2; exit 1; }
	CARGO_PROFILE_TEST_OPT_LEVEL=0 $(BIN)/python .ci/mutation.py --sample $(SAMPLE) --seed $(SEED) --jobs $(JOBS) $(if $(FILE),--file $(FILE))

# For one run over several processes (docs/on-a-cluster.md). Undone by: touch Cargo.toml && make demo.
mpi: $(INSTALLED) | tools ## The native module built again, with MPI: mpirun -n 2 .venv/bin/floodway run FILE
	@command -v mpicc >/dev/null || { echo "missing: an MPI with its compiler (mpicc), such as Debian's libopenmpi-dev and openmpi-bin" >&2; exit 1; }
	@command -v clang >/dev/null || ls /usr/lib/llvm-*/lib/libclang*.so* /usr/lib/*/libclang*.so* >/dev/null 2>&1 \
	  || { echo "missing: libclang, which reads MPI's headers, such as Debian's libclang-dev" >&2; exit 1; }
	PIP_QUIET=1 VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --quiet --release --locked --features mpi
	@touch $(BUILT)

# A quarter of a day on two cores; study by study: CONTRIBUTING.md.
# Some papers: make reproduced PAPERS="casl rcm".
reproduced: $(BUILT) ## Every paper at full size, and the pages with their results in docs/reproduced/
	for paper in $(or $(PAPERS),swing bifrost rcm mercury casl); do \
	  $(BIN)/floodway reproduce $$paper --quick --quiet --out out/quick/$$paper && \
	  $(BIN)/python -m floodway_lab.reproduction numbers $$paper --quick && \
	  $(BIN)/floodway reproduce $$paper --quiet --out out/reproduce/$$paper && \
	  $(BIN)/python -m floodway_lab.reproduction numbers $$paper && \
	  $(BIN)/python -m floodway_lab.reproduction pages $$paper || exit 1; \
	done

docs: $(BUILT) $(INSTALLED_DOCS) ## The documentation as a site in site/, and that of the crates in target/doc/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked --quiet
	@echo "open site/index.html"

# A wheel for Linux is linked against the C library that its tag names, whatever this machine has; zig brings
# that library. Paths of this machine are replaced, so that they are not in the module's messages.
MANYLINUX ?= manylinux_2_28
WHEEL_OPTIONS := $(if $(filter Linux,$(shell uname -s)),--zig --compatibility $(MANYLINUX) --auditwheel check)
SEPARATOR := $(shell printf '\037')
CARGO_HOME ?= $(HOME)/.cargo
REMAPPED := --remap-path-prefix=$(CARGO_HOME)=cargo$(SEPARATOR)--remap-path-prefix=$(CURDIR)=floodway

# Compiled with a profile of runs, as by `make pgo`, where the LLVM tools of this Rust are there. Zig's linker
# cannot link a module that counts, so that one is made without it.
HOST_TARGET = $(shell rustc -vV | sed -n 's/^host: //p')
PROFDATA = $(wildcard $(shell rustc --print sysroot)/lib/rustlib/$(HOST_TARGET)/bin/llvm-profdata)
COUNTING := target/profile
PROFILE = $(if $(PROFDATA),$(COUNTING)/merged.profdata)

$(COUNTING)/merged.profdata: $(INSTALLED_RELEASE) $(BUILT) | tools
	rm -rf $(COUNTING)/raw $(COUNTING)/module $(COUNTING)/*.whl
	CARGO_ENCODED_RUSTFLAGS="$(REMAPPED)$(SEPARATOR)-Cprofile-generate=$(abspath $(COUNTING)/raw)" \
	  $(BIN)/maturin build --quiet --release --locked --target $(HOST_TARGET) --target-dir $(COUNTING)/target \
	  --compatibility linux --out $(COUNTING)
	$(PIP) install --no-deps --target $(COUNTING)/module $(COUNTING)/*.whl
	PYTHONPATH=$(abspath $(COUNTING)/module) $(BIN)/python -m floodway_lab.bench train
	$(PROFDATA) merge -o $@ $(COUNTING)/raw

wheel: $(INSTALLED_RELEASE) $(PROFILE) | tools ## The wheel for this kind of machine, in dist/
	rm -f dist/*.whl
	@$(if $(PROFILE),,echo "without a profile of runs; for one, and 12 %: rustup component add llvm-tools")
	PATH="$(abspath $(BIN)):$$PATH" \
	  CARGO_ENCODED_RUSTFLAGS="$(REMAPPED)$(if $(PROFILE),$(SEPARATOR)-Cprofile-use=$(abspath $(PROFILE)))" \
	  $(BIN)/maturin build --quiet --release --locked --target-dir target/wheel $(WHEEL_OPTIONS) --out dist
	@$(if $(WHEEL_OPTIONS),$(BIN)/auditwheel show dist/*.whl)
	@ls -l dist/*.whl

# Under another Python: make test-wheel PYTHON=python3.14
PYTHON ?= python3

test-wheel: ## The wheel in dist/, in an environment of its own, without Rust and outside this folder
	$(PYTHON) .ci/test_wheel.py dist/*.whl

sdist: $(INSTALLED_RELEASE) ## The source distribution, in dist/
	rm -f dist/*.tar.gz
	$(BIN)/maturin sdist --out dist

clean: ## Remove everything that these targets made
	rm -rf $(VENV) target out site dist page/node_modules .pytest_cache .mypy_cache .ruff_cache .hypothesis
	rm -f python/floodway/_floodway*.so
	rm -rf lab/*.egg-info
	find python lab tests -name __pycache__ -type d -prune -exec rm -rf {} +

tools:
	@command -v cargo >/dev/null || { echo "missing: Rust (cargo), $(LEAST_RUST) or newer; see https://rustup.rs" >&2; exit 1; }
	@command -v cc >/dev/null || { echo "missing: a C toolchain (cc), such as Debian's build-essential" >&2; exit 1; }

$(BIN)/python: | tools
	@for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	  if $$python -c 'import sys; sys.exit(sys.version_info < (3, $(LEAST_PYTHON)))' 2>/dev/null; then \
	    $$python -m venv $(VENV) && exit 0; \
	    echo "missing: the venv module of $$python (Debian: python3-venv)" >&2; rm -rf $(VENV); exit 1; \
	  fi; \
	done; \
	echo "missing: Python 3.$(LEAST_PYTHON) or newer" >&2; exit 1

# What floodway needs to run, and what builds it; the versions are those of the tests.
NEEDED = import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["dependencies"], sep="\n")

$(INSTALLED): requirements/dev.lock pyproject.toml | $(BIN)/python
	$(BIN)/python -c '$(NEEDED)' > $(VENV)/needed.txt
	$(PIP) install --constraint $< --requirement $(VENV)/needed.txt maturin
	@touch $@

$(INSTALLED_DEV): requirements/dev.lock $(INSTALLED)
	$(PIP) install --requirement $<
	@touch $@

$(INSTALLED_DOCS): requirements/docs.lock | $(BIN)/python
	$(PIP) install --requirement $<
	@touch $@

# In an environment of its own: its packages are not those that tests run with.
$(INSTALLED_AUDIT): requirements/audit.lock | $(BIN)/python
	$(BIN)/python -m venv $(AUDIT)
	$(AUDIT)/bin/python -m pip --quiet --disable-pip-version-check install --requirement $<
	@touch $@

$(INSTALLED_RELEASE): requirements/release.lock | $(BIN)/python
	$(PIP) install --requirement $<
	@touch $@

$(BUILT): $(INSTALLED) $(INSTALLED_LAB) pyproject.toml Cargo.toml Cargo.lock $(RUST_SOURCES) | tools
	PIP_QUIET=1 VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --quiet --release --locked
	@touch $@

# The laboratory of this clone: `floodway reproduce`, `floodway validate`, the reports of studies.
$(INSTALLED_LAB): lab/pyproject.toml $(INSTALLED)
	$(PIP) install --no-deps --editable lab
	@touch $@
