# Everything a person does with this repository. `make help` lists the targets.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= 2
NATIVE_SOURCES := CMakeLists.txt $(shell find kernels/csrc proving/oneshot -type f -not -path '*/__pycache__/*')

.DEFAULT_GOAL := help

.PHONY: help
help: ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## ?/\1\t/' | awk -F'\t' '{printf "  %-14s %s\n", $$1, $$2}'

$(VENV)/.dependencies: requirements/dev.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "cuzkweb needs Python 3.11 or newer")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.lock
	@touch $@

$(VENV)/.installed: $(VENV)/.dependencies pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.native: $(VENV)/.installed $(NATIVE_SOURCES)
	@mkdir -p build
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/cmake -S . -B build/native -G Ninja -DCMAKE_BUILD_TYPE=Release -DCUZK_IN_SOURCE=ON >build/native.log 2>&1 || { cat build/native.log; exit 1; }
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/cmake --build build/native --parallel
	install -m 755 build/native/cuzkweb $(BIN)/cuzkweb
	@touch $@

.PHONY: setup
setup: $(VENV)/.installed $(VENV)/.native ## virtual environment in .venv, locked dependencies, native build

LOCK := --universal --python-version 3.11 --generate-hashes --no-header --quiet
.PHONY: lock
lock: ## resolve the locks afresh: for development, for the image, for building it (needs uv)
	uv pip compile pyproject.toml --group dev $(LOCK) -o requirements/dev.lock
	uv pip compile pyproject.toml --extra postgresql --extra s3 -c requirements/dev.lock $(LOCK) -o requirements/prod.lock
	uv pip compile pyproject.toml --extra postgresql --extra s3 --extra cuda13 -c requirements/prod.lock $(LOCK) -o requirements/cuda13.lock
	uv pip compile --group pyproject.toml:build -c requirements/dev.lock $(LOCK) -o requirements/build.lock
	uv pip compile --group pyproject.toml:audit $(LOCK) -o requirements/audit.lock

.PHONY: clean
clean: ## remove everything that was built
	rm -rf $(VENV) build var kernels/*.so tests/node/node_modules

.PHONY: demo
demo: setup ## everything running, real proofs made and verified (ONCE=1 leaves afterwards)
	@$(BIN)/cuzkweb demo $(if $(ONCE),--once)

.PHONY: up
up: setup ## the whole service, until Ctrl-C
	@$(BIN)/cuzkweb up

# snarkjs, the independent prover and verifier of the tests, where npm is at hand
tests/node/node_modules/.installed: tests/node/package-lock.json
	@if command -v npm >/dev/null; then cd tests/node && npm ci --silent --no-audit --no-fund && touch node_modules/.installed; \
	else echo "npm is not here: tests that compare with snarkjs will skip"; fi

.PHONY: test
test: setup tests/node/node_modules/.installed ## all tests
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile $(TESTS)

.PHONY: chaos
chaos: setup ## faults of every kind for fifteen minutes, on Debian's PostgreSQL and Redis; the account at the end
	$(BIN)/python -m tests.benchmarks.chaos $(STORM)

.PHONY: api-test
api-test: setup ## ask the whole API many questions, from its own description
	CUZKWEB_API_EXAMPLES=$(or $(EXAMPLES),400) $(BIN)/python -m pytest -n $(JOBS) --timeout 3600 tests/integration/api/test_whole_api.py

.PHONY: check
check: setup ## ruff, types, layers, formatting of C++, migrations, system checks
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/clang-format --dry-run --Werror $$(git ls-files 'kernels/csrc/*.cpp' 'kernels/csrc/*.hpp' 'proving/oneshot/*')
	$(BIN)/python -W error manage.py makemigrations --check --dry-run
	$(BIN)/python -W error manage.py check

build/audit/.installed: requirements/audit.lock
	$(PYTHON) -m venv build/audit
	build/audit/bin/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/audit.lock
	@touch $@

.PHONY: audit
audit: build/audit/.installed ## known faults of what is shipped; says so where nobody could be asked
	$(PYTHON) .ci/audit build/audit/bin/pip-audit requirements/prod.lock

.PHONY: format
format: setup ## rewrite the sources in the house style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $$(git ls-files 'kernels/csrc/*.cpp' 'kernels/csrc/*.hpp' 'proving/oneshot/*')

# half an hour on one idle core; BITS=2 flips the highest bit of every byte too
BITS ?= 1
.PHONY: fuzz
fuzz: setup ## change every byte of every kind of file, by the command line and by the service
	CUZKWEB_EVERY_BYTE=$(BITS) $(BIN)/python -m pytest -rP --show-capture=stdout -n $(JOBS) tests/unit/commands/test_changed_byte.py tests/integration/runtime/test_changed_byte.py

.PHONY: bench
bench: setup tests/node/node_modules/.installed ## stage times, and snarkjs on the same files in the same run
	$(BIN)/cuzkweb bench

.PHONY: kernels-check
kernels-check: setup ## every GPU kernel for every generation within its budget, all executed from their PTX
	CUZKWEB_ALL_KERNELS=1 $(BIN)/python -m pytest -n $(JOBS) tests/unit/kernels/test_ptx_*.py
	$(BIN)/python -m tests.support.budgets

.PHONY: kernels-record
kernels-record: setup ## record anew what every GPU kernel takes of registers, stack and instructions
	$(BIN)/python -m tests.support.budgets --record

.PHONY: gpu
gpu: setup ## on a GPU: its tests, multiply rates, sums, quotients and whole proofs into tests/benchmarks/results
	@if $(BIN)/python -m kernels.cuda.visible; then $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/cuda13.lock; fi
	$(BIN)/python -m tests.benchmarks.gpu $(GPU)
