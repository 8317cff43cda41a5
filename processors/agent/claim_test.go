package agent

import (
	"fmt"
	"testing"
)

func TestReadClaim(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"The port of the staging database is 5433.", "port of the staging database|is|5433|text_is"},
		{"GOFLAGS = -trimpath=1", "goflags|=|-trimpath=1|text_equals"},
		{"Staging  DB port: 5433", "staging db port|is|5433|text_colon"},
		{`The release branch is "next"`, "release branch|is|next|text_is"},
		{"The feature flag is enabled", "feature flag|is|enabled|text_is"},
		{"The cache is slow.", ""},                       // may also be shared
		{"It is 5433.", ""},                              // the subject is unclear
		{"I think the port is 5433", ""},                 // an opinion
		{"If the port is 5433 it works", ""},             // a condition
		{"The port is 5433. The host is db1.", ""},       // two sentences
		{"The port is 5433 and the host is db1.", ""},    // two claims
		{"error: exit status 2", ""},                     // output
		{"Error: 404", ""},                               // output
		{"https://x.example/a: 200", ""},                 // looks like a claim
		{"Is the port 5433?", ""},                        // a question
		{"The port is not 5433.", ""},                    // says what it is not
		{"Note: 5433", ""},                               // the subject is missing
		{"a\nport is 5433", ""},                          // more than one line
		{"The answer that was found in all is 42.7", ""}, // a pronoun within
		{"", ""},
	} {
		got := ""
		if cl := readClaim(c.text); cl != nil {
			got = fmt.Sprintf("%s|%s|%s|%s", cl.Subject, cl.Predicate, cl.Value, cl.Rule)
			if cl.Confidence != readConfidence {
				t.Errorf("%q: confidence %v", c.text, cl.Confidence)
			}
		}
		if got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
}

func TestStatedClaim(t *testing.T) {
	o, _ := made(t, "memory_stated", `{"text":"The port is 1.","memory":{"subject":" Staging  DB","predicate":"Port","value":" 5433","confidence":0.9}}`)
	if got := fmt.Sprintf("%q %q %q %v %s", o.Claim.Subject, o.Claim.Predicate, o.Claim.Value, o.Claim.Confidence, o.Claim.Rule); got != `"staging db" "port" " 5433" 0.9 stated` {
		t.Errorf("got %s", got)
	}
	if o, _ := made(t, "memory_stated", `{"text":"The port is 5433.","memory":{"subject":"port"}}`); o.Claim.GetRule() != ruleIs {
		t.Errorf("without a predicate the text is read: got %v", o.Claim)
	}
	if o, _ := made(t, "user_message", `{"text":"The port is 5433."}`); o.Claim != nil {
		t.Errorf("of a message: %v", o.Claim)
	}
}
