package installed

import (
	"os"
	"path/filepath"
	"testing"
)

func TestFront(t *testing.T) {
	dir := t.TempDir()
	engine, recount := filepath.Join(dir, Engine), filepath.Join(dir, "recount")
	if got := front(engine); got != engine {
		t.Errorf("an engine alone is %s, want itself", got)
	}
	if err := os.WriteFile(recount, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if got := front(engine); got != engine {
		t.Errorf("beside a file that is no program the engine is %s, want itself", got)
	}
	if err := os.Chmod(recount, 0o755); err != nil {
		t.Fatal(err)
	}
	if got := front(engine); got != recount {
		t.Errorf("beside recount the engine is %s, want %s", got, recount)
	}
	if other := filepath.Join(dir, "mine"); front(other) != other {
		t.Errorf("a program of another name is %s, want itself", front(other))
	}
}
