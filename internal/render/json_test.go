package render_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/recountdb/recount/internal/render"
)

// hostile are characters with which a recorded text could control the terminal that shows it.
const hostile = "a\x1b[31m\u009b2J\x7f\u0085\u202egnp\u2066x\u2069\u2028"

func TestJSONControlsNoTerminal(t *testing.T) {
	var out bytes.Buffer
	term := &render.Terminal{Out: &out}
	if err := term.PrintJSON(map[string]string{"command": hostile}); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsFunc(out.String(), render.Controls) {
		t.Errorf("controls a terminal: %q", out.String())
	}
	var back map[string]string
	if err := json.Unmarshal(out.Bytes(), &back); err != nil || back["command"] != hostile {
		t.Errorf("read back: %q, %v", back, err)
	}
}

func TestMessagesControlNoTerminal(t *testing.T) {
	var out bytes.Buffer
	term := &render.Terminal{Err: &out}
	term.Tell(hostile)
	term.Note("%s", hostile)
	if strings.ContainsFunc(out.String(), render.Controls) {
		t.Errorf("controls a terminal: %q", out.String())
	}
}
