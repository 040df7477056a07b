# make audit: set everything up and run the whole chain on an example and on its faulty twin.
# make test:  the whole test suite.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.verify-kernel
TORCH ?= torch==2.13.0
TORCH_INDEX ?= https://download.pytorch.org/whl/cpu

# The shipped examples are our own code: where no sandbox can be had they run without one, and the report says so.
SANDBOX = $(shell command -v bwrap >/dev/null || echo --sandbox none)

.PHONY: audit test lint format docs corpus clean

audit: $(STAMP)
	@echo "== a safe kernel: exit status 0"
	$(BIN)/verify-kernel $(SANDBOX) examples/saxpy.cu
	@echo "== its faulty twin: exit status 1"
	$(BIN)/verify-kernel $(SANDBOX) examples/faulty/saxpy_oob.cu; status=$$?; \
	if [ $$status -ne 1 ]; then echo "expected exit status 1, got $$status" >&2; exit 1; fi

test: $(STAMP)
	$(BIN)/python -m pytest -n 2

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(STAMP)
	$(BIN)/ruff check --fix --quiet .
	$(BIN)/ruff format --quiet .

docs: $(STAMP)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# make corpus CORPUS="DIR…": measure on folders of kernels
corpus: $(STAMP)
	$(BIN)/python benchmarks/corpus.py $(CORPUS)

# Python >= 3.11 is checked here, because pip's own message about it is hard to read.
$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	{ echo "Python 3.11 or newer is needed; try make PYTHON=python3.12" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@$(BIN)/python -c 'import torch' 2>/dev/null || \
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --retries 0 '$(TORCH)' --index-url $(TORCH_INDEX) 2>/dev/null || \
	echo "torch could not be installed: numerics cannot be compared, everything else works" >&2
	@command -v g++ >/dev/null || echo "g++ is missing: apt-get install g++" >&2
	@command -v bwrap >/dev/null || { test "$$(id -u)" = 0 && apt-get install -y -qq bubblewrap >/dev/null 2>&1; } || \
	echo "bubblewrap is missing, so submitted code cannot be isolated: apt-get install bubblewrap" >&2
	@touch $@

clean:
	rm -rf $(VENV) site build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
