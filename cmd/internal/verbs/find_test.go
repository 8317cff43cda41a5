package verbs

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/recountdb/recount/internal/render"
)

var errElsewhere = errors.New("another program follows")

// elsewhere leaves following to another program, as the small program does.
type elsewhere struct{ Finder }

func (elsewhere) Follow(context.Context, Followed) error { return errElsewhere }

// TestFollowingElsewhereSaysNothing checks that the verb prints nothing before it leaves following to
// another program: that one prints it.
func TestFollowingElsewhereSaysNothing(t *testing.T) {
	var out, stderr strings.Builder
	c := Find(&render.Terminal{Out: &out, Err: &stderr}, elsewhere{})
	c.SetArgs([]string{"--follow", "--exit", "fail"})
	c.SilenceErrors, c.SilenceUsage = true, true
	if err := c.Execute(); !errors.Is(err, errElsewhere) || out.String()+stderr.String() != "" {
		t.Errorf("%v: %q %q", err, out.String(), stderr.String())
	}
}

// TestFiltersComplete checks that the shell completes the flags with few values.
func TestFiltersComplete(t *testing.T) {
	c := Find(&render.Terminal{}, elsewhere{})
	for flag, want := range map[string]string{"exit": "ok fail unknown", "category": "build deploy debug configure query navigate other"} {
		f, there := c.GetFlagCompletionFunc(flag)
		if !there {
			t.Fatalf("--%s is not completed", flag)
		}
		if got, _ := f(c, nil, ""); strings.Join(got, " ") != want {
			t.Errorf("--%s: %q", flag, got)
		}
	}
}
