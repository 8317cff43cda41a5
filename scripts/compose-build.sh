#!/usr/bin/env bash
# compose-build.sh: builds what the Dockerfile in docker-compose.yml builds, with its
# command and environment, from what it copies, and runs the result. Without Docker, so
# with this machine's Go and C compiler in place of the image's.
set -euo pipefail
cd "$(dirname "$0")/.."

build=$(sed -n 's/^ *RUN \(.*go build .*\)$/\1/p' docker-compose.yml)
[ "$(wc -l <<<"$build")" = 1 ] && [ -n "$build" ] || { echo "docker-compose.yml: want one RUN … go build line, got: $build" >&2; exit 1; }

to=$(mktemp -d)
trap 'rm -rf "$to"' EXIT
mkdir "$to/src"
grep -v '^#' .dockerignore | sed 's|^|./|' >"$to/ignored"
tar --anchored --exclude-from="$to/ignored" -cf - . | tar -C "$to/src" -xf -
echo "$build"
(cd "$to/src" && bash -euc "${build/-o \/recount/-o $to/recount}")
"$to/recount" version
