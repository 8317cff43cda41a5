# make            build bin/recount, bin/recount-local, bin/recount-engine, bin/recount-record and bin/recount-pipeline
# make test       every test of every module (the README's test command; vet is of check)
# make check      what CI checks before the tests: format, vet, staticcheck, schemas, configs
# make tidy       go mod tidy in every module: after a change of go.mod
# make race       the tests that may start goroutines, under the race detector, without vet too
# make fuzz       every fuzz target, FUZZTIME each
# make mutants    small faults put into the code, one at a time: each must make a test fail (minutes; 90 at most)
# make soak       long crash and power-cut runs, bounded in time
# make bench PAIRS=FILE  the whole-system benchmarks, into bench/results/
# make compose-build  what the Dockerfile builds, without Docker
# make examples   what examples/ shows, against a server of its own (needs Python 3 and curl)
# make pictures   the pictures of the documentation, renewed (needs tmux and chromium)
# make release-files  man pages, completions and third-party notices, into bin/release/
# make integration  against a real Apache Kafka (needs Java and Maven)
# make integration-mcp  clients of MCP that are not ours: the conformance suite, the TypeScript and Python SDKs (needs node, npm and python3)
# make integration-web  the page in Chromium (needs chromium; REWRITE=1 writes its pictures anew)
# make integration-otlp  spans from telemetrygen and, with OTEL_JS, the JavaScript SDK (scripts/otlp.sh)

GO       ?= go
FUZZTIME ?= 30s

# The program's module, and three whose dependencies no user's build should carry (decision 67).
MODULES := . bench clienttests webtests
TOOLS   := internal/tools
# Programs are built with these, so what is checked and tested is compiled once for all.
TAGS    := grpcnotrace
each     = $(foreach module,$(MODULES) $(2),$(GO) -C $(module) $(1) &&) true
tool     = tool -modfile=$(CURDIR)/$(TOOLS)/go.mod

.PHONY: compose-build examples pictures release-files build test check tidy race fuzz mutants soak bench integration integration-mcp integration-otlp integration-web generate vuln clean

# Compilers, staticcheck and tests have small heaps: collecting garbage less often costs little memory
# and saves a fifth of the CPU time.
build check test race compose-build integration: export GOGC = 400

build:
	$(GO) build -tags $(TAGS) -o bin/recount-engine ./cmd/recount
	$(GO) build -tags $(TAGS) -o bin/ ./cmd/recount-pipeline
	CGO_ENABLED=0 $(GO) build -tags $(TAGS) -o bin/recount ./cmd/recount-front # without C they start sooner
	CGO_ENABLED=0 $(GO) build -tags $(TAGS) -o bin/ ./cmd/recount-local ./cmd/recount-record

# Some packages' tests mostly wait, so more packages run at a time than there are cores. Those with the
# longest tests begin first, so that they are not waited for at the end.
ATONCE  = $(shell expr $$(getconf _NPROCESSORS_ONLN) \* 3 / 2)
LONGEST = ./cmd/recount ./server/node ./pipeline/broker ./replay/sandbox ./projections/vector
tests   = $(foreach module,$(MODULES),packages=$$(cd $(module) && $(2)) && $(GO) -C $(module) test -tags $(TAGS) -vet=off -p $(ATONCE) $(1) $(if $(filter .,$(module)),$(LONGEST)) $$packages &&) true
test:
	export TMPDIR=$$(scripts/scratch.sh); $(call tests,,echo ./...)

check:
	@test -z "$$($(GO) $(tool) gofumpt -l .)" || { echo "not gofumpt-clean:"; $(GO) $(tool) gofumpt -l .; exit 1; }
	$(call each,mod verify >/dev/null,$(TOOLS))
	$(call each,mod tidy -diff,$(TOOLS))
	$(call each,vet -tags $(TAGS) ./...)
	$(GO) vet -tags $(TAGS),integration $(KAFKA)
	$(call each,$(tool) staticcheck -tags $(TAGS) ./...)
	$(GO) run ./internal/protogen lint
	$(GO) run ./internal/protogen breaking
	$(GO) run -tags $(TAGS) ./cmd/recount-pipeline pipeline lint configs/*.yaml configs/split/*.yaml
	$(GO) run -tags $(TAGS) ./cmd/recount-pipeline pipeline test configs/*.yaml configs/split/*.yaml

tidy:
	$(call each,mod tidy,$(TOOLS))

# Without GORACE each package's tests sleep for a second at their end. Packages whose tests start no
# goroutine, and those without tests, are left out (decision 155).
race:
	$(GO) build -o bin/ ./internal/raced
	export GORACE=atexit_sleep_ms=10 TMPDIR=$$(scripts/scratch.sh); $(call tests,-race -timeout 30m,$(CURDIR)/bin/raced)

fuzz:
	./scripts/fuzz.sh $(FUZZTIME)

mutants:
	$(GO) run ./internal/mutants

soak:
	RECOUNT_SOAK=1 $(GO) test -count=1 -timeout 60m -run 'Soak|TestProjection|TestCrash|TestQueries' -v ./...

bench:
	./bench/run.sh $(PAIRS)

compose-build:
	scripts/compose-build.sh

examples: build
	examples/run.sh bin/recount

pictures: build
	scripts/pictures.sh bin

release-files:
	$(GO) run ./internal/notices -o bin/release -version $(or $(VERSION),0.1.0-dev)
	$(GO) test -vet=off -count=1 -run '^TestReleaseFiles$$' ./cmd/recount -release-dir $(CURDIR)/bin/release

integration-otlp: build
	scripts/otlp.sh bin/recount

integration-mcp: build
	scripts/mcp.sh bin/recount

integration-web: build
	RECOUNT_BIN=$(CURDIR)/bin/recount RECOUNT_CHROMIUM=$$(command -v chromium || command -v google-chrome) \
		$(GO) -C webtests test -count=1 -timeout 15m ./... $(if $(REWRITE),-rewrite) $(if $(RUN),-run '$(RUN)')

# The packages with tests that need an Apache Kafka, and what those are called: the others of these
# packages are of test.
KAFKA = ./pipeline ./pipeline/broker ./internal/kafkatest ./server/node
integration:
	$(GO) test -tags $(TAGS),integration -vet=off -count=1 -timeout 15m -run 'ApacheKafka|KgoSuite' $(KAFKA)

generate:
	$(GO) run ./internal/protogen generate

vuln:
	$(call each,$(tool) govulncheck ./...)

clean:
	rm -rf bin
