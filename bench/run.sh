#!/usr/bin/env bash
# Runs every benchmark and writes what they print to bench/results/<date>.md.
# usage: bench/run.sh NL2BASH_PAIRS.tsv   (lines of description<TAB>command)
set -euo pipefail
cd "$(dirname "$0")/.."
pairs=${1:?usage: bench/run.sh NL2BASH_PAIRS.tsv}
out=bench/results/$(date -u +%Y-%m-%d).md
mkdir -p bench/results
go -C bench build -o ../bin/bench .
for b in produce memory-append latency reopen amplification rebuild visible find whole retrieval; do
  ./bin/bench -data "$pairs" "$b"
done | tee "$out"
echo "written to $out"
