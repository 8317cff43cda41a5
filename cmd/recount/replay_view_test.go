package main

import (
	"strings"
	"testing"

	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/run"
)

// TestYesAgreesToWhatIsNotSure answers without a terminal.
func TestYesAgreesToWhatIsNotSure(t *testing.T) {
	for kind, want := range map[string]bool{
		run.QuestionAsk: true, run.QuestionUnknown: true, run.QuestionDanger: false, run.QuestionProgram: false, run.QuestionRetry: false,
	} {
		for _, yes := range []bool{true, false} {
			v := &replayView{a: &app{&connect.Connector{Terminal: &render.Terminal{In: strings.NewReader("y\n")}}}, yes: yes}
			got, err := v.confirm(t.Context(), run.Question{Kind: kind, Step: &replay.Step{}})
			if err != nil || got != (want && yes) {
				t.Errorf("%s with --yes=%t: %t, %v", kind, yes, got, err)
			}
		}
	}
}

func TestStepsThatMissTheNetwork(t *testing.T) {
	for _, c := range []struct {
		o    run.Outcome
		want bool
	}{
		{run.Outcome{Status: run.Failed, Command: "curl -s http://127.0.0.1:8080/", Exit: 7}, true},
		{run.Outcome{Status: run.Failed, Command: "npm ci", Exit: 1, Output: "npm ERR! code ENOTFOUND\n"}, true},
		{run.Outcome{Status: run.Failed, Command: "git clone https://example.com/x", Exit: 128, Output: "fatal: unable to access: Could not resolve host: example.com"}, true},
		{run.Outcome{Status: run.Failed, Command: "make", Exit: 2, Output: "undefined reference"}, false},
		{run.Outcome{Status: run.Done, Command: "curl -s http://127.0.0.1:8080/", Exit: 7}, false},
	} {
		if got := missedNetwork(c.o); got != c.want {
			t.Errorf("%s: %t", c.o.Command, got)
		}
	}
}
