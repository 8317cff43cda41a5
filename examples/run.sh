#!/usr/bin/env bash
# run.sh RECOUNT: runs the examples that are no Go tests, against a server of their own,
# and compares what they print. Needs python3 and curl.
set -euo pipefail
recount=$(realpath "$1")
cd "$(dirname "$0")/.."

dir=$(mktemp -d)
export RECOUNT_DATA_DIR=$dir/data
unset RECOUNT_SERVER RECOUNT_TOKEN RECOUNT_CONFIG
export XDG_CONFIG_HOME=$dir XDG_STATE_HOME=$dir
"$recount" up --http 127.0.0.1:0 --kafka none --otlp-grpc none --otlp-http none >"$dir/up.out" 2>"$dir/up.log" &
server=$!
trap 'kill "$server" 2>/dev/null; wait "$server" || true; rm -rf "$dir"' EXIT

for _ in $(seq 600); do # a minute
  [ -s "$RECOUNT_DATA_DIR/endpoints.json" ] && break
  kill -0 "$server" || { cat "$dir/up.log" >&2; exit 1; }
  sleep 0.1
done
RECOUNT_SERVER=$(sed -n 's/.*"http": "\(http[^"]*\)".*/\1/p' "$RECOUNT_DATA_DIR/endpoints.json")
[ -n "$RECOUNT_SERVER" ] || { echo "the server says no address:" >&2; cat "$dir/up.log" >&2; exit 1; }
export RECOUNT_SERVER

# want NAME: compares the standard input with what is expected of an example; REWRITE=1
# makes it what is expected.
want() {
  if [ -n "${REWRITE:-}" ]; then cat >"examples/expected/$1.txt"; return; fi
  diff -u "examples/expected/$1.txt" - || { echo "examples: $1 prints something else" >&2; exit 1; }; echo "ok  $1"
}

# visible COUNT QUESTION...: waits until find has so many hits; what is appended is durable at
# once, and visible a moment later.
visible() {
  for _ in $(seq 600); do # a minute
    [ "$("$recount" find --json "${@:2}" | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["hits"]))')" -ge "$1" ] && return
    sleep 0.1
  done
  echo "examples: fewer than $1 hits for: ${*:2}" >&2
  exit 1
}

"$recount" pipeline lint examples/pipeline/ci-jobs.yaml
"$recount" pipeline test examples/pipeline/ci-jobs.yaml >"$dir/test.out" 2>&1 || { cat "$dir/test.out" >&2; exit 1; }
for _ in 1 2; do # the second time appends nothing
  "$recount" pipeline run examples/pipeline/ci-jobs.yaml >"$dir/run.out" 2>&1 || { cat "$dir/run.out" >&2; exit 1; }
done
visible 2 make
"$recount" find --exit fail --json make | python3 -c '
import json, sys
for hit in json.load(sys.stdin)["hits"]:
    print(hit["command"], hit["exit_code"], hit["session"], hit["workspace"], sep=", ")
' | want pipeline

{
  for _ in 1 2; do
    code=0
    (cd / && python3 "$OLDPWD/examples/producer/producer.py" --id example-1 -- sh -c 'echo hello; exit 3') 2>&1 || code=$?
    echo "exit $code"
  done
} | want producer

visible 2 --exit fail
python3 examples/question/ask.py test | want question
(RECOUNT_SERVER=http://127.0.0.1:9 python3 examples/question/ask.py test 2>&1 || echo "exit $?") | want question-no-server
examples/question/ask.sh test | python3 -c 'import json, sys; print(*[h["command"] for h in json.load(sys.stdin)["hits"]], sep="\n")' | want question-curl
