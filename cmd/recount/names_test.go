package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// forgedLine is the text in names after each kind of line break: no verb may print a line that
// begins with it, unless it is marked as a quotation.
const forgedLine = "FORGED"

// TestNamesMakeNoLines puts a line break into every name in events, and checks that no verb prints
// it as a line break.
func TestNamesMakeNoLines(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	x := func(name string) string {
		b, err := json.Marshal(name + "\n" + forgedLine + "\r" + forgedLine + "\v" + forgedLine + "\u2028" + forgedLine)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	var events []string
	add := func(format string, names ...string) {
		args := make([]any, len(names))
		for i, n := range names {
			args[i] = x(n)
		}
		events = append(events, fmt.Sprintf(format, args...))
	}
	const at = `"started_at":"2026-01-1%dT10:00:00Z"`
	for i, end := range []string{"2", "0"} {
		add(`{"command":"make test","exit_code":`+end+`,`+fmt.Sprintf(at, i+1)+`,"cwd":%s,"workspace":%s,"session":%s,"shell":%s,"user":%s,"host":%s,"author":%s,"stated_intent":%s,"git_head":%s}`,
			"/src", "/ws", "s", "sh", "ada", "h", "eve", "to try", "head")
	}
	agents := func(typ, fields string, names ...string) {
		format := `{"specversion":"1.0","id":"` + typ + `","source":%s,"type":"` + typ + `","time":"2026-01-13T10:00:00Z","data":{"agent":%s,"workspace":%s,"session":%s,"occurred_at":"2026-01-13T10:00:00Z",` + fields + `}}`
		add(format, append([]string{"src", "agent", "/ws", "s"}, names...)...)
	}
	agents("memory_stated", `"text":"port of staging","memory":{"subject":%s,"predicate":%s,"value":%s}`, "staging", "port", "1")
	agents("tool_call_issued", `"tool":{"name":%s,"call_id":%s,"command":"port"}`, "bash", "c1")
	agents("state_changed", `"state":{"key":%s,"value":"port"}`, "key")
	agents("artifact_produced", `"artifact":{"uri":%s,"title":%s},"text":"port"`, "file:///a", "title")
	agents("task_started", `"task":{"id":%s,"title":%s},"text":"port"`, "T-1", "port")
	add(`{"specversion":"1.0","id":"sp","source":"x","type":"spans.exported","time":"2026-01-13T19:15:00Z","data":{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":%s}},{"key":"service.version","value":{"stringValue":%s}}]},"scopeSpans":[{"spans":[`+
		`{"traceId":"00000000000000000000000000001000","spanId":"0000000000010003","name":%s,"kind":2,"startTimeUnixNano":"1768292100002000000","endTimeUnixNano":"1768292100020000000","status":{"code":2,"message":%s},"attributes":[{"key":%s,"value":{"stringValue":%s}}]},`+
		`{"traceId":"00000000000000000000000000001000","spanId":"0000000000010004","name":%s,"kind":3,"startTimeUnixNano":"1768292100003000000","endTimeUnixNano":"1768292100015000000","parentSpanId":"0000000000010003","attributes":[{"key":"db.system.name","value":{"stringValue":%s}},{"key":"db.namespace","value":{"stringValue":%s}},{"key":"peer.service","value":{"stringValue":%s}}]}]}]}]}}`,
		"web", "1.0", "GET /a", "broken", "key", "value", "SELECT", "postgresql", "ns", "db")
	file := filepath.Join(w.dir, "events.jsonl")
	if err := os.WriteFile(file, []byte(strings.Join(events, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, code := w.sh("recount import jsonl " + file); code != 0 {
		t.Fatalf("exit %d: %s", code, out)
	}
	repo := `mkdir repo && cd repo && git init -q -b main . && d="$(printf 'di\nFORGED')" && mkdir "$d" && printf 'package a\n\nfunc Old() {}\n' >"$d/a.go" && printf 'module example.org/a\n' >go.mod && git add -A && ` +
		`git -c user.name=ada -c user.email=a@example.org commit -qm first && recount import git . >/dev/null`
	if out, code := w.sh(repo); code != 0 {
		t.Fatalf("exit %d: %s", code, out)
	}
	w.start()
	told := 0
	for _, verb := range []string{
		"find test", "find test --repeats --proof", `show "$(recount find test --json | sed -n 's/.*"id": "\(.*\)".*/\1/p' | head -1)"`,
		"why --since 30y", "stitch", "insights", "stats", "status", "log topics",
		"ask port --wide", "ask port --mode objects --wide", "ask port --mode context", "ask port --mode subgraph --wide", "ask port --text --wide --versions --proof",
		"runtime traffic --at 2026-01-14", "runtime edges --at 2026-01-14", "runtime services --at 2026-01-14", "runtime stats", "runtime traces", "runtime trace 00000000000000000000000000001000",
		"symbols Old", "symbols a.go", "routes", "owners a.go", "stale", "snapshot log", "snapshot show", "log tail --all", "forget --pattern FORGED --dry-run",
	} {
		out, _ := w.sh("recount " + verb + " 2>&1")
		told += strings.Count(out, forgedLine)
		for line := range strings.SplitSeq(strings.NewReplacer("\r", "\n", "\v", "\n", "\u2028", "\n").Replace(out), "\n") {
			if strings.HasPrefix(strings.TrimLeft(line, " ├└─"), forgedLine) {
				t.Errorf("recount %s: a name makes a line:\n%s", verb, out)
				break
			}
		}
	}
	if told < 100 {
		t.Errorf("names were told %d times: the verbs have not printed them", told)
	}
}
