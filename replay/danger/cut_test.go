package danger

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recountdb/recount/internal/racing"
	"github.com/recountdb/recount/replay/effects"
	"github.com/recountdb/recount/replay/shell"
)

// TestCutLines judges the lines of all sets, and of the narratives, cut after each flag: people type incomplete
// commands, too.
func TestCutLines(t *testing.T) {
	racing.Alone(t)
	sets, _ := filepath.Glob("testdata/*.txt")
	narratives, _ := filepath.Glob("../../bench/replay/narratives/*.txt")
	seen := map[string]bool{}
	for _, file := range append(sets, narratives...) {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			words := strings.Fields(strings.TrimLeft(line, "+-| "))
			for i, w := range words {
				if cut := strings.Join(words[:i+1], " "); w[0] == '-' && !seen[cut] {
					seen[cut] = true
					judge(t, cut)
				}
			}
		}
	}
}

// judge fails if judging a line panics.
func judge(t *testing.T, line string) {
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("%q: %v", line, p)
		}
	}()
	effects.Of(effects.Command{Text: line, Shell: "bash", Cwd: "/home/ann/app", Home: "/home/ann"})
	if l, err := shell.Read(line, "bash", "/home/ann/app"); err == nil {
		Find(l, Place{Cwd: "/home/ann/app", Home: "/home/ann"})
	}
}
