# `make` alone prints the targets.  Each of them works on a fresh clone, as the first command.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install -qq --no-compile
# uv installs packages in parallel.  If it is not available, or does not find the packages because of pip's own
# settings, pip installs them one by one.
UV := UV_DEFAULT_INDEX="$${UV_DEFAULT_INDEX:-$$PIP_INDEX_URL}" UV_HTTP_TIMEOUT=20 \
    $(BIN)/python -m uv --quiet pip install --python $(BIN)/python
INSTALL = { { $(BIN)/python -m uv --version || $(PIP) uv; } && $(UV) --editable $(EXTRAS); } >/dev/null 2>&1 \
    || $(PIP) --editable $(EXTRAS)
# On all cores, without packages that few commands load.
COMPILED := $(BIN)/python -m compileall -qq -j 0 $(VENV)/lib \
    -x '/(cuda|fontTools|narwhals|pip|pkg_resources|pydantic|pygments|setuptools|sklearn|tests)/'
ENVIRONMENT := $(VENV)/pyvenv.cfg
# Stamps of what is installed in .venv, made again when pyproject.toml or the environment changes.
INSTALLED := $(VENV)/.installed
INSTALLED_DEV := $(VENV)/.installed-dev
INSTALLED_DOCS := $(VENV)/.installed-docs
TRY := make PYTHON=python3.12 $(MAKECMDGOALS)

# Otherwise each of the hundreds of processes that the tests start compiles motif again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow test-peers test-web bench bench-fit rollout-table cube-costs players strength frontier reading-test units architecture fuzz serve-load cluster-demo cluster-scaling tutorial docs docs-links excerpts images notebook wheel lint FORCE
# Several targets install into the same environment.
.NOTPARALLEL:

help:
	@echo "make demo        learn a small evaluator from nothing but the rules, into runs/demo"
	@echo "make test        lint, and every test except slow ones and comparisons with peers"
	@echo "make test-slow   tests that take minutes"
	@echo "make test-peers  comparisons with bgsage and gnubg, where they are available"
	@echo "make test-web    tests of the page in a real browser (Debian: apt install chromium)"
	@echo "make lint        ruff, mypy, and the word lint of tools/words.yaml"
	@echo "make fuzz        20,000 damaged inputs for each parser and reader; FUZZ_SEED=1 for others"
	@echo
	@echo "make docs        build the site in build/docs, without a network; a warning is an error"
	@echo "make docs-links  check every web address in the docs"
	@echo "make images      draw docs/images; screenshots need Chromium; NAMES='web explain' draws only these"
	@echo "make excerpts    run the commands whose output README.md and docs/how-to quote, and write it into them"
	@echo "make tutorial    run the commands of docs/tutorial/first-hour.md and write their output into it"
	@echo "make notebook    run docs/notebooks and write their output into them"
	@echo "make architecture  update the diagram and the list of files in docs/dev/architecture.md"
	@echo "make wheel       build the wheel and check it in an empty environment"
	@echo
	@echo "Measurements, written into the docs:"
	@echo "make players     error rates, points per game and speed of every player (docs/reference/players.md)"
	@echo "make strength    the table of strength in every page, from the figures of make players"
	@echo "make frontier    error rate against time per decision, with gnubg and wildbg (docs/explanation/frontier.md)"
	@echo "make reading-test     textbook plays and reasons (docs/explanation/reading-test.md)"
	@echo "make units       hidden units with boards (docs/explanation/hidden-layer.md)"
	@echo "make rollout-table    cost and bias of each rollout option (docs/how-to/rollouts.md)"
	@echo "make cube-costs       the cost of wrong cube decisions, and gnubg's (docs/explanation/cube-model.md)"
	@echo "make serve-load  requests and positions per second of serve http (docs/how-to/serve.md)"
	@echo "make cluster-demo     a dask cluster that loses a worker and produces the same bytes"
	@echo "make cluster-scaling  the cost of a label on a cluster (docs/how-to/cluster.md)"
	@echo "make bench       speed, compared with gnubg's rollouts and bgsage's PubEval if available; then bench-fit"
	@echo "make bench-fit   time of fits, compared with scikit-learn, skglm and SciPy (docs/explanation/fit-speed.md)"
	@echo
	@echo "Each target makes $(VENV) first if needed; PYTHON=python3.12 uses another Python."

demo: $(INSTALLED)
	$(BIN)/python cli.py bootstrap --preset demo --out runs/demo

# Another core compiles the tests during lint, once for all processes of the tests.
test: $(INSTALLED_DEV)
	@$(BIN)/python -m pytest --collect-only > /dev/null 2>&1 & $(MAKE) --no-print-directory lint && wait
	$(BIN)/python -m pytest -m "not slow" -n auto --maxprocesses 4 --dist worksteal

test-slow: $(INSTALLED_DEV)
	$(BIN)/python -m pytest -m slow

test-peers: $(INSTALLED_DEV)
	@$(PIP) --editable '.[dev,peers]' || echo "bgsage cannot be installed here: its tests are skipped"
	$(BIN)/python -m pytest -rs tests/peers

# axe-core checks accessibility; it comes from npm if there is one.
test-web: $(INSTALLED_DEV)
	@$(PIP) --editable '.[dev,browser]' || echo "playwright cannot be installed here: its tests are skipped"
	@test -e build/axe/node_modules/axe-core || npm install --silent --no-audit --no-fund --prefix build/axe axe-core@4 \
	    || echo "axe-core cannot be installed here: accessibility is not checked"
	$(BIN)/python -m pytest -rs tests/web

bench: $(INSTALLED_DEV)
	@$(PIP) --editable '.[dev,peers]' || echo "bgsage cannot be installed here: it is skipped"
	$(BIN)/python -m tools.peer_speed
	@$(MAKE) --no-print-directory bench-fit

# About ten minutes on one core and 8 GB; SIZE=small takes a minute.  skglm is skipped if it is not installed.
SIZE ?= both
bench-fit: $(INSTALLED_DEV)
	@$(PIP) skglm || echo "skglm cannot be installed here: it is skipped"
	$(BIN)/python -m tools.fit_speed $(if $(filter both,$(SIZE)),docs/explanation/fit-speed.md) --size $(SIZE)
	$(if $(filter both,$(SIZE)),$(BIN)/python -m tools.fit_curves docs/explanation/fit-speed.md)

# About twelve minutes on one core; SHARE=0.05 plays that share of the trials.
SHARE ?= 1
rollout-table: $(INSTALLED)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tools.rollout_options docs/how-to/rollouts.md $(SHARE)

# About five minutes on one core, with gnubg.
cube-costs: $(INSTALLED_DEV)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tools.cube_costs docs/explanation/cube-model.md

# A few minutes on two cores; ONLY=motif-v1 measures only that player.
players: $(INSTALLED_DEV)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tools.player_table docs/reference/players.md \
	    $(if $(ONLY),--only '$(ONLY)')
	$(BIN)/python -m tools.strength_table

strength: $(INSTALLED_DEV)
	$(BIN)/python -m tools.strength_table

# A few minutes with gnubg; DECISIONS=2000 measures more decisions.
DECISIONS ?= 400
frontier: $(INSTALLED_DEV)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tools.frontier docs/explanation/frontier.md \
	    --decisions $(DECISIONS)

# A few minutes on one core.
reading-test: $(INSTALLED_DEV)
	$(BIN)/python -m tools.reading_test docs/explanation/reading-test.md

# WEIGHTS=FILE shows those of another file.
units: $(INSTALLED_DEV)
	$(BIN)/python -m tools.unit_page docs/explanation/hidden-layer.md $(or $(WEIGHTS),latest)

# A few minutes; NAMES="web explain" draws only these.
images: $(INSTALLED_DEV)
	@$(PIP) --editable '.[dev,browser]' || echo "playwright cannot be installed here: screenshots are not updated"
	$(BIN)/python -m tools.images $(NAMES)

excerpts: $(INSTALLED_DEV)
	$(BIN)/python -m tools.excerpts

architecture: $(INSTALLED_DEV)
	$(BIN)/python -m tools.architecture

fuzz: $(INSTALLED_DEV)
	FUZZ_CASES=$${FUZZ_CASES:-20000} $(BIN)/python -m pytest tests/fuzz tests/serve/test_mutations.py

# A minute on two idle cores.
serve-load: $(INSTALLED_DEV)
	$(BIN)/python -m tools.serve_load docs/how-to/serve.md

cluster-demo: $(INSTALLED_DEV)
	$(BIN)/python -m tools.cluster_demo

cluster-scaling: $(INSTALLED_DEV)
	$(BIN)/python -m tools.cluster_scaling

tutorial: $(INSTALLED_DEV)
	$(BIN)/python -m tools.tutorial docs/tutorial/first-hour.md

notebook: $(INSTALLED_DEV)
	$(BIN)/python -m tools.notebook docs/notebooks/*.ipynb

# Intermediate files are in build/doctrees; `git clean -fdX docs build` removes them.
SPHINX := $(BIN)/python -m sphinx -W --keep-going -q -d build/doctrees
docs: $(INSTALLED_DOCS)
	$(SPHINX) -b html docs build/docs
	@echo "build/docs/index.html is the site"

docs-links: $(INSTALLED_DOCS)
	$(SPHINX) -b linkcheck docs build/docs-links

wheel: $(INSTALLED_DEV)
	$(BIN)/python -m tools.wheel_check dist

lint: $(INSTALLED_DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m tools.words

# Install pip if it is missing, and recreate an incomplete environment, as left by a Python without ensurepip or by one
# that is gone; then motif is installed again.  uv installs pip in a tenth of ensurepip's time.
$(ENVIRONMENT): FORCE
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(BIN)/python -m ensurepip >/dev/null 2>&1 || { \
	    command -v $(PYTHON) >/dev/null || \
	        { echo "motif needs Python 3.11 or newer, and there is no $(PYTHON): $(TRY)" >&2; exit 1; }; \
	    $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	        { echo "motif needs Python 3.11 or newer, and $(PYTHON) is `$(PYTHON) -V 2>&1`: $(TRY)" >&2; exit 1; }; \
	    echo "making $(VENV)"; \
	    { $(PYTHON) -m venv --clear --without-pip $(VENV) && \
	        $(PYTHON) -m pip --python $(BIN)/python install --no-compile uv && $(UV) pip; } >/dev/null 2>&1 || \
	    $(PYTHON) -m venv --clear $(VENV); }

$(INSTALLED): EXTRAS := .
$(INSTALLED): pyproject.toml $(ENVIRONMENT)
	@echo "installing motif into $(VENV)"
	@$(INSTALL)
	@$(COMPILED) || true
	@touch $@

$(INSTALLED_DEV): EXTRAS := '.[dev]'
$(INSTALLED_DEV): pyproject.toml $(ENVIRONMENT)
	@echo "installing motif and its tools into $(VENV)"
	@$(INSTALL)
	@$(COMPILED) || true
	@touch $(INSTALLED) $@

$(INSTALLED_DOCS): EXTRAS := '.[dev,docs]'
$(INSTALLED_DOCS): pyproject.toml $(ENVIRONMENT)
	@echo "installing motif and the tools for its site into $(VENV)"
	@$(INSTALL)
	@$(COMPILED) || true
	@touch $(INSTALLED) $(INSTALLED_DEV) $@
