package agentlog_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/internal/agentlog"
	"github.com/recountdb/recount/internal/golden"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// modified replaces a file's modification time.
var modified = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// outcome is the complete result of reading a file.
type outcome struct {
	events  []schemas.Event
	skipped []string
	leftOut map[string]int
	format  string
	err     error
}

func read(data []byte, o agentlog.Options) outcome {
	out := outcome{leftOut: map[string]int{}}
	o.LeftOut = func(what string) { out.leftOut[what]++ }
	o.Found = func(format string) { out.format = format }
	if o.Time.IsZero() {
		o.Time = modified
	}
	for e, err := range agentlog.Read(bytes.NewReader(data), o) {
		var skip *agentlog.SkipError
		switch {
		case errors.As(err, &skip):
			out.skipped = append(out.skipped, skip.Error())
		case err != nil:
			out.err = err
		default:
			out.events = append(out.events, e)
		}
	}
	return out
}

func payload(t testing.TB, e schemas.Event) proto.Message {
	t.Helper()
	m, err := e.DecodePayload()
	if err != nil {
		t.Fatalf("%s: %v", e, err)
	}
	return m
}

// draw writes one event per line, with numbers for ids.
func draw(t *testing.T, out outcome) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "format %s\n", out.format)
	numbers := map[string]string{}
	for i, e := range out.events {
		numbers[e.ID.String()] = fmt.Sprint("#", i+1)
	}
	for i, e := range out.events {
		m := payload(t, e)
		text, err := schemas.EncodePayload(m)
		if err != nil {
			t.Fatal(err)
		}
		var compact bytes.Buffer
		for j, part := range strings.Split(string(text), `"`) {
			if id, ok := numbers[part]; ok {
				part = id
			}
			if r := []rune(part); len(r) > 90 {
				part = fmt.Sprintf("%s…(%d)", string(r[:80]), len(r))
			}
			if j > 0 {
				compact.WriteByte('"')
			}
			compact.WriteString(part)
		}
		fmt.Fprintf(&b, "#%d %s %s %s\n   %s\n", i+1, e.Type, e.Source, e.Time.Format("2006-01-02T15:04:05.999"), compact.String())
	}
	for _, s := range out.skipped {
		fmt.Fprintf(&b, "skipped %s\n", s)
	}
	for _, what := range slices.Sorted(maps.Keys(out.leftOut)) {
		fmt.Fprintf(&b, "left out %d × %s\n", out.leftOut[what], what)
	}
	if out.err != nil {
		fmt.Fprintf(&b, "error %v\n", out.err)
	}
	return b.String()
}

// TestGolden reads files of each format and compares the complete output.
func TestGolden(t *testing.T) {
	for _, name := range []string{
		"v0.traj", "v1.traj", "demonstration.traj", "openhands.jsonl", "chat.json", "response.json", "anthropic.json", "claude-code.jsonl", "events.jsonl",
		"claude-stream.jsonl", "codex.jsonl", "codex-exec.jsonl", "gemini.json", "gemini.jsonl", "gemini-checkpoint.json", "mini-v1.traj.json", "mini-v2.traj.json",
		"opencode.json", "openhands-v1.jsonl",
	} {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join("testdata", name))
			if err != nil {
				t.Fatal(err)
			}
			out := read(data, agentlog.Options{Name: "run-1", Commands: true})
			golden.Check(t, filepath.Join("testdata", name+".golden"), draw(t, out))
			good(t, out)
			again := read(data, agentlog.Options{Name: "run-1", Commands: true, Time: modified.Add(time.Hour), Workspace: "/elsewhere"})
			if diff := cmp.Diff(ids(out), ids(again)); diff != "" {
				t.Errorf("read again, at another time and into another workspace, ids differ:\n%s", diff)
			}
		})
	}
}

func ids(out outcome) []string {
	var all []string
	for _, e := range out.events {
		all = append(all, e.ID.String())
	}
	return all
}

// good checks properties that hold for all events of all files.
func good(t testing.TB, out outcome) {
	t.Helper()
	seen := map[schemas.EventID]string{}
	for _, e := range out.events {
		m := payload(t, e)
		if _, err := schemas.DecodeEvent("recount.agents", e.Headers(), e.Key, e.Payload, e.Time); err != nil {
			t.Errorf("%s: %v", e, err)
		}
		if e.Key == nil {
			t.Errorf("%s has no key", e)
		}
		if what, twice := seen[e.ID]; twice && e.Source != "import/jsonl" {
			t.Errorf("%s has the id of %s", e, what)
		}
		if a, ok := m.(*recountv1.AgentEvent); ok && e.Source != "import/jsonl" && e.Source != "import/jsonl/untimed" {
			for _, id := range append(a.GetCausedBy(), a.GetParentEventId()) {
				parsed, err := schemas.ParseEventID(id)
				if id != "" && (err != nil || seen[parsed] == "") {
					t.Errorf("%s follows from %s, which did not come before it", e, id)
				}
			}
		}
		seen[e.ID] = e.Type
	}
}

// TestGrown reads a run at each of its lengths: existing events keep their ids.
func TestGrown(t *testing.T) {
	data, err := os.ReadFile("testdata/claude-code.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	all := ids(read(data, agentlog.Options{}))
	lines := bytes.SplitAfter(data, []byte("\n"))
	for n := 3; n < len(lines); n++ {
		some := ids(read(bytes.Join(lines[:n], nil), agentlog.Options{}))
		if len(some) > len(all) || !slices.Equal(some, all[:len(some)]) {
			t.Fatalf("%d lines: ids %v are not the first of %v", n, some, all)
		}
	}
}

// TestClaudeCodeOfLater reads lines in the format of later versions of Claude Code: many lines
// without a uuid before the first message, results of tools that are plain text, and a compaction
// after which the conversation continues.
func TestClaudeCodeOfLater(t *testing.T) {
	line := func(uuid, parent, typ, more string) string {
		if parent != "null" {
			parent = `"` + parent + `"`
		}
		return `{"parentUuid":` + parent + `,"isSidechain":false,"cwd":"/src/shop","sessionId":"s","version":"2.1.44","type":"` + typ + `","uuid":"` + uuid + `","timestamp":"2026-02-18T09:00:00.000Z",` + more + "}\n"
	}
	var b strings.Builder
	for range 40 {
		b.WriteString(`{"type":"file-history-snapshot","messageId":"m","snapshot":{"trackedFileBackups":{}},"isSnapshotUpdate":false}` + "\n")
	}
	b.WriteString(`{"type":"permission-mode","permissionMode":"plan","sessionId":"s"}` + "\n")
	b.WriteString(line("u1", "null", "user", `"message":{"role":"user","content":"Why is the cart empty?"}`))
	b.WriteString(line("a1", "u1", "assistant", `"message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"false"}}]}`))
	b.WriteString(`{"type":"progress","parentToolUseID":"t1","sessionId":"s","parentUuid":"a1"}` + "\n") // no uuid
	b.WriteString(line("u2", "a1", "user", `"toolUseResult":"Error: Exit code 1","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":"Exit code 1"}]}`))
	b.WriteString(line("c1", "null", "system", `"subtype":"compact_boundary","logicalParentUuid":"u2","content":"Conversation compacted","compactMetadata":{"trigger":"auto","preTokens":155000}`))
	b.WriteString(line("u3", "c1", "user", `"isCompactSummary":true,"isVisibleInTranscriptOnly":true,"message":{"role":"user","content":"This session is being continued: the cart was empty."}`))
	b.WriteString(line("u4", "null", "user", `"message":{"role":"user","content":"Another beginning."}`))
	b.WriteString(line("a4", "u4", "assistant", `"message":{"id":"m4","role":"assistant","content":null}`))
	out := read([]byte(b.String()), agentlog.Options{})
	if out.format != "claude-code" || out.err != nil || len(out.skipped) > 0 {
		t.Fatalf("%s %v %v", out.format, out.err, out.skipped)
	}
	var got []string
	at := map[string]int{}
	for i, e := range out.events {
		a := payload(t, e).(*recountv1.AgentEvent)
		from := "-"
		if j, ok := at[a.ParentEventId]; ok {
			from = fmt.Sprint(j)
		}
		at[e.ID.String()] = i
		got = append(got, e.Type+" from "+from)
	}
	want := []string{
		"user_message from -", "tool_call_issued from 0", "tool_result_returned from 1",
		"memory_stated from 2", "user_message from -",
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Error(diff)
	}
}

// TestOverrides checks the names that a caller sets.
func TestOverrides(t *testing.T) {
	for _, name := range []string{"v1.traj", "openhands.jsonl", "chat.json", "anthropic.json", "claude-code.jsonl", "events.jsonl"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		o := agentlog.Options{Tenant: "acme", Workspace: "/w", Agent: "ada", Session: "s", Visibility: recountv1.Visibility_VISIBILITY_PRIVATE}
		out := read(data, o)
		if len(out.events) == 0 {
			t.Fatalf("%s: no events: %v", name, out.err)
		}
		for _, e := range out.events {
			m := payload(t, e).(*recountv1.AgentEvent)
			if m.Tenant != "acme" || m.Workspace != "/w" || m.Agent != "ada" || m.Session != "s" || m.Visibility != o.Visibility {
				t.Errorf("%s: %s: %q %q %q %q %v", name, e, m.Tenant, m.Workspace, m.Agent, m.Session, m.Visibility)
			}
		}
		if slices.Equal(ids(out), ids(read(data, agentlog.Options{}))) && name != "events.jsonl" {
			t.Errorf("%s: another tenant's events have the same ids", name)
		}
	}
}

// TestLongTexts checks that long texts are cut and that their length is recorded. Secrets are
// removed first, because half of a secret at the cut would not be recognised.
func TestLongTexts(t *testing.T) {
	begin := "begin 🛒"
	whole := begin + strings.Repeat("x", 2<<20/3-len(begin)-3) + "hunter2" + strings.Repeat("0123456789abcde\n", 10<<20/16) + "end"
	line := fmt.Sprintf(`{"messages":[{"role":"user","content":%q},{"role":"assistant","content":"short"}]}`, whole)
	out := read([]byte(line), agentlog.Options{Redact: func(m proto.Message) {
		e := m.(*recountv1.AgentEvent)
		e.Text = strings.ReplaceAll(e.Text, "hunter2", "[gone]")
	}})
	if out.err != nil || len(out.events) != 2 {
		t.Fatalf("%d events, %v", len(out.events), out.err)
	}
	whole = strings.ReplaceAll(whole, "hunter2", "[gone]")
	m := payload(t, out.events[0]).(*recountv1.AgentEvent)
	sum := sha256.Sum256([]byte(whole))
	if got, want := m.Attributes["cut.text"], fmt.Sprintf("%d bytes, sha256 %s", len(whole), hex.EncodeToString(sum[:])); got != want {
		t.Errorf("cut.text: %q, want %q", got, want)
	}
	if !strings.HasPrefix(m.Text, "begin 🛒xxx") || !strings.HasSuffix(m.Text, "end") || !strings.Contains(m.Text, "x[go\n[… ") || len(m.Text) > 1<<20+100 {
		t.Errorf("cut to %d bytes: %.40q … %q", len(m.Text), m.Text, m.Text[len(m.Text)-40:])
	}
}

// TestEncodings checks the encodings of files.
func TestEncodings(t *testing.T) {
	text := `{"messages":[{"role":"user","content":"grüße 🛒 \ud83d broken"}]}`
	utf16le := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(text)) {
		utf16le = binary.LittleEndian.AppendUint16(utf16le, u)
	}
	utf16be := []byte{0xfe, 0xff}
	for _, u := range utf16.Encode([]rune(text)) {
		utf16be = binary.BigEndian.AppendUint16(utf16be, u)
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write([]byte(text))
	_ = z.Close()
	for name, x := range map[string]struct {
		data []byte
		want string
	}{
		"utf-8":              {[]byte(text), "grüße 🛒 \uFFFD broken"},
		"with a mark":        {append([]byte("\uFEFF"), text...), "grüße 🛒 \uFFFD broken"},
		"utf-16 of Windows":  {utf16le, "grüße 🛒 \uFFFD broken"},
		"utf-16, high first": {utf16be, "grüße 🛒 \uFFFD broken"},
		"gzip":               {zipped.Bytes(), "grüße 🛒 \uFFFD broken"},
		"latin-1":            {[]byte("{\"messages\":[{\"role\":\"user\",\"content\":\"gr\xfc\xdfe\\u0000\"}]}"), "gr\uFFFD\uFFFDe"},
	} {
		t.Run(name, func(t *testing.T) {
			out := read(x.data, agentlog.Options{})
			if out.err != nil || len(out.events) != 1 {
				t.Fatalf("%d events, %v, %v", len(out.events), out.skipped, out.err)
			}
			if m := payload(t, out.events[0]).(*recountv1.AgentEvent); m.Text != x.want {
				t.Errorf("%q, want %q", m.Text, x.want)
			}
		})
	}
}

// acceptedAre is how errors name what can be read.
const acceptedAre = "Accepted are sessions of SWE-agent, OpenHands, Claude Code, Codex, Gemini CLI, OpenCode, mini-swe-agent, messages of Anthropic's and OpenAI's APIs, and events one a line (recount import agents --help names their files)"

// TestBad checks that unreadable input gives an error with its line and the reason.
func TestBad(t *testing.T) {
	traj, err := os.ReadFile("testdata/v1.traj")
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]struct {
		data, format, err string
		skipped           []string
		events            int
	}{
		"nothing":             {},
		"blank":               {data: "\n\n \n"},
		"no JSON":             {data: "hello\nworld", err: `line 1: no JSON: this is text that begins with "hello". ` + acceptedAre},
		"a table":             {data: "id,name\n1,2\n", err: `line 1: no JSON: this is text that begins with "id,name". ` + acceptedAre},
		"a binary file":       {data: "\x7fELF\x02\x00\n", err: "line 1: no JSON: this is a binary file. " + acceptedAre},
		"another JSON":        {data: "{\"a\":1}\n", err: "line 1: unknown format: this is an object with the fields a. " + acceptedAre + "; if it is one of them, give --format"},
		"a database":          {data: "SQLite format 3\x00\x10", err: "line 1: no JSON: this is a SQLite database; of OpenCode, give the output of: opencode export SESSION. " + acceptedAre},
		"a list":              {data: `[{"x":1,"type":"y"}]`, err: `line 1: unknown format: this is a list of 1, the first of them an object with the fields type, x (type "y"). ` + acceptedAre + "; if it is one of them, give --format"},
		"a preface":           {data: "npm warn\nstarting\n{\"role\":\"user\",\"content\":\"hi\"}\n", skipped: []string{"line 1: no JSON: invalid character 'p' in literal null (expecting 'u') (and the 1 lines after it)"}, events: 1},
		"two on a line":       {data: "{\"role\":\"user\",\"content\":\"hi\"}\n{\"role\":\"user\",\"content\":\"a\"}{\"role\":\"user\",\"content\":\"b\"}\n", events: 3},
		"not the format":      {data: "{\"a\":1}\n", format: "traj", events: 1},
		"no such format":      {data: "{}", format: "csv", err: `format "csv": want one of ` + strings.Join(agentlog.Names(), ", ")},
		"a trajectory cut":    {data: string(traj[:len(traj)/2]), err: fmt.Sprintf("line %d: the JSON is truncated", bytes.Count(traj[:len(traj)/2], []byte("\n"))+1)},
		"a first line broken": {data: "{\"role\":\"us\n{\"role\":\"user\",\"content\":\"hi\"}\n", skipped: []string{"line 1: the JSON is truncated"}, events: 1},
		"messages no list":    {data: `{"messages":"hi"}`, format: "openai", skipped: []string{"line 1: messages is not a list"}},
		"messages no objects": {data: `[{"role":"user","content":"hi"},3,{"x":1}]`, skipped: []string{"line 1: message 1: not an object", `line 1: message 2: type "", role "": not a message, call or result`}, events: 1},
		"a number":            {data: "3", format: "anthropic", skipped: []string{"line 1: messages is not a list"}},
		"openhands, empty":    {data: "{}", format: "openhands", skipped: []string{"line 1: neither instance_id nor history: not an OpenHands run"}},
		"openhands, broken":   {data: `{"instance_id":"x","history":[{"id":1,"action":"message","args":{"content":"hi"},"tool_call_metadata":3}]}`, skipped: []string{"line 1: history[0]: tool_call_metadata is of the wrong kind: number"}, events: 1},
	} {
		t.Run(name, func(t *testing.T) {
			out := read([]byte(x.data), agentlog.Options{Format: x.format, Name: "run"})
			if got := fmt.Sprint(out.err); got != x.err && (out.err != nil || x.err != "") {
				t.Errorf("error %v, want %v", got, x.err)
			}
			if diff := cmp.Diff(x.skipped, out.skipped); diff != "" {
				t.Errorf("skipped, want-, got+:\n%s", diff)
			}
			if len(out.events) != x.events {
				t.Errorf("%d events, want %d", len(out.events), x.events)
			}
		})
	}
}

// FuzzRead reads arbitrary input in any format: all events are valid, and equal when read a second
// time.
func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/*.*")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for i := range agentlog.Formats {
			f.Add(data, uint8(i))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, format uint8) {
		o := agentlog.Options{Name: "run", Commands: true, Format: append(agentlog.Names(), "auto")[int(format)%(len(agentlog.Formats)+1)]}
		out := read(data, o)
		for _, e := range out.events {
			payload(t, e)
			if _, err := schemas.DecodeEvent("recount.agents", e.Headers(), e.Key, e.Payload, e.Time); err != nil {
				t.Errorf("%s: %v", e, err)
			}
		}
		if again := read(data, o); !slices.Equal(ids(out), ids(again)) {
			t.Errorf("read again: other ids")
		}
	})
}
