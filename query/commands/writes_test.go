package commands_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
)

// TestWhatWasSeenToChange asks which commands wrote a file, and why one failed that reads it.
func TestWhatWasSeenToChange(t *testing.T) {
	h := newHistory(t)
	ran := func(minute int, command, more, changed string) schemas.Position {
		looked := ""
		if changed != "-" {
			var files []string
			for _, f := range strings.Fields(changed) {
				files = append(files, fmt.Sprintf(`{"path":"/src/app/%s","size":1}`, f))
			}
			looked = fmt.Sprintf(`,"changes":{"below":"/src/app","looked_at":"2026-05-01T00:%02d:01Z","files":[%s]}`, minute, strings.Join(files, ","))
		}
		return h.add(0, minute, fmt.Sprintf(`{"command":%q,"cwd":"/src/app","workspace":"/src/app","session":"s"%s%s}`, command, more, looked))
	}
	const ok = `,"exit_code":0`
	ran(1, "sed -i s/a/b/ api.go", ok, "-")
	ran(2, "./gen.sh", ok, "gen/api.go gen/more.go")
	ran(3, "sed -i s/c/d/ gen/api.go", ok, "")
	ran(4, "go test ./gen", `,"exit_code":1,"output_tail":"gen/api.go:3:1: syntax error"`, "")
	s := h.sources()
	s.Event = func(_ context.Context, at schemas.Position) (schemas.LogRecord, error) { return h.log[at], nil }
	for file, want := range map[string]string{
		"/src/app/gen/api.go": "./gen.sh",
		"api.go":              "./gen.sh; sed -i s/a/b/ api.go",
		"/src/app/api.go":     "sed -i s/a/b/ api.go",
		"/src/other/api.go":   "",
		"more.go":             "./gen.sh",
	} {
		r, err := commands.Find(t.Context(), s, commands.FindRequest{Wrote: file})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, hit := range r.Hits {
			got = append(got, hit.Command)
		}
		if strings.Join(got, "; ") != want {
			t.Errorf("wrote %s: %q; want %q", file, got, want)
		}
	}
	w, err := commands.Why(t.Context(), s, commands.WhyRequest{Ref: topic + "/0/3"})
	if err != nil {
		t.Fatal(err)
	}
	if len(w.Causes) == 0 || w.Causes[0].Command != "./gen.sh" {
		t.Errorf("why: %+v; want ./gen.sh first", w.Causes)
	}
	for _, c := range w.Causes {
		if strings.Contains(c.Command, "s/c/d/") {
			t.Errorf("%s, which left the file as it was, is a cause: %s", c.Command, c.Why)
		}
	}
	shown, err := commands.Show(t.Context(), s, topic+"/0/1")
	if err != nil || shown.Changes == nil || len(shown.Changes.Files) != 2 {
		t.Errorf("show: %+v, %v; want two changed files", shown.Changes, err)
	}
}

// TestALookThatOnlyCameBeforeIsNoCause checks that what asked something, and was seen to change nothing, led to
// no failure that it has nothing in common with.
func TestALookThatOnlyCameBeforeIsNoCause(t *testing.T) {
	h := newHistory(t)
	for i, x := range []string{"cat nothing.txt", "cat other.txt", "python3 -c 'import cart'"} {
		looked := fmt.Sprintf(`,"changes":{"below":"/src/app","looked_at":"2026-05-01T00:%02d:01Z"}`, i+1)
		if i == 0 {
			looked = ""
		}
		h.add(0, i+1, fmt.Sprintf(`{"command":%q,"cwd":"/src/app","workspace":"/src/app","session":"s","exit_code":1%s}`, x, looked))
	}
	s := h.sources()
	s.Event = func(_ context.Context, at schemas.Position) (schemas.LogRecord, error) { return h.log[at], nil }
	for offset, want := range map[int]int{1: 1, 2: 0} {
		w, err := commands.Why(t.Context(), s, commands.WhyRequest{Ref: fmt.Sprintf("%s/0/%d", topic, offset)})
		if err != nil {
			t.Fatal(err)
		}
		if len(w.Causes) != want {
			t.Errorf("%d: causes %+v; want %d, as a recorder looked or did not", offset, w.Causes, want)
		}
	}
}

// TestLooksAreReadTogether checks that a search for what wrote a file reads many events at once: one at a time
// took a second for a thousand commands.
func TestLooksAreReadTogether(t *testing.T) {
	h := newHistory(t)
	for i := range 100 {
		h.add(0, i+1, fmt.Sprintf(`{"command":"./gen.sh %d","cwd":"/src/app","workspace":"/src/app","session":"s","exit_code":0,"changes":{"below":"/src/app","looked_at":"2026-05-01T05:00:00Z","files":[{"path":"/src/app/out%d","size":1}]}}`, i, i%2))
	}
	reads := 0
	s := h.sources()
	s.Event = func(_ context.Context, at schemas.Position) (schemas.LogRecord, error) { return h.log[at], nil }
	s.Events = func(_ context.Context, at []schemas.Position, fn func(schemas.LogRecord) error) error {
		reads++
		for _, p := range at {
			if lr, ok := h.log[p]; ok {
				if err := fn(lr); err != nil {
					return err
				}
			}
		}
		return nil
	}
	r, err := commands.Find(t.Context(), s, commands.FindRequest{Wrote: "/src/app/out1", Limit: 1000})
	if err != nil || len(r.Hits) != 50 {
		t.Errorf("%d hits, %v; want 50", len(r.Hits), err)
	}
	if reads != 2 {
		t.Errorf("%d reads; want 2", reads)
	}
}

// TestWhatWasSeenToBeRemoved checks that why and stitch say of a file that a command was seen to remove that it did so,
// and of one that it only may have removed, or changed, that it wrote it.
func TestWhatWasSeenToBeRemoved(t *testing.T) {
	h := newHistory(t)
	ran := func(minute int, command string, exit int, files string) {
		h.add(0, minute, fmt.Sprintf(`{"command":%q,"cwd":"/src/app","workspace":"/src/app","session":"s","exit_code":%d,"changes":{"below":"/src/app","looked_at":"2026-05-01T00:%02d:01Z","files":[%s]}}`, command, exit, minute, files))
	}
	ran(1, "vim a.c", 0, `{"path":"/src/app/a.c","size":1}`)
	ran(2, "rm a.c", 0, `{"path":"/src/app/a.c","removed":true}`)
	ran(3, "cc -c a.c", 1, "")
	ran(4, "rm -r lib", 0, `{"path":"/src/app/lib/b.c","removed":true},{"path":"/src/app/lib/c.c","removed":true}`)
	ran(5, "make", 2, "")
	s := h.sources()
	s.Event = func(_ context.Context, at schemas.Position) (schemas.LogRecord, error) { return h.log[at], nil }
	for offset, want := range map[int]struct{ command, why, shows string }{
		2: {"rm a.c", "it was seen to remove /src/app/a.c, which this uses", "was seen to remove path:/src/app/a.c"},
		4: {"rm -r lib", "it removed /src/app/lib", "removed below path:/src/app/lib"},
	} {
		ref := fmt.Sprintf("%s/0/%d", topic, offset)
		w, err := commands.Why(t.Context(), s, commands.WhyRequest{Ref: ref})
		if err != nil {
			t.Fatal(err)
		}
		n, err := commands.Stitch(t.Context(), s, commands.StitchRequest{Ref: ref})
		if err != nil {
			t.Fatal(err)
		}
		if len(w.Causes) == 0 || w.Causes[0].Command != want.command || !strings.HasPrefix(w.Causes[0].Why, want.why) {
			t.Errorf("%s: causes %+v; want %s first, since %s", ref, w.Causes, want.command, want.why)
			continue
		}
		for door, edges := range map[string][]commands.Edge{"why": w.Edges, "stitch": n.Edges} {
			var shows []string
			for _, e := range edges {
				if e.From == w.Causes[0].ID && e.To == w.Root.ID {
					for _, v := range e.Evidence {
						shows = append(shows, v.Shows+" "+v.Resource)
					}
				}
			}
			if !slices.Contains(shows, want.shows) {
				t.Errorf("%s of %s shows %q; want %q", door, ref, shows, want.shows)
			}
		}
	}
}
