package node_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/recountdb/recount/processors/source"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
	"github.com/recountdb/recount/server/api"
)

// strange generates events that look valid and often are: the frozen examples of every type, with
// some fields changed to what programs send by mistake or at the limits of what is allowed. The
// same seed gives the same events.
type strange struct {
	rng   *rand.Rand
	bases []base
	texts []string
	n     int
	// commits generated in this run, used as parents.
	commits []string
}

type base struct {
	typ string
	m   proto.Message
}

func newStrange(t testing.TB, seed uint64) *strange {
	s := &strange{rng: rand.New(rand.NewPCG(seed, 16))}
	files, err := filepath.Glob("../../schemas/testdata/events/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples of events: %v", err)
	}
	for _, f := range files {
		typ, _, _ := strings.Cut(filepath.Base(f), ".v")
		if typ == schemas.TypeErased || typ == schemas.TypeRejected {
			continue
		}
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		m, err := schemas.Event{Type: typ, Payload: b}.DecodePayload()
		if err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		s.bases = append(s.bases, base{typ, m})
	}
	s.texts = []string{
		"", " ", "\t\n", "a", "\x00", "a\x00b", "\u00a0", "\u202e", "é", "日本語", "\U0001F600", "make test", "git push origin main",
		"export API_TOKEN=a1b2c3d4e5f6a7b8", "password=hunter2hunter2", "mysql -psecretsecret db", "curl -u ada:s3cretS3cret https://x.org",
		"https://me:ghp_0123456789abcdefghijABCDEFGHIJ456789@github.com/acme/shop", "/", "//", "../..", "C:\\x", "HEAD", "main",
		"018f3c2a-9d1e-8b7a-9c44-2f1d6a0b3e55", "0000000000000000000000000000000000000000", strings.Repeat("ab", 20), strings.Repeat("f", 64),
		"for i in 1 2 3; do echo $i; done", "cat <<EOF\nx\nEOF", "(((((", "if [", "`", "$(", "''", "\\", "a | b && c || d; e &", "x=1 y=2 cmd -v --flag=v",
		"find . -name '*.go' -exec grep -n x {} +", "{\"a\": [1, 2]}", "GET", "/users/{id}?token=abc", "9223372036854775807", "-1", "1e400",
	}
	return s
}

// text returns a text that programs send; now and then one as long as a limit, with a secret in it.
func (s *strange) text() string {
	switch s.rng.IntN(40) {
	case 0:
		edge := []int{64, 256, 512, 1024, 4096, 8192, 65536}[s.rng.IntN(7)]
		return s.long(edge + s.rng.IntN(3) - 1)
	case 1:
		return strings.Repeat(s.texts[s.rng.IntN(len(s.texts))], 1+s.rng.IntN(8))
	case 2, 3, 4, 5:
		return s.texts[s.rng.IntN(len(s.texts))] + " " + s.texts[s.rng.IntN(len(s.texts))]
	}
	return s.texts[s.rng.IntN(len(s.texts))]
}

// long returns a text of n bytes that ends with a secret that is shorter than its placeholder.
func (s *strange) long(n int) string {
	const secret = " password=hunter2"
	if n <= len(secret) || s.rng.IntN(2) == 0 {
		return strings.Repeat("x", n)
	}
	return strings.Repeat("y", n-len(secret)) + secret
}

var seconds = []int64{
	math.MinInt64, -62135596801, -62135596800, -62135596799, -9223372037, -2208988801, -2208988800, -1, 0, 1, 1773000000,
	8835955200, 8835955201, 9223372036, 9223372037, 253402300799, 253402300800, math.MaxInt64,
}

// change changes one field of the message or of a nested one.
func (s *strange) change(m protoreflect.Message) {
	fields := m.Descriptor().Fields()
	if fields.Len() == 0 {
		return
	}
	if m.Descriptor().FullName() == "google.protobuf.Timestamp" || m.Descriptor().FullName() == "google.protobuf.Duration" {
		m.Set(fields.ByName("seconds"), protoreflect.ValueOfInt64(seconds[s.rng.IntN(len(seconds))]))
		m.Set(fields.ByName("nanos"), protoreflect.ValueOfInt32([]int32{-1, 0, 0, 0, 0, 999999999, 1000000000}[s.rng.IntN(7)]))
		return
	}
	f := fields.Get(s.rng.IntN(fields.Len()))
	if s.rng.IntN(8) == 0 {
		m.Clear(f)
		return
	}
	switch {
	case f.IsMap():
		if f.MapValue().Kind() == protoreflect.StringKind {
			m.Mutable(f).Map().Set(protoreflect.ValueOfString(s.text()).MapKey(), protoreflect.ValueOfString(s.text()))
		}
	case f.IsList():
		l := m.Mutable(f).List()
		switch {
		case l.Len() > 0 && f.Kind() == protoreflect.MessageKind && s.rng.IntN(2) == 0:
			s.change(l.Get(s.rng.IntN(l.Len())).Message())
		case l.Len() > 0 && s.rng.IntN(4) == 0:
			l.Append(l.Get(s.rng.IntN(l.Len()))) // twice
		case l.Len() < 8:
			l.Append(s.value(f, l.NewElement()))
		}
	case f.Kind() == protoreflect.MessageKind:
		s.change(m.Mutable(f).Message())
	default:
		m.Set(f, s.value(f, m.NewField(f)))
	}
}

func (s *strange) value(f protoreflect.FieldDescriptor, zero protoreflect.Value) protoreflect.Value {
	ints := []int64{math.MinInt64, math.MinInt32, -1, 0, 1, 2, 3, 130, 255, 4097, math.MaxInt32, math.MaxInt64}
	n := ints[s.rng.IntN(len(ints))]
	switch f.Kind() {
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(s.text())
	case protoreflect.BytesKind:
		if f.Name() == "trace_id" || s.rng.IntN(3) == 0 {
			b := make([]byte, 16)
			b[s.rng.IntN(16)] = byte(s.rng.IntN(256))
			return protoreflect.ValueOfBytes(b[:[]int{0, 8, 15, 16, 16}[s.rng.IntN(5)]])
		}
		return protoreflect.ValueOfBytes([]byte(s.text()))
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(s.rng.IntN(2) == 0)
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber(s.rng.IntN(12) - 2))
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return protoreflect.ValueOfInt32(int32(n))
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		return protoreflect.ValueOfInt64(n)
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return protoreflect.ValueOfUint32(uint32(n))
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return protoreflect.ValueOfUint64(uint64(n))
	case protoreflect.FloatKind:
		return protoreflect.ValueOfFloat32([]float32{0, 0.5, 1, -1, 2, float32(math.NaN()), float32(math.Inf(1))}[s.rng.IntN(7)])
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64([]float64{0, 0.5, 1e308, math.NaN(), math.Inf(-1)}[s.rng.IntN(5)])
	case protoreflect.MessageKind:
		for range 1 + s.rng.IntN(3) {
			s.change(zero.Message())
		}
	}
	return zero
}

// file returns a revision of a small source file, whose id is derived from its content.
func (s *strange) file() *recountv1.SourceRevised {
	path := []string{"a.go", "b.py", "c.ts", "d.java", "e.rs", "f.cs", "g.sql", "h.yaml", "i.proto", "Dockerfile", "j.css", "k.js", "l.tf", "m"}[s.rng.IntN(14)]
	content := []byte(fmt.Sprintf("package p%d\n\nfunc F() { %s }\nclass A { def f(x): %s }\n", s.rng.IntN(50), s.text(), s.text()))
	return &recountv1.SourceRevised{Repository: "github.com/acme/strange", Path: path, Blob: source.BlobID(content, false), Size: int64(len(content)), Content: content}
}

func (s *strange) commit(files []*recountv1.SourceRevised) *recountv1.CommitRecorded {
	c := &recountv1.CommitRecorded{
		Repository: "github.com/acme/strange", Commit: fmt.Sprintf("%040x", s.n), Message: s.text(), Scope: recountv1.Scope_SCOPE_CHANGES,
	}
	if len(s.commits) > 0 {
		c.Parents = []string{s.commits[len(s.commits)-1]}
	}
	for _, f := range files {
		c.Changes = append(c.Changes, &recountv1.FileChange{Path: f.Path, Blob: f.Blob, Mode: 33188, Size: f.Size, Status: recountv1.ChangeStatus_CHANGE_STATUS_MODIFIED})
	}
	return c
}

// next returns one event, or a few related ones.
func (s *strange) next(t testing.TB) []schemas.Event {
	s.n++
	if s.rng.IntN(100) == 0 {
		var out []schemas.Event
		files := []*recountv1.SourceRevised{s.file(), s.file()}
		for _, f := range files {
			out = append(out, s.event(t, schemas.TypeSourceRevised, f))
		}
		c := s.commit(files)
		s.commits = append(s.commits, c.Commit)
		return append(out, s.event(t, schemas.TypeCommitRecorded, c))
	}
	b := s.bases[s.rng.IntN(len(s.bases))]
	if s.rng.IntN(3) == 0 {
		b = s.bases[0]
		for b.typ != schemas.TypeCommandExecuted {
			b = s.bases[s.rng.IntN(len(s.bases))]
		}
	}
	if b.typ == schemas.TypeRetired && s.rng.IntN(50) > 0 {
		return s.next(t) // rarely, because each one reads all commits
	}
	return []schemas.Event{s.event(t, b.typ, proto.Clone(b.m))}
}

func (s *strange) event(t testing.TB, typ string, m proto.Message) schemas.Event {
	for range []int{0, 1, 1, 1, 2, 3}[s.rng.IntN(6)] {
		s.change(m.ProtoReflect())
	}
	if c, ok := m.(*recountv1.CommandExecuted); ok && s.rng.IntN(3000) == 0 {
		c.Command = s.long(1 << 20)
	}
	e := schemas.Event{ID: schemas.NewCanon("strange").String(strconv.Itoa(s.n)).String(typ).Int(int64(s.rng.Uint64())).ID(), Type: typ}
	if s.rng.IntN(10) == 0 {
		e.ID = schemas.EventID{} // derived from its content
	}
	if s.rng.IntN(4) == 0 {
		e.Time = time.Unix(seconds[s.rng.IntN(len(seconds))], 0)
	}
	if s.rng.IntN(20) == 0 {
		e.Source, e.Subject, e.Key = s.text(), s.text(), []byte(s.text())
	}
	if s.rng.IntN(2) == 0 || typ == schemas.TypeSpansExported && s.rng.IntN(2) == 0 {
		b, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if s.rng.IntN(20) == 0 && len(b) > 0 {
			b[s.rng.IntN(len(b))] ^= 1 << s.rng.IntN(8)
		}
		e.ContentType, e.Payload = schemas.ContentProto, b
		if _, spans := m.(*tracepb.TracesData); spans && s.rng.IntN(2) == 0 {
			e.Key, e.Time = []byte("shop"), time.Unix(1773000000, 0) // as receivers send them
		}
		return e
	}
	b, err := schemas.EncodePayload(m)
	if err != nil {
		b = []byte(`{"command":"` + typ + `"}`) // JSON cannot encode the time
	}
	if s.rng.IntN(20) == 0 && len(b) > 2 {
		b = append(b[:1:1], append([]byte(" "), b[1:]...)...) // not in our format
	}
	e.Payload = b
	return e
}

// TestAcknowledgedIsNeverRejected checks that processors and projections accept every event that
// the node acknowledges. RECOUNT_SOAK=1 runs a million events.
//
// It is a regression test: a command of blanks, a time in year 1, and a command or a workspace that
// redaction lengthened beyond its limit were acknowledged, and then ended up in topic rejected
// only.
func TestAcknowledgedIsNeverRejected(t *testing.T) {
	if os.Getenv("RECOUNT_SOAK") == "" {
		acknowledge(t, 1, 5_000)
		return
	}
	for seed := range uint64(20) {
		acknowledge(t, seed+1, 50_000)
	}
}

// acknowledge sends random events to a new node.
func acknowledge(t *testing.T, seed uint64, events int) {
	const atOnce = 500
	r := start(t, config(t.TempDir()))
	cases := []string{
		`{"command":"   ","cwd":"/x"}`,
		`{"command":"x","cwd":"/t","started_at":"0001-01-01T00:00:00Z"}`,
		`{"command":"x","started_at":"9999-12-31T23:59:59Z"}`,
	}
	for _, c := range cases {
		if _, err := r.Client.Append(t.Context(), []schemas.Event{{Type: schemas.TypeCommandExecuted, Payload: []byte(c)}}); err == nil {
			t.Errorf("%s is acknowledged", c)
		}
	}
	if _, err := r.Client.Append(t.Context(), []schemas.Event{{Type: schemas.TypeOutcomeObserved, Payload: []byte(`{"command_event_id":"a","observed_at":"0001-01-01T00:00:00Z"}`)}}); err == nil {
		t.Errorf("an outcome of year 1 is acknowledged")
	}
	s := newStrange(t, seed)
	long, _ := json.Marshal(map[string]string{"command": strings.Repeat("y", 1<<20-17) + " password=hunter2", "workspace": strings.Repeat("w", 4096-17) + " password=hunter2"})
	if out, err := r.Client.Append(t.Context(), []schemas.Event{{Type: schemas.TypeCommandExecuted, Payload: long}}); err != nil || out[0].Redacted == 0 {
		t.Errorf("a command that its placeholder makes too long: %+v %v", out, err)
	}
	began := time.Now()
	acknowledged, refused := 1, 0
	types := map[string]int{}
	var last []api.Appended
	for seen := 0; seen < events; {
		var batch []schemas.Event
		for len(batch) < atOnce && seen < events {
			for _, e := range s.next(t) {
				seen++
				if err := r.CanAppend(e); err != nil {
					refused++
					continue
				}
				types[e.Type]++
				batch = append(batch, e)
			}
		}
		out, err := r.Node.Append(t.Context(), batch)
		if err != nil {
			t.Fatal(err)
		}
		acknowledged += len(out)
		last = out
	}
	if refused*2 > events {
		t.Errorf("%d of %d refused: too many to show anything", refused, events)
	}
	if len(types) < 18 || len(last) == 0 {
		t.Errorf("only types %v", types)
	}
	settle(t, r)
	ends, err := r.Log().Ends(t.Context(), schemas.TopicRejected)
	if err != nil {
		t.Fatal(err)
	}
	for tp, end := range ends {
		for offset := range min(end, 10) {
			lr, err := r.Log().Read(t.Context(), schemas.Position{Topic: tp.Topic, Partition: tp.Partition, Offset: offset})
			if err != nil {
				t.Fatal(err)
			}
			var bad recountv1.Rejected
			if err := proto.Unmarshal(lr.Value, &bad); err != nil {
				t.Fatal(err)
			}
			t.Errorf("acknowledged, then rejected by %s (%d in all): %s: %.300q", bad.By, end, bad.Reason, bad.Value)
		}
	}
	r.stop()
	t.Logf("seed %d: %d events, %d acknowledged, %d refused, 0 wanted in rejected; %s; %v", seed, events, acknowledged, refused, time.Since(began).Round(time.Second), types)
}

// settle waits until every projection has applied all of the log.
func settle(t *testing.T, r *running) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	for _, topic := range []string{schemas.TopicCommands, schemas.TopicCommits, schemas.TopicSpans, schemas.TopicAgents} {
		ends, err := r.Log().Ends(ctx, topic)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Projections().Wait(ctx, ends); err != nil {
			t.Fatal(err)
		}
	}
}
