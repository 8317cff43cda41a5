package code

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	snapshots "github.com/recountdb/recount/projections/graph/code"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// OwnersRequest asks who owns a file or a symbol, and who wrote it.
type OwnersRequest struct {
	Scope
	Subject string `json:"subject" minLength:"1" maxLength:"4096" example:"pkg/kgo/client.go" doc:"A path, or a symbol: then its file is meant."`
	Commits int    `json:"commits,omitempty" minimum:"1" maximum:"100000" default:"5000" example:"5000" doc:"How many commits to look at for authors, the newest first."`
}

// OwnersResponse is the answer of owners.
type OwnersResponse struct {
	query.Basis
	Revision Revision `json:"revision" doc:"What was asked."`
	File     string   `json:"file" example:"pkg/kgo/client.go" doc:"The file, or the directory with a slash at its end."`
	Owners   []string `json:"owners" nullable:"false" doc:"The owners, by the last rule that matches; none where that rule names none, or no rule matches."`
	Rule     *Rule    `json:"rule,omitempty" doc:"The rule."`
	Authors  []Author `json:"authors" nullable:"false" doc:"Who changed it in the commits that were looked at, merges apart, the most often first."`
	Commits  int      `json:"commits" example:"812" doc:"How many commits were looked at."`
}

// Rule is a line of CODEOWNERS.
type Rule struct {
	Pattern string `json:"pattern" example:"/pkg/" doc:"The pattern."`
	Place   string `json:"place" example:".github/CODEOWNERS:12" doc:"Where it stands."`
}

// Author is someone who changed a file.
type Author struct {
	Name    string    `json:"name" example:"Ada <ada@example.org>" doc:"Who."`
	Commits int       `json:"commits" example:"12" doc:"How many of the commits changed it."`
	Last    time.Time `json:"last,omitzero" doc:"When the newest of them was written."`
	Commit  string    `json:"commit" doc:"The newest of them."`
}

const (
	defaultCommits = 5000
	maxCommits     = 100_000
)

func (r OwnersRequest) check() error {
	if r.Commits < 0 || r.Commits > maxCommits {
		return &query.RequestError{Field: "commits", Value: r.Commits, Reason: "want 1 to 100000"}
	}
	return cmp.Or(r.Scope.check(), checkName("subject", r.Subject))
}

// Owners says who owns a file, by CODEOWNERS of the snapshot, and who wrote it, by
// the commits before it.
func Owners(ctx context.Context, s Sources, r OwnersRequest) (OwnersResponse, error) {
	var resp OwnersResponse
	if err := r.check(); err != nil {
		return resp, err
	}
	a, err := s.ask(ctx, r.Scope)
	if err != nil {
		return resp, err
	}
	defer a.close()
	snap, err := a.snapshot(r.Repo, r.At)
	if err != nil {
		return resp, err
	}
	if resp.File, err = a.fileOf(snap, r.Subject); err != nil {
		return resp, err
	}
	rules, err := a.ownerRules(snap)
	if err != nil {
		return resp, err
	}
	resp.Revision, resp.Owners = at(snap), []string{}
	if rule, ok := rules.of(resp.File); ok {
		resp.Owners = append(resp.Owners, rule.owners...)
		resp.Rule = &Rule{rule.pattern, rule.place}
	}
	if resp.Authors, resp.Commits, err = a.authors(snap, resp.File, cmp.Or(r.Commits, defaultCommits)); err != nil {
		return resp, err
	}
	hint := ""
	switch {
	case rules.path == "":
		hint = "the snapshot has no CODEOWNERS with rules that were read"
	case resp.Rule == nil:
		hint = "no rule of " + rules.path + " matches"
	}
	resp.Basis = a.basis(len(resp.Owners)+len(resp.Authors) == 0, hint)
	return resp, nil
}

// fileOf is the path of a file of the snapshot, or of the one that declares a
// symbol.
func (a *asking) fileOf(snap *snapshots.Snapshot, subject string) (string, error) {
	files, err := snap.Files()
	if err != nil {
		return "", err
	}
	path := strings.TrimPrefix(subject, "./")
	if ok, err := files.Has([]byte(path)); err != nil || ok {
		return path, err
	}
	g, err := a.graph(snap)
	if err != nil {
		return "", err
	}
	w := &world{graphs: []*Graph{g}}
	found, err := a.named(w, subject)
	if err != nil {
		return "", err
	}
	return g.keys[found.n].Path(), nil
}

// codeowners are the places of CODEOWNERS, in the order in which GitHub and GitLab
// look for it.
var codeowners = []string{".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS"}

type ownerRules struct {
	path  string
	rules []ownerRule
}

type ownerRule struct {
	pattern, place string
	owners         []string
	match          *regexp.Regexp
}

// ownerRules reads the snapshot's CODEOWNERS.
func (a *asking) ownerRules(snap *snapshots.Snapshot) (ownerRules, error) {
	files, err := snap.Files()
	if err != nil {
		return ownerRules{}, err
	}
	for _, path := range codeowners {
		value, ok, err := files.Get([]byte(path))
		if err != nil {
			return ownerRules{}, err
		}
		if !ok {
			continue
		}
		file := &recountv1.CodeFile{}
		if err := unmarshal(value, file); err != nil {
			return ownerRules{}, err
		}
		facts, err := snap.Facts(file)
		if err != nil {
			return ownerRules{}, err
		}
		if len(facts.GetFacts().GetOwnerRules()) == 0 {
			continue
		}
		all := ownerRules{path: path}
		for _, r := range facts.Facts.OwnerRules {
			all.rules = append(all.rules, ownerRule{r.Pattern, place(path, r.Line), r.Owners, ownerPattern(r.Pattern)})
		}
		a.step(query.Step{Operator: "owners", Inputs: map[string]string{"file": path}, Counts: map[string]int64{"rules": int64(len(all.rules))}, Hits: []query.Evidence{{Position: schemas.PositionOf(facts.Position)}}})
		return all, nil
	}
	return ownerRules{}, nil
}

// of is the rule that holds for a path: the last one that matches.
func (o ownerRules) of(path string) (ownerRule, bool) {
	for _, r := range slices.Backward(o.rules) {
		if r.match.MatchString(path) {
			return r, true
		}
	}
	return ownerRule{}, false
}

// ownerPattern makes a pattern of CODEOWNERS a regular expression over paths: a
// slash before its end binds it to the root, a star stays in one name, two cross
// directories, and what matches a directory holds for all below it.
func ownerPattern(pattern string) *regexp.Regexp {
	p := strings.TrimPrefix(pattern, "/")
	dir := strings.HasSuffix(p, "/")
	p = strings.TrimSuffix(p, "/")
	var b strings.Builder
	b.WriteString("^")
	if !strings.HasPrefix(pattern, "/") && !strings.Contains(p, "/") {
		b.WriteString("(?:.*/)?")
	}
	direct := false // the last name has a star: it stands for files of that directory
	for i, name := range strings.Split(p, "/") {
		if i > 0 && !strings.HasSuffix(b.String(), "(?:.*/)?") {
			b.WriteString("/")
		}
		direct = false
		if name == "**" {
			b.WriteString("(?:.*/)?")
			continue
		}
		direct = i > 0 && name == "*"
		for _, r := range name {
			switch r {
			case '*':
				b.WriteString("[^/]*")
			case '?':
				b.WriteString("[^/]")
			default:
				b.WriteString(regexp.QuoteMeta(string(r)))
			}
		}
	}
	switch {
	case strings.HasSuffix(p, "**"), dir:
		if dir {
			b.WriteString("/")
		}
		b.WriteString(".*$")
	case direct:
		b.WriteString("$")
	default:
		b.WriteString("(?:/.*)?$")
	}
	return regexp.MustCompile(b.String())
}

// authors counts who changed a path in the commits up to a snapshot.
func (a *asking) authors(snap *snapshots.Snapshot, path string, most int) (all []Author, looked int, err error) {
	all = []Author{}
	byName := map[string]int{}
	err = a.history(snap.Repo(), snap.CodeSnapshot, most, func(c *recountv1.CodeSnapshot) bool {
		looked++
		if len(c.Parents) > 1 || !changedPath(c.Changed, path) {
			return true
		}
		name := personName(c.GetAuthor())
		i, ok := byName[name]
		if !ok {
			i = len(all)
			byName[name] = i
			all = append(all, Author{Name: name, Commit: c.Commit})
			if t := c.GetAuthor().GetTime(); t != nil {
				all[i].Last = t.AsTime()
			}
		}
		all[i].Commits++
		return true
	})
	slices.SortStableFunc(all, func(x, y Author) int { return cmp.Compare(y.Commits, x.Commits) })
	a.step(query.Step{Operator: "authors", Inputs: map[string]string{"path": path}, Counts: map[string]int64{"commits": int64(looked), "authors": int64(len(all))}})
	a.lap("authors")
	return all, looked, err
}

// changedPath says whether a commit's paths, in order, have one, or one below a
// directory.
func changedPath(changed []string, path string) bool {
	i, exact := slices.BinarySearch(changed, path)
	return exact || strings.HasSuffix(path, "/") && i < len(changed) && strings.HasPrefix(changed[i], path)
}

// history calls yield with a commit and those before it, each once, breadth first,
// until it says no or so many have come. What was not imported ends a line.
func (a *asking) history(repo snapshots.RepoID, from *recountv1.CodeSnapshot, most int, yield func(*recountv1.CodeSnapshot) bool) error {
	seen := map[string]bool{from.Commit: true}
	queue := []*recountv1.CodeSnapshot{from}
	for n := 0; len(queue) > 0 && n < most; n++ {
		if n&0xff == 0 && a.ctx.Err() != nil {
			return a.ctx.Err()
		}
		c := queue[0]
		queue = queue[1:]
		if !yield(c) {
			return nil
		}
		for _, p := range c.Parents {
			if seen[p] {
				continue
			}
			seen[p] = true
			parent, err := a.view.Commit(repo, p)
			if err != nil {
				return err
			}
			if parent != nil {
				queue = append(queue, parent)
			}
		}
	}
	return nil
}
