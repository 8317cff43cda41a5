#!/usr/bin/env bash
# compose-build.sh: builds what the Dockerfile builds, with its command, from what it
# copies, and runs the result. Without Docker, so with this machine's Go and C compiler
# in place of the image's. docker-compose.yml uses the same image.
set -euo pipefail
cd "$(dirname "$0")/.."

# One line: the Dockerfile's RUN with "go build", without its cache mounts.
build=$(sed -e ':join' -e '/\\$/{N;s/\\\n *//;bjoin' -e '}' Dockerfile | sed -n 's/^RUN \(--mount=[^ ]* *\)*\(.*go build .*\)$/\2/p')
[ "$(wc -l <<<"$build")" = 1 ] && [ -n "$build" ] || { echo "Dockerfile: want one RUN … go build, got: $build" >&2; exit 1; }
# shellcheck disable=SC2046 # its values hold no spaces
export $(sed -n 's/^ARG \(.*=.*\)$/\1/p' Dockerfile)

to=$(mktemp -d)
trap 'rm -rf "$to"' EXIT
mkdir "$to/src" "$to/out"
grep -v '^#' .dockerignore | sed 's|^|./|' >"$to/ignored"
tar --anchored --exclude-from="$to/ignored" -cf - . | tar -C "$to/src" -xf -
echo "$build"
(cd "$to/src" && bash -euc "${build//\/out\//$to/out/}")
"$to/out/recount" version
ls "$to/out/recount-record" "$to/out/recount-local" "$to/out/recount-engine" >/dev/null
"$to/out/recount" pipeline list processors >/dev/null
