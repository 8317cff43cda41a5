package commands

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/query/replays"
)

func TestPartingLine(t *testing.T) {
	long := strings.Repeat("compiled part one of the program\n", 300)
	for name, test := range map[string]struct {
		was, now string
		a, b     string
	}{
		"equal":                    {"built in 3.2s\nok\n", "built in 12s\nok\n", "", ""},
		"other paths":              {"wrote /home/alice/app/bin/app\n", "wrote /home/bob/app/bin/app\n", "", ""},
		"colours":                  {"\x1b[32mok\x1b[0m\n", "ok\n", "", ""},
		"an error":                 {"compiling\nok\n", "compiling\nerror: no space\n", "ok", "error: no space"},
		"a line more":              {"ok\n", "ok\nwarning: slow\n", "", "warning: slow"},
		"a line less":              {"ok\nwarning: slow\n", "ok\n", "warning: slow", ""},
		"cut at different places":  {long[100:], long[7:], "", ""},
		"cut, and different later": {long + "ok\n", long + "failed\n", "ok", "failed"},
	} {
		a, b, differs := partingLine(test.was, test.now)
		if a != test.a || b != test.b || differs != (test.a != test.b) {
			t.Errorf("%s: %q, %q, %v", name, a, b, differs)
		}
	}
}

func TestCompareStep(t *testing.T) {
	zero, two := int32(0), int32(2)
	for name, test := range map[string]struct {
		step replays.Step
		want []string
	}{
		"the same":      {replays.Step{State: replays.StateDone, ExitCode: &zero, Output: "ok\n"}, nil},
		"failed":        {replays.Step{State: replays.StateFailed, ExitCode: &two, Output: "denied\n"}, []string{"exit", "output"}},
		"timed out":     {replays.Step{State: replays.StateStopped, Reason: "timeout"}, []string{"state"}},
		"was there":     {replays.Step{State: replays.StateSatisfied}, nil},
		"not come back": {replays.Step{State: replays.StateUnfinished}, []string{"state"}},
	} {
		b := ReplayedStep{Original: &Intent{ExitCode: &zero}}
		b.compare("ok\n", test.step)
		var got []string
		for _, d := range b.Differs {
			got = append(got, d.What)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
