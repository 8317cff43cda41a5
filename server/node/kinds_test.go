package node

import (
	"strings"
	"testing"

	"github.com/recountdb/recount/processors/agent"
	"github.com/recountdb/recount/processors/command"
)

// TestKindsNameTheirProcessors checks that the versions of processors are part of a projection's
// parameters, so that state made from the output of another version is recognised.
func TestKindsNameTheirProcessors(t *testing.T) {
	want := map[string][]string{
		"segment": {command.Name}, "lexical": {command.Name, agent.Name}, "objects": {agent.Name},
	}
	seen := 0
	for _, k := range (Config{}).kinds() {
		for _, name := range want[k.Name] {
			seen++
			if !strings.Contains(" "+k.Params+" ", " "+name+" ") {
				t.Errorf("%s: settings %q do not name %s", k.Name, k.Params, name)
			}
		}
		if k.Name == "objects" && strings.Contains(k.Params, command.Name) {
			t.Errorf("objects are rebuilt for %s, of which they have nothing: %q", command.Name, k.Params)
		}
	}
	if seen != 4 {
		t.Errorf("%d settings looked at, want 4", seen)
	}
}
