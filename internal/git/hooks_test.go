package git_test

import (
	"path/filepath"
	"testing"

	"github.com/recountdb/recount/internal/git/gittest"
)

func TestHooksDir(t *testing.T) {
	g := gittest.Init(t)
	r := open(t, g.Dir)
	elsewhere := t.TempDir()
	for _, c := range []struct {
		setting, want string
		shared        bool
	}{
		{"", filepath.Join(g.Dir, ".git", "hooks"), false},
		{".husky", filepath.Join(g.Dir, ".husky"), false},
		{"../hooks", filepath.Join(filepath.Dir(g.Dir), "hooks"), true},
		{elsewhere, elsewhere, true},
	} {
		if c.setting != "" {
			g.Git("config", "core.hooksPath", c.setting)
		}
		got, shared, err := r.HooksDir(t.Context())
		if err != nil || got != c.want || shared != c.shared {
			t.Errorf("core.hooksPath %q: %s, shared %v, %v; want %s, %v", c.setting, got, shared, err, c.want, c.shared)
		}
	}
}
