# `make demo` and `make test` set up what they need in .venv; `make help` lists the rest.
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
STORE ?= separatrix-results

.PHONY: help demo test lint types reference bench clean
help: ## What there is to make
	@grep -E '^[a-z]+:.*##' Makefile | sed -E 's/:[^#]*## /\t/' | expand -t 12

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("separatrix needs Python 3.11 or newer") if sys.version_info < (3, 11) else None'
	@[ -x $(BIN)/python ] || $(PYTHON) -m venv $(VENV) || \
	  { echo "python3-venv is missing: apt-get install python3-venv" >&2; rm -rf $(VENV); exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[test,lint]'
	@touch $(STAMP)

demo: $(STAMP) ## The main job: two certificates, one figure, one page (about two minutes on two cores)
	$(BIN)/separatrix certify convolution/theorem-12 --store $(STORE)
	$(BIN)/separatrix certify pooling/theorem-4.2 --set n=5 --store $(STORE)
	$(BIN)/separatrix reproduce pooling/fig3a --scale quick --store $(STORE)
	$(BIN)/separatrix report --store $(STORE)

test: $(STAMP) ## All tests
	$(BIN)/python -m pytest -n 2 --dist worksteal

lint: $(STAMP) ## Style
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP) ## Static types
	$(BIN)/python -m mypy separatrix

reference: $(STAMP) ## Write docs/reference.md from the code
	$(BIN)/python -m tests.reference

bench: $(STAMP) ## Against plain PyTorch (install torch first; see bench/README.md)
	$(BIN)/python bench/fig3a.py --out bench/results/fig3a.json
	$(BIN)/python bench/fig2a.py --out bench/results/fig2a.json
	$(BIN)/python bench/sequences.py --out bench/results/sequences.json
	$(BIN)/python bench/convolutions.py --out bench/results/convolutions.json

clean: ## Remove the environment and the demo's store
	rm -rf $(VENV) $(STORE) build *.egg-info
