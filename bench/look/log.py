"""Makes the commands and traces of the log that bench/look asks about.

    python3 bench/look/log.py PAIRS BOUTIQUE OUT

PAIRS is the file of NL2Bash's pairs, BOUTIQUE the folder of Nezha's traces of Online Boutique
(*_trace.csv.xz), OUT a folder for commands.ndjson (append it to the topic commands) and traces.json
(recount import otlp). bench/docs/search.md says what else is imported.
"""
import collections
import csv
import glob
import json
import lzma
import sys

pairs, boutique, out = sys.argv[1:]

distinct = {}
for line in open(pairs):
    description, command = line.rstrip("\n").split("\t")
    distinct.setdefault(" ".join(command.split()), description)
with open(out + "/commands.ndjson", "w") as f:
    for i, command in enumerate(list(distinct)[::3][:2000]):
        f.write(json.dumps({
            "command": command, "cwd": f"/home/ada/work{i % 5}", "session": f"tty-{i // 50}", "author": "ada", "exit_code": 0 if i % 7 else 1,
            "started_at": f"2026-11-{1 + i // 100:02d}T{i % 100 // 5:02d}:{i % 60:02d}:00Z"}) + "\n")

rows = []
for path in sorted(glob.glob(boutique + "/*_trace.csv.xz")):
    rows += list(csv.reader(lzma.open(path, "rt")))[1:]
seen = collections.Counter()
services = collections.defaultdict(list)
for trace, span, parent, pod, operation, start, end, *_ in rows:
    seen[operation] += 1
    if seen[operation] <= 201:
        services["-".join(pod.split("-")[:-2]) or pod].append({
            "traceId": trace, "spanId": span, "parentSpanId": "" if parent == "root" else parent, "name": operation, "kind": 2,
            "startTimeUnixNano": start, "endTimeUnixNano": end, "status": {}})
with open(out + "/traces.json", "w") as f:
    for service, spans in services.items():
        for i in range(0, len(spans), 200):
            f.write(json.dumps({"resourceSpans": [{
                "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": service}}]},
                "scopeSpans": [{"spans": spans[i:i + 200]}]}]}) + "\n")
