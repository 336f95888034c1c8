# Everything a user types. Each target brings up what it needs inside the repository; a second call does no work twice.
# Variables: SYSTEM and CAMPAIGN (what is measured, where), PROFILE (how Snakemake runs here), PYTHON and CXX (which
# interpreter and compiler), TOOLCHAIN=locked|system (MPI, CUDA and NCCL of .venv or of this machine),
# CUDA_ARCHITECTURES (as CMake writes them), SNAKEMAKE (further arguments for it), SBATCH_DIR (the folder for scripts),
# AGAINST (the table.parquet of another run, which the report compares with), TESTS (arguments for pytest).
SYSTEM = local
CAMPAIGN = smoke
PROFILE = local
SNAKEMAKE =
SBATCH_DIR = $(results)/sbatch
AGAINST =
TESTS =

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.PHONY: help setup build cuda campaign check programs sbatch report health test lint benchmark lock clean

# make has a compiler of its own in mind where nobody named one.
ifeq ($(origin CXX),default)
CXX =
endif
export PYTHON CXX TOOLCHAIN CUDA_ARCHITECTURES

# A value as one word of a shell line.
quote = '$(subst ','\'',$(1))'

WEFT = PYTHONPATH=workflow .venv/bin/python -m weft
results = results/$(SYSTEM)/$(CAMPAIGN)
in_results = $(call quote,$(results)/$(1))

help: ## This text
	@echo "Weft measures GPU interconnects. make TARGET [VARIABLE=value]:"
	@echo
	@awk -F ':[^#]*## ' '/^[a-z]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' Makefile
	@echo
	@echo "Variables: SYSTEM=$(SYSTEM) CAMPAIGN=$(CAMPAIGN) PROFILE=$(PROFILE) (config/systems, config/campaigns, profiles),"
	@echo "PYTHON, CXX, TOOLCHAIN=locked|system (MPI, CUDA and NCCL of this repository or of this machine)."

setup: ## Brings up .venv from the locked lists
	@envs/setup

build: ## Builds the programs for the host backend into build/host/bin
	@envs/build host

cuda: ## Builds programs and their tests for the CUDA backend into build/cuda; needs no GPU
	@envs/build cuda all weft_tests

campaign: setup ## Measures CAMPAIGN on SYSTEM and writes results/SYSTEM/CAMPAIGN/report.html
	@$(WEFT) campaign --system $(call quote,$(SYSTEM)) --campaign $(call quote,$(CAMPAIGN)) --profile $(call quote,$(PROFILE)) $(SNAKEMAKE)

check: setup ## Checks the files of SYSTEM and CAMPAIGN against the machine or cluster that this is
	@$(WEFT) check --system $(call quote,$(SYSTEM)) --campaign $(call quote,$(CAMPAIGN))

programs: setup ## Builds the programs of CAMPAIGN for SYSTEM, and the image they run in; measures nothing
	@.venv/bin/snakemake --profile profiles/local programs \
	  --config $(call quote,system=$(SYSTEM)) $(call quote,campaign=$(CAMPAIGN))

sbatch: setup ## Writes a script for sbatch for each experiment of CAMPAIGN into SBATCH_DIR
	@$(WEFT) sbatch --system $(call quote,$(SYSTEM)) --campaign $(call quote,$(CAMPAIGN)) --output $(call quote,$(SBATCH_DIR))

report: setup ## Draws the report anew from the records in results/SYSTEM/CAMPAIGN; AGAINST=TABLE compares
	@$(WEFT) table --records $(call in_results,records) --output $(call in_results,table.parquet) \
	  --problems $(call in_results,problems.json)
	@$(WEFT) report --table $(call in_results,table.parquet) --problems $(call in_results,problems.json) \
	  $(if $(wildcard $(results)/config.resolved.yaml),--config $(call in_results,config.resolved.yaml)) \
	  --title $(call quote,$(SYSTEM)/$(CAMPAIGN)) $(if $(AGAINST),--against $(call quote,$(AGAINST))) \
	  --output $(call in_results,report.html) --figures $(call in_results,figures)

health: setup ## Names nodes, devices and links that are slower than their peers; ends with 1 if there are any
	@$(WEFT) health --table $(call in_results,table.parquet)

test: ## Runs every test that this machine can run, and names those it cannot
	@tests/run $(TESTS)

lint: setup ## Checks the style of Python, C++ and rules
	@tests/lint

benchmark: build ## Measures the costs of Weft itself: a table, no verdict
	@tests/benchmark

lock: setup ## Resolves envs/*.in anew into the locked envs/*.txt
	@envs/lock

clean: ## Removes what set-up and build made; results stay
	rm -rf .venv build .snakemake .pytest_cache .ruff_cache
