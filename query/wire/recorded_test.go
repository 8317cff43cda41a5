package wire

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/query/code"
	"github.com/recountdb/recount/query/commands"
	packing "github.com/recountdb/recount/query/context"
)

// TestRecordedAnswers reads back the answers that bench/wire counts the tokens of, each in every codec
// and as a turn of its session.
func TestRecordedAnswers(t *testing.T) {
	types := map[string]reflect.Type{
		"context": reflect.TypeFor[packing.Response](), "find": reflect.TypeFor[commands.FindResponse](),
		"why": reflect.TypeFor[commands.WhyResponse](), "stitch": reflect.TypeFor[commands.StitchResponse](),
		"code/callers": reflect.TypeFor[code.CallsResponse](), "code/callees": reflect.TypeFor[code.CallsResponse](),
		"code/impact": reflect.TypeFor[code.ImpactResponse](), "code/tests": reflect.TypeFor[code.TestsResponse](),
		"code/symbols": reflect.TypeFor[code.SymbolsResponse](), "code/diff": reflect.TypeFor[code.GraphDiffResponse](),
		"code/export": reflect.TypeFor[code.Exported](),
	}
	files, err := filepath.Glob("../../bench/wire/testdata/*/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recorded answers: %v", err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var recorded struct {
			Turns []struct {
				Path   string
				Answer json.RawMessage
			}
		}
		if err := json.Unmarshal(b, &recorded); err != nil {
			t.Fatal(err)
		}
		session, receiver := NewSession(), newReceiver()
		for _, turn := range recorded.Turns {
			answer := reflect.New(types[turn.Path])
			if err := json.Unmarshal(turn.Answer, answer.Interface()); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			p, ok := Of(path.Base(turn.Path), answer.Elem().Interface())
			want, err := p.normal()
			if err != nil || !ok {
				t.Fatalf("%s: %s has no payload: %v", file, turn.Path, err)
			}
			for name, read := range readers {
				data, err := Builtin().EncodeWith(name, p)
				if err != nil {
					t.Fatal(err)
				}
				got, err := read(data)
				if diff := cmp.Diff(want, got); diff != "" || err != nil {
					t.Errorf("%s: %s as %s: %v %s", file, turn.Path, name, err, diff)
				}
			}
			data, sent, err := session.Encode(p)
			if err != nil {
				t.Fatal(err)
			}
			sent()
			got, err := receiver.decode(data)
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%s: %s in a session: %v %s", file, turn.Path, err, diff)
			}
		}
	}
}
