# The front door. Each target does all the set-up that it needs.

PRESET ?= release
BUILD  := build/$(PRESET)
JOBS   ?= $(shell tools/jobs.sh)
PYTHON ?= python3

.DEFAULT_GOAL := help
.PHONY: help setup setup-dev configure build demo test bench check format asan tsan clean

help:      ## this list
	@grep -hE '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## */\1\t/' | expand -t 12

setup:
	@tools/setup.sh

setup-dev:
	@tools/setup.sh --dev

configure: setup
	@cmake --preset $(PRESET) >build.log 2>&1 || { cat build.log; rm -f build.log; exit 1; }; rm -f build.log

build: configure  ## library, command line, tests, examples and benchmarks, into build/release (PRESET=dev: with asserts)
	@cmake --build $(BUILD) -j $(JOBS)

demo: configure  ## train a small GPT with LibTorch eager and with Sapwood, and compare (ARGS="--steps 100")
	@cmake --build $(BUILD) -j $(JOBS) --target bench_demo
	@$(BUILD)/bench/demo $(ARGS)

test: build  ## build everything and run every test
	@$(PYTHON) tools/run_tests.py $(BUILD) --jobs $(JOBS)

bench: build  ## build and run the benchmarks
	@for bench in $$(ls $(BUILD)/bench | grep -v '^demo$$'); do echo "== $$bench"; $(BUILD)/bench/$$bench $(ARGS) || exit 1; done

check: setup-dev configure  ## layers, house numbers, machine paths, formatting and clang-tidy of changed files
	@status=0; for check in layers house paths snippets format tidy; do $(PYTHON) tools/check_$$check.py $(BUILD) || status=1; done; exit $$status

format: setup-dev  ## format every source file
	@$(PYTHON) tools/check_format.py --all --fix

asan: setup  ## build and test with address and undefined-behaviour sanitizers
	@cmake --preset asan >/dev/null
	@cmake --build build/asan -j $(JOBS)
	@$(PYTHON) tools/run_tests.py build/asan --jobs $(JOBS)

tsan: setup  ## build and test with the thread sanitizer
	@cmake --preset tsan >/dev/null
	@cmake --build build/tsan -j $(JOBS)
	@$(PYTHON) tools/run_tests.py build/tsan --jobs $(JOBS)

clean:  ## remove build/
	@rm -rf build
