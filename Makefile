# The documented way to build, try and check Osler. Each goal does all the set-up it needs; CMake presets do the work.
.DEFAULT_GOAL := help
.PHONY: help setup build demo gallery test lint bench score fuzz docs clean
MAKEFLAGS += --no-print-directory

JOBS ?= $(shell nproc)
# What `make test` also runs under the address and undefined-behaviour sanitizers: all that reads what others wrote.
# `make test SANITIZED=all` takes every test, `make test SANITIZED=` none.
SANITIZED ?= osler_base_test osler_run_test osler_formats_test osler_samples_test osler_dashboard_test osler_server_test osler_program_test
# Passed on to Google Benchmark, as in `make bench BENCH_ARGUMENTS=--benchmark_filter=csv`.
BENCH_ARGUMENTS ?=
# Passed on to the scorer, as in `make score SCORE_ARGUMENTS="--suite 2000 --by-family"`.
SCORE_ARGUMENTS ?=
# Passed on to the gallery, as in `make gallery GALLERY_ARGUMENTS=--json`.
GALLERY_ARGUMENTS ?=
# How long `make fuzz` runs each fuzz target.
FUZZ_SECONDS ?= 60
# Where it starts to look; 0 starts somewhere else each time.
FUZZ_SEED ?= 0

help: ## this list
	@echo "Osler, the physician for neural-network training. Goals:"
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 16

setup: ## install the Debian packages of packages.txt that are missing
	@tools/setup

build: setup ## build the release program and leave it at build/osler
	@$(call configure,release)
	@cmake --build --preset release --parallel $(JOBS) --target osler
	@ln -sfn release/src/cli/osler build/osler

demo: build ## train three sick networks, see them diagnosed, treated and well
	@tools/demo build/osler

gallery: build ## train, diagnose and treat every patient of the gallery with three seeds; prints a table
	@build/osler gallery --all --seeds 3 --runs build/gallery $(GALLERY_ARGUMENTS)

test: setup ## build everything and run all tests, those that read bad input also under the sanitizers
	@$(call configure,dev)
	@cmake --build --preset dev --parallel $(JOBS)
	@cmake --build --preset dev --parallel $(JOBS) --target all_verify_interface_header_sets
ifneq ($(SANITIZED),)
	@$(call configure,asan)
	@cmake --build --preset asan --parallel $(JOBS) --target $(SANITIZED)
	@ctest --preset asan --parallel $(JOBS) --progress --exclude-regex '_NOT_BUILT$$|^meta\.'
endif
	@ctest --preset dev --parallel $(JOBS)

lint: setup ## check format, module borders, clang's warnings and clang-tidy
	@tools/lint-format
	@tools/lint-borders
	@$(call configure,dev,-B build/lint)
	@tools/lint-clang build/lint --jobs $(JOBS)

bench: setup ## build and run the benchmarks
	@$(call configure,release,-DOSLER_BUILD_BENCH=ON)
	@cmake --build --preset release --parallel $(JOBS) --target osler_benchmarks
	@for program in build/release/bench/bench_*; do $$program $(BENCH_ARGUMENTS) || exit 1; done
	@build/release/bench/osler_stats_bench
	@if [ -x build/release/bench/osler_aten_bench ]; then build/release/bench/osler_aten_bench; fi
	@build/release/bench/osler_runfile_bench

score: setup ## score the diagnosis on labelled runs: the project's cases, simulated trainings, and the corpus where present
	@$(call configure,dev)
	@cmake --build --preset dev --parallel $(JOBS) --target osler_score
	@build/dev/tests/osler_score $(if $(wildcard ../shared/corpus/labels.jsonl),--corpus ../shared/corpus) $(SCORE_ARGUMENTS)

fuzz: setup ## build the fuzz targets and run each for FUZZ_SECONDS
	@$(call configure,fuzz)
	@cmake --build --preset fuzz --parallel $(JOBS) --target osler_fuzzers
	@tools/fuzz build/fuzz/fuzz $(FUZZ_SECONDS) $(FUZZ_SEED)

docs: build ## write the catalogue as Markdown pages to build/docs
	@tools/docs build/osler build/docs

clean: ## remove everything that was built
	@rm -rf build

# Configuring anew is quick, but its dozens of lines are of interest only when it fails.
define configure
mkdir -p build; cmake --preset $(1) $(2) > build/configure-$(1).log 2>&1 || { cat build/configure-$(1).log; exit 1; }
endef
