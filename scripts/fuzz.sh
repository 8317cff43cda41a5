#!/usr/bin/env bash
# Runs every fuzz target of the module for a time each (default 30s), one after another.
set -euo pipefail
each=${1:-30s}
go list ./... | while read -r pkg; do
  go test -list '^Fuzz' "$pkg" | { grep '^Fuzz' || true; } | while read -r target; do
    echo "== $pkg $target"
    # Minimizing what is new takes a minute by default, in which nothing is tried.
    go test -run '^$' -fuzzminimizetime 100x -fuzz "^$target\$" -fuzztime "$each" "$pkg"
  done
done
