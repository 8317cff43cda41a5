package schemas_test

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/recountdb/recount/internal/golden"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// TestFrozenExamples decodes one example of every kind and version, in JSON and in protobuf, frozen
// when the version was made. Files are added, never changed: old bytes must always decode.
func TestFrozenExamples(t *testing.T) {
	for _, k := range schemas.Kinds() {
		files, err := filepath.Glob(filepath.Join("testdata", "events", k.Type+".v*.json"))
		if err != nil || len(files) == 0 {
			t.Errorf("%s has no frozen example in testdata/events (%v)", k.Type, err)
		}
		for _, file := range files {
			t.Run(filepath.Base(file), func(t *testing.T) {
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				fromJSON, err := schemas.Event{Type: k.Type, ContentType: schemas.ContentJSON, Payload: text}.DecodePayload()
				if err != nil {
					t.Fatal(err)
				}
				binary := strings.TrimSuffix(file, ".json") + ".binpb"
				raw, err := os.ReadFile(binary)
				if errors.Is(err, os.ErrNotExist) && golden.Rewriting() {
					if raw, err = (proto.MarshalOptions{Deterministic: true}).Marshal(fromJSON); err == nil {
						err = os.WriteFile(binary, raw, 0o644)
					}
				}
				if err != nil {
					t.Fatal(err)
				}
				fromProto, err := schemas.Event{Type: k.Type, ContentType: schemas.ContentProto, Payload: raw}.DecodePayload()
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(fromProto, fromJSON, protocmp.Transform()); diff != "" {
					t.Errorf("the two forms of one example differ (-protobuf +json):\n%s", diff)
				}
				if n := len(fromJSON.ProtoReflect().GetUnknown()); n != 0 {
					t.Errorf("%d bytes of unknown fields", n)
				}
			})
		}
	}
}

// TestDerivedIDIsFrozen checks the id of an event whose producer gave none, which is part of the
// format. If this fails, replayed logs would apply old events twice.
func TestDerivedIDIsFrozen(t *testing.T) {
	e, err := schemas.DecodeEvent("recount.commands", nil, []byte("/src/app"),
		[]byte(`{"command":"make test","cwd":"/src/app","exit_code":2}`), time.UnixMilli(1700000000000))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := e.ID.String(), "326d94bb-56b8-878a-b28e-4c7da534f36e"; got != want {
		t.Errorf("got id %s, want %s", got, want)
	}
	if got, want := e.Type, schemas.TypeCommandExecuted; got != want {
		t.Errorf("got type %s, want %s", got, want)
	}
	if again, err := schemas.ParseEventID(e.ID.String()); err != nil || again != e.ID {
		t.Errorf("id does not survive its text: %v %v", again, err)
	}
}

// TestEncodedPayloadIsTight checks that no build puts spaces between the tokens: ids are derived
// from these bytes.
func TestEncodedPayloadIsTight(t *testing.T) {
	code := int32(2)
	got, err := schemas.EncodePayload(&recountv1.CommandExecuted{Command: `echo "a, b": c`, Cwd: "/src/app", ExitCode: &code, Env: map[string]string{"CI": "1"}})
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"command":"echo \"a, b\": c","cwd":"/src/app","exit_code":2,"env":{"CI":"1"}}`; string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestEventHeadersRoundTrip(t *testing.T) {
	e := schemas.Event{
		ID: schemas.ProducerID("x", "y"), Type: "command.executed", Source: "/laptop", Subject: "s",
		Time: time.Date(2026, 11, 20, 1, 2, 3, 456789, time.UTC), Key: []byte("k"), ContentType: schemas.ContentProto, Payload: []byte{1},
	}
	got, err := schemas.DecodeEvent("anything", e.Headers(), e.Key, e.Payload, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, e); diff != "" {
		t.Errorf("(-got +want)\n%s", diff)
	}
}

// FuzzDecodeEvent checks that any input gives an event or a poison error, never a panic, and that
// decoding is repeatable.
func FuzzDecodeEvent(f *testing.F) {
	f.Add("ce_time", "2026-11-20T00:00:00Z", []byte(`{"command":"ls"}`))
	f.Add("content-type", "application/protobuf", []byte("\x0a\x02ls"))
	f.Add("ce_id", "018F3C2A-9d1e-8b7a-9c44-2f1d6a0b3e55", []byte("{"))
	f.Add("ce_specversion", "0.3", []byte{})
	f.Fuzz(func(t *testing.T, key, value string, payload []byte) {
		headers := []schemas.Header{{Key: key, Value: []byte(value)}}
		e, err := schemas.DecodeEvent("recount.commands", headers, nil, payload, time.Unix(0, 0))
		if err == nil {
			_, err = e.DecodePayload()
		}
		if err != nil && !errors.Is(err, schemas.ErrPoison) {
			t.Fatalf("%v is not poison", err)
		}
		again, err2 := schemas.DecodeEvent("recount.commands", headers, nil, payload, time.Unix(0, 0))
		if (err2 == nil) && again.ID != e.ID {
			t.Fatalf("ids %s and %s of the same bytes", e.ID, again.ID)
		}
	})
}

func TestBadEventsArePoisonAndSayWhy(t *testing.T) {
	event := func(payload string, headers ...schemas.Header) error {
		e, err := schemas.DecodeEvent("recount.commands", headers, nil, []byte(payload), time.Unix(0, 0))
		if err == nil {
			_, err = e.DecodePayload()
		}
		return err
	}
	h := func(k, v string) schemas.Header { return schemas.Header{Key: k, Value: []byte(v)} }
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"not JSON":             {event("make test"), "payload of command.executed"},
		"no payload":           {event(""), "payload of command.executed"},
		"an unknown field":     {event(`{"command":"ls","exitcode":1}`), `unknown field "exitcode"`},
		"no command":           {event(`{"cwd":"/"}`), "command: "},
		"a 2 MB command":       {event(`{"command":"` + strings.Repeat("x", 2<<20) + `"}`), "command: "},
		"text not UTF-8":       {event("{\"command\":\"\xff\"}"), "invalid UTF-8"},
		"a negative duration":  {event(`{"command":"ls","duration":"-1s"}`), "duration: "},
		"an unknown type":      {event(`{}`, h("ce_type", "nobody.knows")), `event type "nobody.knows": unknown`},
		"an unknown encoding":  {event(`{}`, h("content-type", "text/xml")), `content type "text/xml"`},
		"a time in 1800":       {event(`{}`, h("ce_time", "1800-01-01T00:00:00Z")), "time 1800-01-01"},
		"a time in 9999":       {event(`{}`, h("ce_time", "9999-01-01T00:00:00Z")), "time 9999-01-01"},
		"a time that is none":  {event(`{}`, h("ce_time", "yesterday")), "ce_time"},
		"a header not UTF-8":   {event(`{}`, h("ce_id", "\xff")), "ce_id"},
		"another CloudEvents":  {event(`{}`, h("ce_specversion", "2.0")), "ce_specversion"},
		"JSON nested too deep": {event(`{"env":` + strings.Repeat(`{"a":`, 200)), "payload of command.executed"},
	} {
		t.Run(name, func(t *testing.T) {
			if !errors.Is(c.err, schemas.ErrPoison) {
				t.Fatalf("got %v, want a poison error", c.err)
			}
			if !strings.Contains(c.err.Error(), c.want) {
				t.Errorf("got %q, want it to say %q", c.err, c.want)
			}
		})
	}
	for name, err := range map[string]error{
		"1970":               event(`{"command":"ls"}`, h("ce_time", "1970-01-01T00:00:00Z")),
		"2200":               event(`{"command":"ls"}`, h("ce_time", "2200-01-01T00:00:00Z")),
		"a foreign header":   event(`{"command":"ls"}`, h("x-trace", "\xff")),
		"a charset":          event(`{"command":"ls"}`, h("content-type", "application/json; charset=utf-8")),
		"an id of any shape": event(`{"command":"ls"}`, h("ce_id", "order 66")),
	} {
		if err != nil {
			t.Errorf("%s: got %v, want it accepted", name, err)
		}
	}
}

// TestCanonIsTheEncoding compares Canon with a separate encoding of fields of many lengths.
func TestCanonIsTheEncoding(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		want := sha256.New()
		field := func(b []byte) {
			want.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(b))))
			want.Write(b)
		}
		field([]byte("d"))
		c := schemas.NewCanon("d")
		for range rng.IntN(8) {
			b := make([]byte, []int{0, 1, 20, 230, 247, 248, 249, 256, 300, 5000}[rng.IntN(10)])
			for i := range b {
				b[i] = byte(rng.Uint32())
			}
			switch rng.IntN(3) {
			case 0:
				c.Bytes(b)
				field(b)
			case 1:
				c.String(string(b))
				field(b)
			case 2:
				v := rng.Int64() - rng.Int64()
				c.Int(v)
				field(binary.LittleEndian.AppendUint64(nil, uint64(v)))
			}
			if rng.IntN(4) == 0 {
				c.Sum() // may be called in between
			}
		}
		if got := c.Sum(); got != schemas.Hash(want.Sum(nil)) {
			t.Fatalf("got %s, want %x", got, want.Sum(nil))
		}
	}
}

func TestCanonIsInjective(t *testing.T) {
	a := schemas.NewCanon("d").String("ab").String("c").Sum()
	b := schemas.NewCanon("d").String("a").String("bc").Sum()
	c := schemas.NewCanon("dab").String("c").Sum()
	if a == b || a == c || b == c {
		t.Errorf("different fields hash alike: %s %s %s", a, b, c)
	}
}

func TestWatermarkText(t *testing.T) {
	w := schemas.Watermark{{Topic: "recount.commands", Partition: 1}: 7, {Topic: "recount.commands", Partition: 0}: 3}
	if got, want := w.String(), "recount.commands/0:3,recount.commands/1:7"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	back, err := schemas.ParseWatermark(w.String())
	if diff := cmp.Diff(back, w); diff != "" || err != nil {
		t.Errorf("%v (-got +want)\n%s", err, diff)
	}
	for _, bad := range []string{"x", "a/b/c", "a/0:x", "a/0:-1", "/0:1", "a/0"} {
		if _, err := schemas.ParseWatermark(bad); err == nil {
			t.Errorf("%q: want an error", bad)
		}
	}
	if !w.Covers(schemas.Watermark{{Topic: "recount.commands", Partition: 1}: 7}) || w.Covers(schemas.Watermark{{Topic: "other"}: 1}) {
		t.Error("Covers is wrong")
	}
}

// TestRejectedHoldsItsPosition checks that a rejected event keeps bytes that are not text.
func TestRejectedHoldsItsPosition(t *testing.T) {
	m := &recountv1.Rejected{Position: schemas.Position{Topic: "recount.commands", Partition: 3, Offset: 1042}.Proto(), Reason: "not JSON", Value: []byte{0xff, 0}}
	if err := schemas.Validate(m); err != nil {
		t.Fatal(err)
	}
	text, err := schemas.EncodePayload(m)
	if err != nil {
		t.Fatal(err)
	}
	var back recountv1.Rejected
	if err := protojson.Unmarshal(text, &back); err != nil || !proto.Equal(&back, m) {
		t.Errorf("got %v (%v), want %v", &back, err, m)
	}
	if got := schemas.PositionOf(back.Position).String(); got != "recount.commands/3/1042" {
		t.Errorf("got position %s", got)
	}
}
