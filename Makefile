# The documented way to build, try and check Osler. Each goal does all the set-up it needs; CMake presets do the work.
.DEFAULT_GOAL := help
.PHONY: help packages setup build demo gallery population test check-all lint bench score fuzz docs python python-test package try-packages clean
MAKEFLAGS += --no-print-directory
SHELL := bash
.SHELLFLAGS := -o pipefail -c

JOBS ?= $(shell nproc)
# What `make test` also runs under the address and undefined-behaviour sanitizers: the tests with this label, which read
# what others wrote. `make test SANITIZED=all` takes every test, `make test SANITIZED=` none.
SANITIZED ?= foreign-input
# `make build OSLER_WITH_TORCH=OFF` leaves LibTorch out: no monitor, no gallery.
OSLER_WITH_TORCH ?= AUTO
# The parts of packages.txt that building takes.
BUILD_PACKAGES = build $(if $(filter OFF,$(OSLER_WITH_TORCH)),,torch)
# `make test OSLER_BUILD_PYTHON=OFF` leaves the Python package and its tests out.
OSLER_BUILD_PYTHON ?= ON
# The Python of the tests: Debian's, which has Debian's PyTorch.
TEST_PYTHON ?= $(firstword $(wildcard /usr/bin/python3) python3)
# Passed on to Google Benchmark, as in `make bench BENCH_ARGUMENTS=--benchmark_filter=csv`.
BENCH_ARGUMENTS ?=
# Passed on to the scorer, as in `make score SCORE_ARGUMENTS="--suite 2000 --by-family"`.
SCORE_ARGUMENTS ?=
# Where `make score` looks for labelled real logs, and for trainings with planted faults.
CORPORA ?= ../shared/corpus ../shared/corpus2
POPULATION ?= build/population
# Passed on to the gallery, as in `make gallery GALLERY_ARGUMENTS=--json`.
GALLERY_ARGUMENTS ?=
# Passed on to the population, as in `make population POPULATION_ARGUMENTS="--runs 5000 --seed 1 --jobs 16"`.
POPULATION_ARGUMENTS ?= --runs 5000 --seed 1
# The Python that the package is built for, and what its tests may find installed beside it, as in
# `make python-test PYTHON_PACKAGES="torch lightning transformers accelerate keras"`. Tests that lack something say so.
PYTHON ?= python3
PYTHON_PACKAGES ?=
# What `make check-all` does beyond `make test`: damaged logs, the same under the sanitizers, and simulated hours of watching.
MUTANTS ?= 20000
SANITIZED_MUTANTS ?= 2000
HOURS ?= 200
# How long `make fuzz` runs each fuzz target.
FUZZ_SECONDS ?= 60
# Where it starts to look; 0 starts somewhere else each time.
FUZZ_SEED ?= 0
# Where `make try-packages` keeps the systems that it tries packages in; it needs root and debootstrap.
CLEAN_ROOT ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/osler-clean-root

help: ## this list
	@echo "Osler, the physician for neural-network training. Goals:"
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 20

packages:
	@tools/setup

setup: packages ## install the Debian packages that are missing (packages.txt), and what only the tests need: Python's, ClickHouse
	@tools/unpack-package clickhouse-server build/clickhouse
	@tools/unpack-package libzookeeper-java build/zookeeper libslf4j-java liblog4j1.2-java libjackson2-core-java libjackson2-databind-java libjackson2-annotations-java libcommons-cli-java libnetty-java libsnappy-java libcommons-io-java libdropwizard-metrics-java
	@$(if $(filter OFF,$(OSLER_BUILD_PYTHON)),:,tools/python-environment $(TEST_PYTHON) build/test-python python/tests/requirements/*.txt)

build: ## build the program: build/osler
	@tools/setup $(BUILD_PACKAGES)
	@$(call configure,release,-DOSLER_BUILD_TESTS=OFF)
	@$(call compile,release,osler)
	@ln -sfn release/src/cli/osler build/osler

demo: build ## train three sick networks; see them diagnosed, treated and cured
	@tools/demo build/osler

gallery: build ## train, diagnose and treat every patient of the gallery with three seeds; print a table
	@build/osler gallery --all --seeds 3 --runs build/gallery $(GALLERY_ARGUMENTS)

population: ## train thousands of networks, healthy and sick, each sick one with its repaired twin
	@tools/setup $(BUILD_PACKAGES)
	@$(call configure,release,-DOSLER_BUILD_TESTS=OFF)
	@cmake --build --preset release --parallel $(JOBS) --target osler_population
	@build/release/population/osler_population --jobs $(JOBS) --out build/population $(POPULATION_ARGUMENTS)

test: setup ## build everything and run all tests; those that read bad input also under the sanitizers
	@$(call configure,dev,-DOSLER_BUILD_PYTHON=$(OSLER_BUILD_PYTHON) -DPython_EXECUTABLE=$(CURDIR)/build/test-python/bin/python)
	@$(call compile,dev,all)
	@$(call compile,dev,all_verify_interface_header_sets)
ifneq ($(SANITIZED),)
	@$(call configure,asan)
	@$(call compile,asan,$(if $(filter all,$(SANITIZED)),all,osler_foreign_input_tests))
	@ctest --preset asan --parallel $(JOBS) --progress $(if $(filter all,$(SANITIZED)),,-L '^$(SANITIZED)$$')
endif
	@ctest --preset dev --parallel $(JOBS)

check-all: test ## make test and what takes hours: damaged logs, hours of watching, clang, all sanitizers, packages
	@build/dev/tests/osler_mutants --files $(MUTANTS) --all --jobs $(JOBS) --keep build
	@build/dev/tests/osler_watching --hours $(HOURS)
	@$(call configure,asan,-DOSLER_BUILD_PYTHON=$(OSLER_BUILD_PYTHON) -DPython_EXECUTABLE=$(CURDIR)/build/test-python/bin/python)
	@$(call compile,asan,all)
	@ctest --preset asan --parallel $(JOBS)
	@build/asan/tests/osler_mutants --files $(SANITIZED_MUTANTS) --jobs $(JOBS) --seed 2 --seconds 200 --megabytes 0 --keep build
	@$(call configure,tsan,-DOSLER_WITH_TORCH=OFF)
	@$(call compile,tsan,all)
	@ctest --preset tsan --parallel $(JOBS)
	@$(call configure,clang,-DOSLER_WITH_TORCH=OFF)
	@$(call compile,clang,all)
	@ctest --preset clang --parallel $(JOBS)
	@$(MAKE) try-packages

lint: packages ## check format, module borders, clang's warnings and clang-tidy
	@tools/lint-format
	@tools/lint-borders
	@$(call configure,dev,-B build/lint -DOSLER_UNITY=OFF -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DOSLER_BUILD_BENCH=ON -DOSLER_BUILD_FUZZ=ON)
	@tools/lint-clang build/lint --jobs $(JOBS)

bench: packages ## build and run the benchmarks
	@$(call configure,release,-DOSLER_BUILD_TESTS=OFF -DOSLER_BUILD_BENCH=ON)
	@$(call compile,release,osler_benchmarks)
	@for program in build/release/bench/bench_*; do $$program $(BENCH_ARGUMENTS) || exit 1; done
	@build/release/bench/osler_stats_bench
	@if [ -x build/release/bench/osler_aten_bench ]; then build/release/bench/osler_aten_bench; fi
	@build/release/bench/osler_runfile_bench
	@build/release/bench/osler_server_bench

score: packages ## score the diagnosis on labelled runs: cases, simulated trainings, and real logs where present
	@$(call configure,dev)
	@$(call compile,dev,osler_score)
	@for pack in $(wildcard $(CORPORA:%=%/files.tar.gz)); do mkdir -p build/unpacked && tar xzf $$pack -C build/unpacked || exit 1; done
	@build/dev/tests/osler_score $(CORPORA:%=--corpus %) --unpacked build/unpacked --population $(POPULATION) $(SCORE_ARGUMENTS)

fuzz: packages ## build the fuzz targets and run each for FUZZ_SECONDS (60)
	@$(call configure,asan)
	@$(call compile,asan,osler_fuzzers)
	@tools/fuzz build/asan/fuzz $(FUZZ_SECONDS) $(FUZZ_SEED)

docs: packages ## write the catalogue as Markdown pages, in build/docs
	@$(call configure,release,-DOSLER_BUILD_TESTS=ON)
	@$(call compile,release,osler osler_case_files)
	@ln -sfn release/src/cli/osler build/osler
	@tools/docs build/osler build/docs --cases build/release/tests/cases

python: ## build the wheel of the Python package, in build/wheel
	@tools/setup build python
	@tools/python-environment $(PYTHON) build/python-venv
	@rm -rf build/wheel
	@build/python-venv/bin/pip wheel --quiet --no-deps --wheel-dir build/wheel .

python-test: python ## install the wheel in an environment below build/ and test it there
	@build/python-venv/bin/pip install --quiet --force-reinstall --no-deps build/wheel/*.whl
	@build/python-venv/bin/pip install --quiet mypy numpy pandas pyarrow pytest $(PYTHON_PACKAGES)
	@build/python-venv/bin/python -m mypy --config-file pyproject.toml
	@build/python-venv/bin/python -m pytest python/tests

package: ## build Debian packages and a tarball, in build/packages
	@tools/setup $(BUILD_PACKAGES) package
	@$(call configure,release,-DOSLER_BUILD_TESTS=OFF)
	@$(call compile,release,osler_packages)
	@rm -rf build/packages
	@cpack --config build/release/CPackConfig.cmake -G 'DEB;TGZ' -B build/packages > build/packages.log 2>&1 || { cat build/packages.log; exit 1; }
	@rm -rf build/packages/_CPack_Packages
	@ls build/packages

try-packages: package ## install the packages in fresh systems and use them there
	@tools/try-packages build/packages $(CLEAN_ROOT)

clean: ## remove everything that was built
	@rm -rf build

# Configuring anew is quick, but its dozens of lines are of interest only when it fails. Lines that begin with "Osler:" are
# shown at once: they say what is being fetched, which takes a while, and what is left out.
define configure
mkdir -p build; log=build/configure-$(1).log; [[ -e build/$(1)/build.ninja ]] || echo "Configuring build/$(1)"; \
cmake --preset $(1) $(2) $(if $(filter dev release,$(1)),-DOSLER_WITH_TORCH=$(OSLER_WITH_TORCH)) 2>&1 | \
  tee $$log | sed --unbuffered --quiet 's/^-- Osler: //p' || { cat $$log; exit 1; }
endef

# Says how far it is; from version 1.12 on ninja also knows how long the rest will take.
define compile
case $$(ninja --version) in 1.?.*|1.1[01].*) status='[%f/%t %p, %e s] ';; *) status='[%f/%t %p, %w, %W left] ';; esac; \
NINJA_STATUS="$$status" cmake --build --preset $(1) --parallel $(JOBS) --target $(2)
endef
