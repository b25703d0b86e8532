# What CI runs and what a contributor runs are the same targets. `make` alone lists them.

VENV := .venv
BIN := $(VENV)/bin
LOCK := deploy/requirements.lock
STAMP := $(VENV)/.folkmoot-is-set-up
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

# Test processes that run side by side.
WORKERS ?= 2
# Seeds of the simulated network: a count (200), or a range (40-99, 17-17).
SEEDS ?= 1000
# Where `make run` keeps its instance.
DATA ?= folkmoot-data
# What `make run` and `make demo` pass on, for example ARGS=--json.
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help setup run demo test test-slow simnet coverage lint check lock clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(STAMP) ## build .venv with the locked dependencies (quick when up to date)

# Whatever goes wrong on the way leaves no stamp, so the next call starts again. Build isolation
# is off because it would fetch an unpinned setuptools; the pinned one is installed first. Without
# --use-pep517 an older pip, Debian 12's for one, warns at length about two of the packages.
$(STAMP): $(LOCK) pyproject.toml deploy/check-machine.sh
	@python=$$(sh deploy/check-machine.sh) || exit 1; \
	if ! $(BIN)/python -m pip --version >/dev/null 2>&1; then \
		echo "building $(VENV) with $$python"; \
		rm -rf $(VENV) && "$$python" -m venv $(VENV); \
	fi
	@echo "installing $(LOCK) into $(VENV)"
	@$(PIP) install "$$(grep '^setuptools==' $(LOCK))"
	@$(PIP) install --no-build-isolation --use-pep517 --no-deps --requirement $(LOCK)
	@$(PIP) install --no-build-isolation --no-deps --editable .
	@$(PIP) check
	@touch $@

run: setup ## run an instance of your own; the first time it is made in folkmoot-data/
	@test -e $(DATA) || $(BIN)/folkmoot init --data $(DATA) --make-passphrase
	@exec $(BIN)/folkmoot run --data $(DATA) $(ARGS)

demo: setup ## hold a moot: 51 language models, sealed ballots, three processes on this machine
	@$(BIN)/folkmoot demo $(ARGS)

test: setup ## the quick tests
	@command -v spin >/dev/null || { \
		echo "make test: the model of the lifecycle is checked with spin, which is missing here" >&2; \
		echo "  fix: apt-get update && apt-get install --yes spin" >&2; exit 1; }
	$(BIN)/pytest -n $(WORKERS) -m "not slow"

test-slow: setup ## many seeds and long runs
	HYPOTHESIS_PROFILE=slow $(BIN)/pytest -n $(WORKERS) -m slow

simnet: setup ## the simulated network under many seeds: make simnet SEEDS=500, SEEDS=17-17
	$(BIN)/pytest -n $(WORKERS) -m "not slow" tests/simnet --seeds $(SEEDS)

coverage: setup ## branch coverage of federation/
	$(BIN)/pytest -n $(WORKERS) -m "not slow" --cov --cov-branch --cov-report=term-missing:skip-covered

lint: setup ## style, types and layers
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

check: lint test ## everything that CI runs

lock: setup ## write the lock anew from pyproject.toml
	sh deploy/make-lock.sh

clean: ## remove what is built, .venv included
	rm -rf $(VENV) build dist *.egg-info .coverage .hypothesis .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
