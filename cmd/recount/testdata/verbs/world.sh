#!/bin/sh
# Makes in $DIR what exits.txt asks about: a shop with telemetry, a library with a test, a
# history, tokens that are in force and tokens that are not.
set -e
sh "$FILES/runtime/shop.sh"
printf 'ls\n' >"$DIR/bash_history"
mkdir "$DIR/lib" && cd "$DIR/lib"
git init -q -b main .
printf 'module example.org/acme/lib\n\ngo 1.24\n' >go.mod
printf 'package lib\n\nfunc Add(a, b int) int { return a + b }\n\nfunc Unused() {}\n' >lib.go
printf 'package lib\n\nimport "testing"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Fail()\n\t}\n}\n' >lib_test.go
git add -A
git -c user.name=ada -c user.email=ada@example.org commit -qm 'add numbers'
cat >"$DIR/late.yaml" <<'END'
tokens:
  - sha256: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
    name: late
    agent: a
    workspaces: [/w]
    expires: 2020-01-01T00:00:00Z
END
sed 's/workspaces/workspace/' "$DIR/late.yaml" >"$DIR/wrong.yaml"
chmod 600 "$DIR/late.yaml" "$DIR/wrong.yaml"
