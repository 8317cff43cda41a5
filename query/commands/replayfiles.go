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

// comparable returns those of the files that changed while a command ran, without being named by it, that its replay
// left with a content, too: it wrote them itself, or may have left them alone where the plan has them as its outputs.
// What a background step of the plan writes changes whenever it likes, and what interpreters, test runners and git
// store for themselves comes out otherwise each time.
func comparable(meanwhile, now []replays.File, step int, p planned, left map[string]replays.File) []replays.File {
	return slices.DeleteFunc(meanwhile, func(f replays.File) bool {
		name := p.path(f.Path)
		if f.Removed || f.SHA256 == "" || left[name].SHA256 == "" || CachedFile(name) || strings.Contains(name, "/.git/") {
			return true
		}
		for i, s := range p.Steps {
			if s.Background && i != step && slices.Contains(s.Outputs, name) {
				return true
			}
		}
		wrote := slices.ContainsFunc(now, func(g replays.File) bool { return g.Path == name })
		return !wrote && (step >= len(p.Steps) || !slices.Contains(p.Steps[step].Outputs, name))
	})
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

// wrote returns the files that a command left: those of its latest outcome that knows of any, or else those that a
// recorder saw it change and that it names as written. meanwhile are the others that changed while it ran.
func (a *session) wrote(in *Intent, named []Resource, outcomes []narrative.Outcome) (was, meanwhile []replays.File, err error) {
	for _, o := range outcomes {
		m, err := query.PayloadOf(a.Ctx, a.s.Event, o.Position)
		if err != nil {
			return nil, nil, err
		}
		if observed, ok := m.(*recountv1.OutcomeObserved); ok && len(observed.Files) > 0 {
			was = filesOf(observed.Files)
			break
		}
	}
	seen, err := a.s.changedBy(a.Ctx, in.Position, outcomes)
	if err != nil {
		return nil, nil, err
	}
	observed := len(was) > 0
	for _, f := range filesOf(seen.GetFiles()) {
		names := slices.ContainsFunc(named, func(r Resource) bool {
			return r.Kind == "path" && r.Name == f.Path && (r.Access == "write" || r.Access == "read_write")
		})
		known := slices.ContainsFunc(was, func(o replays.File) bool { return o.Path == f.Path })
		switch {
		case known:
		case names && !observed:
			was = append(was, f)
		default:
			meanwhile = append(meanwhile, f)
		}
	}
	return was, meanwhile, nil
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

// planned is what a comparison needs of a run's plan.
type planned struct {
	mappings
	Steps []struct {
		Background bool
		Outputs    []string
	}
}

// planOf reads the plan of a run; it is empty if it is not known any more.
func (a *session) planOf(run replays.Run) (planned, error) {
	if a.s.Event == nil {
		return planned{}, nil
	}
	text, err := replays.PlanOf(a.Ctx, a.s.Event, run)
	if erased := (*query.ErasedError)(nil); errors.As(err, &erased) {
		return planned{}, nil
	}
	if err != nil || text == nil {
		return planned{}, err
	}
	var p struct {
		planned
		Mappings   mappings
		Parameters []struct{ Value, Set string }
	}
	if err := json.Unmarshal(text, &p); err != nil {
		return planned{}, fmt.Errorf("the plan of %s at %s: %w", run.Run, run.Position, err)
	}
	m := p.Mappings
	for _, v := range p.Parameters {
		if v.Set != "" && v.Set != v.Value {
			m = append(m, mapping{"parameter", v.Value, v.Set})
		}
	}
	slices.SortStableFunc(m, func(a, b mapping) int { return cmp.Compare(len(b.From), len(a.From)) })
	return planned{m, p.Steps}, nil
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
