#!/usr/bin/env bash
# kgo-suite.sh: run franz-go's own tests of its client (pkg/kgo, from the module's
# source at the version in go.mod) against our broker, and compare with what
# pipeline/broker/README.md says of them. Takes one to five minutes.
#
#   KGO_TEST_RECORDS=500000 scripts/kgo-suite.sh    with as many records as they use
#   KGO_SUITE_REPORT=out.json scripts/kgo-suite.sh  keep their whole output
set -euo pipefail
cd "$(dirname "$0")/.."
exec go test -tags integration -count=1 -timeout 20m -run '^TestKgoSuite$' -v ./pipeline/broker
