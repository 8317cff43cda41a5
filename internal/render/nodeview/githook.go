package nodeview

import (
	"github.com/recountdb/recount/internal/githook"
	"github.com/recountdb/recount/internal/render"
)

// GitHook prints what was done to a hook of a repository.
func GitHook(t *render.Terminal, r githook.Result) {
	t.Printf("%s: %s", t.Home(r.File), r.Done)
	switch {
	case r.Add != "":
		t.Printf("; it was not changed; add to it:\n  %s\n", r.Add)
	case r.Done == "foreign":
		t.Printf("; it was not changed\n")
	default:
		t.Printf("\n")
	}
}
