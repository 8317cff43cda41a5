#!/usr/bin/env bash
# vendor-web.sh: makes server/web/assets/vendor again from npm's packages (needs npm and node).
# The libraries are ES modules of their authors, byte for byte, but for two changes: a bare import
# ("preact") becomes a relative one, because a browser resolves no names, and the reference to a
# source map goes. VENDOR lists what came from where, and a test of server/web compares the hashes.
set -euo pipefail
to=$(cd "$(dirname "$0")/../server/web/assets/vendor" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# package, version, licence, the module in the package, its name here
list='
preact 11.2.0 MIT        dist/preact.mjs       preact.js
preact 11.2.0 MIT        hooks/dist/hooks.mjs  hooks.js
htm    3.1.1  Apache-2.0 dist/htm.mjs          htm.js
'

: > "$work/VENDOR"
while read -r package version licence module name; do
  [ -n "$package" ] || continue
  dir="$work/$package-$version"
  if [ ! -d "$dir" ]; then
    (cd "$work" && npm pack --silent "$package@$version" >/dev/null) # npm checks the registry's hash
    mkdir "$dir" && tar xzf "$work/$(echo "$package" | tr -d @ | tr / -)-$version.tgz" -C "$dir" --strip-components 1
    cp "$dir/LICENSE" "$to/LICENSE-$(basename "$package").txt"
  fi
  sed -e 's,from"\([a-z][a-z/]*\)",from"./\1.js",g' -e '/^\/\/# sourceMappingURL=/d' "$dir/$module" > "$to/$name"
  echo "$package $version $licence $name $(sha256sum < "$to/$name" | cut -d' ' -f1)" >> "$work/VENDOR"
done <<< "$list"
mv "$work/VENDOR" "$to/VENDOR"
chmod 644 "$to"/*
