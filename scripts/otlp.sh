#!/usr/bin/env bash
# otlp.sh: senders that are not ours against the receivers of spans: telemetrygen over
# gRPC and HTTP, and OpenTelemetry's SDK for JavaScript over gRPC, protobuf and JSON.
# What they sent and what the log holds must be equal.
#
#   scripts/otlp.sh RECOUNT    the binary to test
#
# TELEMETRYGEN   the binary (default telemetrygen, from
#                go install github.com/open-telemetry/opentelemetry-collector-contrib/cmd/telemetrygen@latest)
# OTEL_JS        a folder with node_modules that has @opentelemetry/{api,resources,sdk-trace-base,
#                exporter-trace-otlp-grpc,exporter-trace-otlp-proto,exporter-trace-otlp-http};
#                without it JavaScript is left out
set -euo pipefail

recount=$(realpath "${1:?usage: scripts/otlp.sh RECOUNT}")
telemetrygen=${TELEMETRYGEN:-telemetrygen}
dir=$(mktemp -d)
"$recount" --data-dir "$dir/data" up --http 127.0.0.1:0 --kafka 127.0.0.1:0 --otlp-grpc 127.0.0.1:0 --otlp-http 127.0.0.1:0 >"$dir/up.log" 2>&1 &
server=$!
trap 'kill $server 2>/dev/null || true; wait $server || true; rm -rf "$dir"' EXIT
for _ in $(seq 600); do [ -e "$dir/data/endpoints.json" ] && break; sleep 0.1; done
field() { sed -n "s/.*\"$1\": \"\(.*\)\".*/\1/p" "$dir/data/endpoints.json"; }
grpc=$(field otlp_grpc) http=$(field otlp_http) api=$(field http)

accepted() { curl -s "$api/metrics" | sed -n 's/^recount_otlp_spans_total{result="accepted"} //p' | xargs printf '%.0f'; }
before=0
check() { # what, how many
  local now
  now=$(accepted)
  printf '%-40s sent %6d, accepted %6d\n' "$1" "$2" $((now - before))
  [ $((now - before)) -eq "$2" ] || { cat "$dir/sender.log" >&2; exit 1; }
  before=$now
}

# Two spans a trace and two workers; faster, telemetrygen drops spans by itself.
"$telemetrygen" traces --otlp-insecure --otlp-endpoint "$grpc" --traces 1000 --rate 500 --workers 2 --service cart >"$dir/sender.log" 2>&1
check "telemetrygen over gRPC" 4000
"$telemetrygen" traces --otlp-insecure --otlp-http --otlp-endpoint "${http#http://}" --traces 1000 --rate 500 --workers 2 --service front >"$dir/sender.log" 2>&1
check "telemetrygen over HTTP" 4000

if [ -n "${OTEL_JS:-}" ]; then
  cp "$(dirname "$0")/otlp.js" "$OTEL_JS/recount-otlp.cjs"
  for how in grpc proto http; do
    url=$http/v1/traces
    [ $how = grpc ] && url=http://$grpc
    (cd "$OTEL_JS" && node recount-otlp.cjs $how "$url" 5000) >"$dir/sender.log" 2>&1
    check "the JavaScript SDK, exporter-trace-otlp-$how" 5000
  done
fi

"$recount" --data-dir "$dir/data" log tail --topic spans --all --json >"$dir/spans"
held=$(grep -oE '"span_?[iI]d"' "$dir/spans" | wc -l)
echo "the log holds $held spans"
[ "$held" -eq "$before" ]
