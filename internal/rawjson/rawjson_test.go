package rawjson

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzJSON compares the results with those of encoding/json.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{
		`[]`, `{}`, ` [ ] `, `[1,-2.5e+3,true,false,null,"",[[],{}],{"a":[{}]}]`, "\t{ \"a\" : 1 ,\r\n\"b\":\"x\" }",
		`{"a":"]}\"\\","\\":"\\\\\"","\u0061":2,"":{"":""}}`, `["\\","\\\"",","]`, `{"é":"\ud83d\ude00","x":"\ud800"}`, `"a"`, `3`, `null`,
		`{"a":1,"a":{"b":2,"b":3},"a":"last"}`, "\"\x8d\"",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var raw json.RawMessage
		if json.Unmarshal(data, &raw) != nil {
			return
		}
		if s, ok := Text(raw); true {
			var want any
			_ = json.Unmarshal(raw, &want)
			if str, is := want.(string); is != ok || s != str {
				t.Errorf("text of %s: got %q, %v, want %v", raw, s, ok, want)
			}
		}
		switch raw[0] {
		case '[':
			var got, want []json.RawMessage
			for e := range Elements(raw) {
				got = append(got, e)
			}
			if err := json.Unmarshal(raw, &want); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(got, want); d != "" && len(got)+len(want) > 0 {
				t.Errorf("elements of %s: %s", raw, d)
			}
		case '{':
			got, want := map[string]json.RawMessage{}, map[string]json.RawMessage{}
			for name, value := range Members(raw) {
				got[name] = value
			}
			if err := json.Unmarshal(raw, &want); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(got, want); d != "" {
				t.Errorf("members of %s: %s", raw, d)
			}
		}
	})
}
