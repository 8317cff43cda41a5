package command

import (
	"testing"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// TestRecordedHome has one line in one directory, by users with other homes, with and without a cache.
func TestRecordedHome(t *testing.T) {
	for name, m := range map[string]*Memory{"no cache": nil, "cache": Remember()} {
		for range 2 {
			for home, want := range map[string]string{"": "/root/.toolrc", "/tmp/ann": "/tmp/ann/.toolrc", "/tmp/bob": "/tmp/bob/.toolrc"} {
				rec := &recountv1.Record{}
				if err := intent(m, schemas.Event{}, &recountv1.CommandExecuted{Command: "touch ~/.toolrc", Cwd: "/srv/app", User: "root", Home: home}, rec); err != nil {
					t.Fatal(err)
				}
				found := false
				for _, r := range rec.GetIntent().GetResources() {
					found = found || r.GetName() == want
				}
				if !found {
					t.Errorf("%s, home %q: %v, want %s", name, home, rec.GetIntent().GetResources(), want)
				}
			}
		}
	}
}
