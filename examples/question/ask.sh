#!/usr/bin/env bash
# ask.sh WORDS...: the same question as ask.py, by curl alone; prints the answer's JSON.
set -euo pipefail

# The words must not hold a double quote or a backslash: JSON would want them escaped.
curl --silent --show-error --fail-with-body \
  "${RECOUNT_SERVER:-http://127.0.0.1:7171}/v1/find" \
  --header 'content-type: application/json' \
  --header "authorization: Bearer ${RECOUNT_TOKEN:-none}" \
  --data '{"text":"'"$*"'","filters":{"exit":"fail"},"limit":3}'
