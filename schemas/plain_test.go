package schemas

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/testing/protocmp"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// samePlain checks that plain, if it accepts the payload, gives the result of protojson and
// Validate, and returns whether it accepted it. want is an empty message of the same type.
func samePlain(t *testing.T, plain func([]byte) (proto.Message, bool), want proto.Message, payload []byte) bool {
	t.Helper()
	got, ok := plain(payload)
	if !ok {
		return false
	}
	proto.Reset(want)
	if err := (protojson.UnmarshalOptions{RecursionLimit: 100}).Unmarshal(payload, want); err != nil {
		t.Fatalf("%.300q was taken: %v", payload, err)
	}
	if err := Validate(want); err != nil {
		t.Fatalf("%.300q was taken: %v", payload, err)
	}
	if !proto.Equal(got, want) {
		t.Fatalf("%.300q (-want +got):\n%s", payload, cmp.Diff(want, got, protocmp.Transform()))
	}
	return true
}

func TestPlainCommand(t *testing.T) {
	frozen, err := os.ReadFile("testdata/events/command.executed.v1.json")
	if err != nil {
		t.Fatal(err)
	}
	taken := []string{
		`{"command":"ls"}`,
		` { "command" : "ls" , "exit_code" : -1 } `,
		"\n{\"command\":\"ls\",\r\n\t\"exit_code\":0}\n",
		`{"command":"a \"b\" \\ \/ \b\f\n\r\t é 日本 \\","cwd":""}`,
		`{"command":"ls","started_at":"2025-01-01T08:00:00Z","duration":"0s"}`,
		`{"command":"ls","started_at":"0001-01-01T00:00:00.000000001Z","duration":"0.000000001s"}`,
		`{"command":"ls","started_at":"9999-12-31T23:59:59.999999999Z","duration":"99999999999.5s"}`,
		`{"command":"ls","duration":"3.s","exit_code":999999999}`,
		`{"command":"ls","env":{}}`, ` {"env" : { "A" : "b" , "":"" } , "command":"ls"} `, `{"command":"ls","env":{"é":"\n日本"}}`,
		string(frozen), envOf(256),
		`{"command":"make","changes":{"below":"/src","looked_at":"2025-01-01T08:00:00.5Z"},"cwd":"/src"}`,
		`{"command":"make","changes":{"below":"/src","looked_at":"2025-01-01T08:00:00Z","files":[ ],"directories":[]}}`,
		`{"command":"make","changes":{"below":"/src","looked_at":"2025-01-01T08:00:00Z","files":[{"path":"/src/\"a\"","sha256":"n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg=","size":12,"mode":420,"was_sha256":"n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg=","was_mode":493},{"path":"/src/c","removed": true },{"removed":false,"path":"/src/d"},{"path":"/src/b"}],"directories":["/src", "/src/x"],"remembered":true}}`,
	}
	for _, p := range taken {
		if !samePlain(t, plainCommand, &recountv1.CommandExecuted{}, []byte(p)) {
			t.Errorf("%s was not taken", p)
		}
	}
	for _, p := range []string{
		``, `{`, `{}`, `[]`, `"command"`, `{"command":""}`, `{"command":"ls"`, `{"command":"ls",}`, `{"command":"ls"}}`, `{"command":"ls"}x`,
		`{"command":"ls","command":"ls"}`, `{"command":"ls","exitCode":1}`, `{"command":null}`, `{"command":1}`, `{"command":"ls" "cwd":"/"}`,
		`{"command":"ls","env":{"A":"b","A":"c"}}`, `{"command":"ls","env":{"A":1}}`, `{"command":"ls","env":{"A":"b"}`, `{"command":"ls","env":{"A":"b",}}`,
		`{"command":"ls","env":null}`, `{"command":"ls","env":{"\n":"b"}}`, "{\"command\":\"ls\",\"env\":{\"\xff\":\"b\"}}", "{\"command\":\"ls\",\"env\":{\"A\":\"\xff\"}}",
		`{"command":"ls","env":{"A":"b"},"env":{}}`, envOf(257), `{"command":"\u0041"}`, `{"command":"\x"}`, `{"command":"\`, `{"command":"ls\"}`,
		"{\"command\":\"\xff\"}", "{\"command\":\"a\nb\"}", "{\"command\":\"ls\"}\x00", "{\x00\"command\":\"ls\"}",
		`{"command":"ls","exit_code":1.0}`, `{"command":"ls","exit_code":"1"}`, `{"command":"ls","exit_code":01}`, `{"command":"ls","exit_code":-}`,
		`{"command":"ls","exit_code":1e1}`, `{"command":"ls","exit_code":2147483648}`, `{"command":"ls","exit_code":-0}`,
		`{"command":"ls","duration":"-1s"}`, `{"command":"ls","duration":"01s"}`, `{"command":"ls","duration":"1"}`, `{"command":"ls","duration":"s"}`,
		`{"command":"ls","duration":"1.0000000000s"}`, `{"command":"ls","duration":"1.xs"}`, `{"command":"ls","duration":"123456789012s"}`,
		`{"command":"ls","started_at":"0000-01-01T00:00:00Z"}`, `{"command":"ls","started_at":"2025-01-01T08:00:00+01:00"}`,
		`{"command":"ls","changes":null}`, `{"command":"ls","changes":{}}`, `{"command":"ls","changes":{"below":"/src"}}`, `{"command":"ls","changes":{"looked_at":"2025-01-01T08:00:00Z"}}`,
		`{"command":"ls","changes":{"below":"","looked_at":"2025-01-01T08:00:00Z"}}`, `{"command":"ls","changes":{"below":"/s","looked_at":"2025-01-01T08:00:00Z","below":"/s"}}`,
		changesWith(`"files":[{}]`), changesWith(`"files":[{"path":""}]`), changesWith(`"files":[{"path":"a"},]`), changesWith(`"files":{"path":"a"}`), changesWith(`"files":[{"path":"a","size":"12"}]`),
		changesWith(`"files":[{"path":"a","sha256":"abc"}]`), changesWith(`"files":[{"path":"a","sha256":"n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgh="}]`), changesWith(`"files":[{"path":"a","removed":1}]`), changesWith(`"files":[{"path":"a","removed":truefalse}]`), changesWith(`"files":[{"path":"a","removed":null}]`), changesWith(`"files":[{"path":"a","mode":4096}]`), changesWith(`"files":[{"path":"a","mode":-1}]`),
		changesWith(`"directories":[""]`), changesWith(`"remembered":1`), changesWith(`"remembered":true,"remembered":true`), changesWith(`"directories":["a"`), changesWith(`"directories":["a" "b"]`), changesWith(`"directories":[` + strings.Repeat(`"a",`, 1000) + `"a"]`),
		`{"command":"ls","started_at":"2025-13-01T08:00:00Z"}`, `{"command":"ls","started_at":""}`,
	} {
		if samePlain(t, plainCommand, &recountv1.CommandExecuted{}, []byte(p)) {
			t.Errorf("%q was taken", p)
		}
	}
}

// changesWith returns a command whose changes have a field more.
func changesWith(field string) string {
	return `{"command":"ls","changes":{"below":"/s","looked_at":"2025-01-01T08:00:00Z",` + field + `}}`
}

// envOf returns a command with n variables.
func envOf(n int) string {
	all := map[string]string{}
	for i := range n {
		all[fmt.Sprint("V", i)] = "x"
	}
	b, _ := json.Marshal(map[string]any{"command": "ls", "env": all})
	return string(b)
}

// TestPlainCommandKnowsTheConstraints checks that each field of plainCommand has the limit stated
// in events.proto and no other constraint.
func TestPlainCommandKnowsTheConstraints(t *testing.T) {
	fields := (&recountv1.CommandExecuted{}).ProtoReflect().Descriptor().Fields()
	texts := 0
	for i := range fields.Len() {
		f := fields.Get(i)
		if f.Kind() != protoreflect.StringKind || f.IsList() {
			continue
		}
		texts++
		rules, _ := proto.GetExtension(f.Options(), validate.E_Field).(*validate.FieldRules)
		most := int(rules.GetString().GetMaxBytes())
		want := &validate.FieldRules{Type: &validate.FieldRules_String_{String_: &validate.StringRules{MaxBytes: proto.Uint64(uint64(most))}}}
		if f.Name() == "command" {
			want.GetString().MinBytes = proto.Uint64(1)
		}
		if diff := cmp.Diff(want, rules, protocmp.Transform()); diff != "" {
			t.Errorf("%s has constraints that plainCommand does not know (-known +has):\n%s", f.Name(), diff)
		}
		payload := func(n int) []byte {
			s := strings.Repeat("x", n)
			if f.Name() == "command" {
				return fmt.Appendf(nil, `{"command":%q}`, s)
			}
			return fmt.Appendf(nil, `{"command":"ls",%q:%q}`, f.Name(), s)
		}
		if !samePlain(t, plainCommand, &recountv1.CommandExecuted{}, payload(most)) {
			t.Errorf("%s of %d bytes was not taken", f.Name(), most)
		}
		if samePlain(t, plainCommand, &recountv1.CommandExecuted{}, payload(most+1)) {
			t.Errorf("%s of %d bytes was taken", f.Name(), most+1)
		}
	}
	if texts != 13 || fields.Len() != 18 {
		t.Errorf("%d fields, %d of them texts: plainCommand knows 18 and 13", fields.Len(), texts)
	}
}

// FuzzPlainCommand checks that plainCommand gives the same result as the general decoder.
func FuzzPlainCommand(f *testing.F) {
	for _, p := range []string{
		`{"command":"ls","workspace":"/a","cwd":"/a/b","session":"s","shell":"bash","user":"u","host":"h","git_head":"0f","parent_event_id":"p","author":"a","stated_intent":"i","output_tail":"o"}`,
		`{"command":"a\"b\\","started_at":"2025-01-01T08:00:00.5Z","duration":"1.25s","exit_code":-12}`,
		`{"command":"ls","env":{"A":"b"}} `,
		changesWith(`"files":[{"path":"/s/a","sha256":"n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg=","size":12}],"directories":["/s"]`),
	} {
		f.Add([]byte(p))
	}
	f.Fuzz(func(t *testing.T, payload []byte) { samePlain(t, plainCommand, &recountv1.CommandExecuted{}, payload) })
}

func BenchmarkDecodeCommand(b *testing.B) {
	e := Event{Type: TypeCommandExecuted, ContentType: ContentJSON, Payload: []byte(
		`{"command":"find . -name \"*.go\" -mtime -1 | xargs grep -l TODO","workspace":"/src/service-03","cwd":"/src/service-03/pkg2","session":"s000123",` +
			`"shell":"bash","user":"ada","host":"laptop","started_at":"2025-01-01T08:00:01.250Z","duration":"1.233s","exit_code":0}`)}
	for range b.N {
		if _, err := e.DecodePayload(); err != nil {
			b.Fatal(err)
		}
	}
}
