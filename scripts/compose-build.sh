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
# The compiler has kept what it compiled in this directory, but nothing of another one: where mounts
# may be made, the copy is built in this directory's place, which nobody else sees.
here='mount --bind "$1" "$2" && cd "$2" && bash -euc "$3"'
namespace=(unshare --user --map-root-user --mount bash -euc "$here" -)
"${namespace[@]}" "$to/src" "$PWD" true 2>/dev/null || namespace=(bash -euc 'cd "$1" && bash -euc "$3"' -)
"${namespace[@]}" "$to/src" "$PWD" "${build//\/out\//$to/out/}"
"$to/out/recount" version
ls "$to/out/recount-record" "$to/out/recount-local" "$to/out/recount-engine" >/dev/null
"$to/out/recount" pipeline list processors >/dev/null
