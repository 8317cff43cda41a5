package commands

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/recountdb/recount/projections/narrative"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/replays"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// differsAs returns the two sides of a file that came out otherwise.
func differsAs(f ReplayedFile) (was, now string, differs bool) {
	return f.Path + ": " + f.Was, f.Now, f.State == FileOther || f.State == FileMissing
}

// contentOf says in words what was left of a file.
func contentOf(f replays.File) string {
	switch {
	case f.Removed:
		return "removed"
	case f.SHA256 == "":
		return fmt.Sprintf("%d bytes", f.Size)
	}
	return fmt.Sprintf("%d bytes, %s", f.Size, f.SHA256[:min(8, len(f.SHA256))])
}

// compareFiles sets the files that a command left beside those of its replay. left holds what the run
// left up to and with the step, by path.
func compareFiles(was, now []replays.File, m mappings, left map[string]replays.File) (all []ReplayedFile) {
	known := map[string]bool{}
	for _, f := range was {
		path := m.path(f.Path)
		known[path] = true
		r := ReplayedFile{Path: path, Was: contentOf(f), State: FileSame}
		g, there := left[path]
		switch {
		case there:
			r.Now = contentOf(g)
			switch {
			case f.Removed != g.Removed:
				r.State = FileOther
			case f.Removed:
			case f.SHA256 != "" && g.SHA256 != "":
				if f.SHA256 != g.SHA256 {
					r.State = FileOther
				}
			case f.Size != g.Size && f.SHA256 != "": // one that was too large to read has its size
				r.State = FileOther
			default:
				r.State = FileUnknown
			}
		case f.Removed: // it is not there, or was not
			r.State, r.Now = FileUnknown, "not changed"
		case path == f.Path:
			r.State, r.Now = FileUnchanged, "not changed"
		default:
			r.State, r.Now = FileMissing, "not written"
		}
		all = append(all, r)
	}
	for _, f := range now {
		if !known[f.Path] {
			all = append(all, ReplayedFile{Path: f.Path, State: FileOnly, Now: contentOf(f)})
		}
	}
	slices.SortStableFunc(all, func(a, b ReplayedFile) int { return cmp.Compare(a.Path, b.Path) })
	return all
}

// wrote returns the files that a command left: those of its latest outcome that knows of any, or else
// those that a recorder saw it change and that it names as written. What else changed meanwhile, such as
// caches and logs, comes out otherwise each time.
func (a *session) wrote(in *Intent, named []Resource, outcomes []narrative.Outcome) ([]replays.File, error) {
	for _, o := range outcomes {
		m, err := query.PayloadOf(a.Ctx, a.s.Event, o.Position)
		if err != nil {
			return nil, err
		}
		if observed, ok := m.(*recountv1.OutcomeObserved); ok && len(observed.Files) > 0 {
			return filesOf(observed.Files), nil
		}
	}
	seen, err := a.s.changedBy(a.Ctx, in.Position, outcomes)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(filesOf(seen.GetFiles()), func(f replays.File) bool {
		return !slices.ContainsFunc(named, func(r Resource) bool {
			return r.Kind == "path" && r.Name == f.Path && (r.Access == "write" || r.Access == "read_write")
		})
	}), nil
}

func filesOf(all []*recountv1.WrittenFile) []replays.File {
	var out []replays.File
	for _, f := range all {
		out = append(out, replays.File{Path: f.GetPath(), SHA256: hex.EncodeToString(f.GetSha256()), Size: f.GetSize(), Removed: f.GetRemoved()})
	}
	return out
}

// mapping is what a plan replaced: a path or a name.
type mapping struct {
	Kind string `json:"kind"`
	From string `json:"from"`
	To   string `json:"to"`
}

// mappings are those of a plan, the longest first.
type mappings []mapping

// mappedBy reads the mappings of a run's plan; none if the plan is not known any more.
func (a *session) mappedBy(run replays.Run) (mappings, error) {
	if a.s.Event == nil {
		return nil, nil
	}
	text, err := replays.PlanOf(a.Ctx, a.s.Event, run)
	if erased := (*query.ErasedError)(nil); errors.As(err, &erased) {
		return nil, nil
	}
	if err != nil || text == nil {
		return nil, err
	}
	var p struct {
		Mappings   mappings `json:"mappings"`
		Parameters []struct{ Value, Set string }
	}
	if err := json.Unmarshal(text, &p); err != nil {
		return nil, fmt.Errorf("the plan of %s at %s: %w", run.Run, run.Position, err)
	}
	m := p.Mappings
	for _, v := range p.Parameters {
		if v.Set != "" && v.Set != v.Value {
			m = append(m, mapping{"parameter", v.Value, v.Set})
		}
	}
	slices.SortStableFunc(m, func(a, b mapping) int { return cmp.Compare(len(b.From), len(a.From)) })
	return m, nil
}

// isPath reports whether it replaces a path and what is below it.
func (m mapping) isPath() bool { return m.Kind == "path" || m.Kind == "home" }

// path returns a path after mapping.
func (all mappings) path(name string) string {
	for _, m := range all {
		if rest, ok := strings.CutPrefix(name, m.From); m.isPath() && ok && (rest == "" || rest[0] == '/') {
			return m.To + rest
		}
	}
	return name
}

// text returns a text after mapping: each place where a mapping's whole word stands is replaced once, the
// longest first.
func (all mappings) text(s string) string {
	if len(all) == 0 {
		return s
	}
	var b strings.Builder
next:
	for i := 0; i < len(s); {
		for _, m := range all {
			rest, ok := strings.CutPrefix(s[i:], m.From)
			if !ok || m.From == "" || i > 0 && inWord(s[i-1]) || goesOn(rest) {
				continue
			}
			b.WriteString(m.To)
			i += len(m.From)
			continue next
		}
		b.WriteByte(s[i])
		i++
	}
	return b.String()
}

// inWord reports whether a byte can be part of a name, so that one beside it is no whole name.
func inWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c >= 0x80
}

// goesOn reports whether a name goes on with a text: app.bak is no app, but a sentence may end after it.
func goesOn(rest string) bool {
	return rest != "" && (inWord(rest[0]) || rest[0] == '.' && len(rest) > 1 && inWord(rest[1]))
}
