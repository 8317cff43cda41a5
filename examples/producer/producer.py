"""Runs a command, and records it in Recount: any program can be a producer of events.

    python3 producer.py [--id ID] -- COMMAND [ARGUMENT...]

Python's standard library is enough. RECOUNT_SERVER is the server (default
http://127.0.0.1:7171), RECOUNT_TOKEN its token if it wants one; a token made by
`recount token new --grant ingest` may do this and nothing else. Exits as the command did.
"""

import argparse
import datetime
import json
import os
import shlex
import subprocess
import sys
import time
import urllib.error
import urllib.request
import uuid


def append(events, attempts=5):
    """Append CloudEvents, and return what the server says of each: id, position, duplicate.

    The answer comes when the events are on disk. After a lost answer, or one that says
    "later", the same events are sent again: their ids make that harmless.
    """
    server = os.environ.get("RECOUNT_SERVER", "http://127.0.0.1:7171")
    headers = {"content-type": "application/cloudevents-batch+json"}
    if token := os.environ.get("RECOUNT_TOKEN"):
        headers["authorization"] = "Bearer " + token
    request = urllib.request.Request(server + "/v1/events", json.dumps(events).encode(), headers)
    for attempt in range(1, attempts + 1):
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return json.load(answer)["events"]
        except urllib.error.HTTPError as e:
            if e.code not in (429, 502, 503, 504) or attempt == attempts:
                # The answer says which event is wrong, and how.
                raise SystemExit(f"producer: {e.code}: {e.read().decode()}")
        except OSError as e:
            if attempt == attempts:
                raise SystemExit(f"producer: {server}: {e}")
        time.sleep(2**attempt / 10)


def run(arguments):
    """Run a command, and return its exit code and the payload of a command.executed."""
    started = datetime.datetime.now(datetime.timezone.utc)
    begin = time.monotonic()
    done = subprocess.run(arguments)
    return done.returncode, {
        "command": shlex.join(arguments),
        "cwd": os.getcwd(),
        "exit_code": done.returncode,
        "started_at": started.isoformat(),
        "duration": f"{time.monotonic() - begin:.9f}s",
        "author": "producer.py",
    }


def main():
    parser = argparse.ArgumentParser(description="Run a command and record it in Recount.")
    parser.add_argument("--id", default=str(uuid.uuid4()), help="the event's id, for one that may be sent again")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    code, payload = run(options.command)
    [event] = append([
        {
            "specversion": "1.0",
            "type": "command.executed",
            "id": options.id,
            "source": "examples/producer",
            "time": payload["started_at"],
            "data": payload,
        }
    ])
    at = event["position"]
    known = "was known, " if event.get("duplicate") else ""
    print(f"recorded: {known}{at['topic']}/{at['partition']}/{at['offset']}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
