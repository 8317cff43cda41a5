#!/usr/bin/env bash
# Runs every fuzz target of the module for a time each (default 30s), one after another,
# and says at the end which of them failed. A package is compiled once for all its targets;
# PATTERN, if given, is of the packages to do.
#
#   scripts/fuzz.sh [TIME [PATTERN]]
set -euo pipefail
each=${1:-30s}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
corpora=$(go env GOCACHE)/fuzz
failed=()
while read -r pkg dir; do
  targets=$(grep -hos '^func Fuzz[A-Za-z0-9_]*' "$dir"/*_test.go | cut -d' ' -f2 || true)
  [ -n "$targets" ] || continue
  if ! go test -c -vet=off -fuzz=. -o "$tmp/fuzz.test" "$pkg"; then
    failed+=("$pkg")
    continue
  fi
  for target in $targets; do
    echo "== $pkg $target"
    # Minimizing what is new takes a minute by default, in which nothing is tried.
    (cd "$dir" && "$tmp/fuzz.test" -test.run '^$' -test.fuzz "^$target\$" -test.fuzztime "$each" \
      -test.fuzzminimizetime 100x -test.fuzzcachedir "$corpora/$pkg" </dev/null) || failed+=("$pkg $target")
  done
done < <(go list -f '{{.ImportPath}} {{.Dir}}' "${2:-./...}")
if [ ${#failed[@]} -gt 0 ]; then
  echo "failed:"
  printf '  %s\n' "${failed[@]}"
  exit 1
fi
