"""Asks Recount for commands that failed, and shows what the answer rests on.

    python3 ask.py WORDS...

RECOUNT_SERVER is the server (default http://127.0.0.1:7171), RECOUNT_TOKEN its token.
Exits with 1 if nothing is found or no server answers.
"""

import json
import os
import sys
import urllib.error
import urllib.request


def ask(operation, question):
    """Return the answer to a question: a POST of JSON to /v1/OPERATION."""
    server = os.environ.get("RECOUNT_SERVER", "http://127.0.0.1:7171")
    headers = {"content-type": "application/json"}
    if token := os.environ.get("RECOUNT_TOKEN"):
        headers["authorization"] = "Bearer " + token
    request = urllib.request.Request(f"{server}/v1/{operation}", json.dumps(question).encode(), headers)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def main():
    try:
        found = ask("find", {"text": " ".join(sys.argv[1:]), "filters": {"exit": "fail"}, "limit": 3})
    except urllib.error.HTTPError as refused:
        sys.exit(f"ask.py: {refused.read().decode().strip()}")
    except urllib.error.URLError as missing:
        why = getattr(missing.reason, "strerror", None) or missing.reason
        sys.exit(f"ask.py: no server answers: {why}: start it with: recount up, or name it in RECOUNT_SERVER")
    if found["status"] == "empty":
        print(found.get("hint", "nothing found"))
        return 1
    for hit in found["hits"]:
        at = hit["position"]
        print(f"{hit['command']}  exit {hit['exit_code']}  {at['topic']}/{at['partition']}/{at['offset']}")
    # The same question of the same watermark has the same answer, for ever.
    print("rests on everything below", found["watermark"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
