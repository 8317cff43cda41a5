package code

import (
	"cmp"
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"

	snapshots "github.com/recountdb/recount/projections/code"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/question"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// OwnersRequest asks who owns a file or a symbol, and who wrote it.
type OwnersRequest struct {
	Scope
	Symbols bool   `json:"symbols,omitempty" doc:"For a file: who added and who last changed each symbol that it declares."`
	Subject string `json:"subject" minLength:"1" maxLength:"4096" example:"pkg/kgo/client.go" doc:"A path, or a symbol, which stands for its file."`
	Commits int    `json:"commits,omitempty" minimum:"1" maximum:"100000" default:"5000" example:"5000" doc:"The number of commits to search for authors, newest first."`
	Limit   int    `json:"limit,omitempty" minimum:"1" maximum:"10000" default:"50" example:"50" doc:"Maximum number of authors, and of symbols."`
}

// Missing says of each subject symbol:NAME or file:PATH that the repository does not have it at HEAD,
// if so. Feedback on a misspelt name ranks nothing. It is recorded all the same: another revision may
// have the name.
func Missing(ctx context.Context, of question.Answerer, repo string, subjects []string) (all []string) {
	for _, s := range subjects {
		kind, name, _ := strings.Cut(s, ":")
		if kind != "symbol" && kind != "file" {
			continue
		}
		_, err := OwnersQuestion.Ask(ctx, of, OwnersRequest{Scope: Scope{Repo: repo}, Subject: name, Commits: 1})
		if missing := (*query.NotFoundError)(nil); errors.As(err, &missing) && missing.Ref == name {
			all = append(all, s+": "+missing.Hint)
		}
	}
	return all
}

// OwnersResponse is the answer of owners.
type OwnersResponse struct {
	query.Basis
	Revision Revision `json:"revision" doc:"The revision that was queried."`
	File     string   `json:"file" example:"pkg/kgo/client.go" doc:"The file, or the directory with a trailing slash."`
	Owners   []string `json:"owners" nullable:"false" doc:"The owners named by the last matching rule, or with GitLab's sections by the last matching rule of each section. Empty if no rule matches or the rule names no owner."`
	Rules    []Rule   `json:"rules" nullable:"false" doc:"The rules that name them."`
	Authors  []Author `json:"authors" nullable:"false" doc:"The authors who changed it in the searched commits, without merges, ordered by number of commits, descending."`
	// Symbols has the authors of the named symbol, or of all symbols that the file declares.
	Symbols []SymbolAuthors `json:"symbols,omitempty" doc:"The history of the named symbol, or with symbols of each symbol in the file."`
	Commits int             `json:"commits" example:"812" doc:"The number of commits searched."`
	// Truncated counts what the limit left out.
	Truncated int `json:"truncated" example:"0" doc:"The number of authors and symbols left out of the lists."`
}

// Rule is a line of CODEOWNERS.
type Rule struct {
	Pattern string `json:"pattern" example:"/pkg/" doc:"The pattern."`
	Place   string `json:"place" example:".github/CODEOWNERS:12" doc:"The rule's file and line."`
	Section string `json:"section,omitempty" example:"Documentation" doc:"The GitLab section that contains it."`
}

// Author is a person who changed a file.
type Author struct {
	Name    string    `json:"name" example:"Ada <ada@example.org>" doc:"The author."`
	Commits int       `json:"commits" example:"12" doc:"The number of commits by this author that changed it."`
	Last    time.Time `json:"last,omitzero" doc:"The time of the newest of these commits."`
	Commit  string    `json:"commit" doc:"The newest of these commits."`
}

const (
	defaultCommits = 5000
	maxCommits     = 100_000
)

func (r OwnersRequest) check() error {
	if r.Commits < 0 || r.Commits > maxCommits {
		return &query.RequestError{Field: "commits", Value: r.Commits, Reason: "want 1 to 100000"}
	}
	return cmp.Or(r.Scope.check(), checkSubject("subject", r.Subject), checkLimit(r.Limit))
}

// Owners returns the owners of a file, by CODEOWNERS of the snapshot, and its authors, by the
// commits before it.
func Owners(ctx context.Context, s Sources, r OwnersRequest) (OwnersResponse, error) {
	var resp OwnersResponse
	a, err := s.open(ctx, r)
	if err != nil {
		return resp, err
	}
	defer a.Close()
	snap, err := a.snapshot(r.Repo, r.At)
	if err != nil {
		return resp, err
	}
	var symbols []schemas.NodeKey
	if resp.File, symbols, err = a.fileOf(snap, r.Subject); err != nil {
		return resp, err
	}
	rules, err := a.ownerRules(snap)
	if err != nil {
		return resp, err
	}
	resp.Revision, resp.Owners = revisionAt(snap), []string{}
	resp.Rules = []Rule{}
	for _, rule := range rules.rulesFor(resp.File) {
		resp.Rules = append(resp.Rules, Rule{rule.pattern, rule.place, rule.section})
		for _, o := range rule.owners {
			if !slices.Contains(resp.Owners, o) {
				resp.Owners = append(resp.Owners, o)
			}
		}
	}
	content, err := a.content(snap, ".mailmap")
	if err != nil {
		return resp, err
	}
	a.people = parseMailmap(content)
	if resp.Authors, resp.Commits, err = a.authors(snap, resp.File, cmp.Or(r.Commits, defaultCommits)); err != nil {
		return resp, err
	}
	if keys, err := declaredBy(snap, resp.File, symbols, r.Symbols); err != nil {
		return resp, err
	} else if len(keys) > 0 {
		if resp.Symbols, _, err = a.authorship(snap, keys, cmp.Or(r.Commits, defaultCommits)); err != nil {
			return resp, err
		}
	}
	limit := cmp.Or(r.Limit, DefaultLimit)
	resp.Truncated = cut(&resp.Authors, limit) + cut(&resp.Symbols, limit)
	hint := ""
	switch {
	case rules.path == "":
		hint = "the snapshot has no CODEOWNERS file with readable rules"
	case len(resp.Rules) == 0:
		hint = "no rule of " + rules.path + " matches"
	}
	resp.Basis = a.basis(len(resp.Owners)+len(resp.Authors) == 0, hint)
	return resp, nil
}

// fileOf returns the path of a file of the snapshot, or of the file that declares a symbol, and the
// keys of that symbol.
func (a *session) fileOf(snap *snapshots.Snapshot, subject string) (path string, symbols []schemas.NodeKey, err error) {
	files, err := snap.Files()
	if err != nil {
		return "", nil, err
	}
	path = strings.TrimPrefix(subject, "./")
	if ok, err := files.Has([]byte(path)); err != nil || ok {
		return path, nil, err
	}
	g, err := a.graph(snap)
	if err != nil {
		return "", nil, err
	}
	w := &world{graphs: []*Graph{g}}
	found, err := a.named(w, subject)
	if err != nil {
		return "", nil, err
	}
	for _, r := range found {
		if g.chain(r.n) != "" {
			symbols = append(symbols, g.keys[r.n])
		}
	}
	return g.keys[found[0].n].Path(), symbols, nil
}

// declaredBy returns the keys whose authors are requested: those of a symbol, or all of a file.
func declaredBy(snap *snapshots.Snapshot, path string, symbols []schemas.NodeKey, all bool) ([]schemas.NodeKey, error) {
	if len(symbols) > 0 || !all {
		return symbols, nil
	}
	nodes, err := snap.Nodes()
	if err != nil {
		return nil, err
	}
	var keys []schemas.NodeKey
	for e, err := range nodes.Prefix(append([]byte(path), 0)) {
		if err != nil {
			return nil, err
		}
		if k := schemas.NodeKey(e.Key); k.Chain() != "" {
			keys = append(keys, k)
		}
	}
	return keys, nil
}

// codeowners are the paths of CODEOWNERS, in the order in which GitHub, GitLab, Gitea and Forgejo
// look for it.
var codeowners = []string{".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS", ".gitea/CODEOWNERS", ".forgejo/CODEOWNERS"}

type ownerRules struct {
	path  string
	rules []ownerRule
}

type ownerRule struct {
	pattern, place, section string
	owners                  []string
	match                   *regexp.Regexp
	// excludes means that a match has no owner in the section, whatever other rules match.
	excludes bool
}

// ownerRules reads the snapshot's CODEOWNERS.
func (a *session) ownerRules(snap *snapshots.Snapshot) (ownerRules, error) {
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
		// GitLab interprets rules differently; only it has sections.
		gitlab := strings.HasPrefix(path, ".gitlab/") || slices.ContainsFunc(facts.Facts.OwnerRules, func(r *recountv1.OwnerRule) bool { return r.Section != "" })
		for _, r := range facts.Facts.OwnerRules {
			rule := ownerRule{pattern: r.Pattern, place: place(path, r.Line), section: r.Section, owners: r.Owners}
			pattern, excludes := strings.CutPrefix(r.Pattern, "!")
			switch {
			case !gitlab && excludes:
				continue // GitHub has no exclusions, and ignores the line
			case gitlab:
				rule.match, rule.excludes = gitlabPattern(pattern), excludes
			default:
				rule.match = ownerPattern(pattern)
			}
			all.rules = append(all.rules, rule)
		}
		a.Step(query.Step{Operator: "owners", Inputs: map[string]string{"file": path}, Counts: map[string]int64{"rules": int64(len(all.rules))}, Hits: []query.Evidence{{Position: schemas.PositionOf(facts.Position)}}})
		return all, nil
	}
	return ownerRules{}, nil
}

// rulesFor returns the rules that apply to a path: for each section the last one that matches.
func (o ownerRules) rulesFor(path string) []ownerRule {
	var all []ownerRule
	decided := map[string]bool{}
	for _, r := range o.rules {
		if r.excludes && r.match.MatchString(path) {
			decided[strings.ToLower(r.section)] = true
		}
	}
	for _, r := range slices.Backward(o.rules) {
		section := strings.ToLower(r.section) // GitLab ignores the case of section names
		if !decided[section] && r.match.MatchString(path) {
			decided[section] = true
			all = append(all, r)
		}
	}
	slices.Reverse(all)
	return all
}

// gitlabPattern converts a pattern of GitLab's CODEOWNERS to a regular expression over paths. A
// pattern without a leading slash matches at any depth, and only one with a trailing slash matches
// what is below a directory.
func gitlabPattern(pattern string) *regexp.Regexp {
	if pattern == "*" {
		return ownerPattern(pattern)
	}
	dir := strings.HasSuffix(pattern, "/")
	p := strings.Trim(pattern, "/")
	if !strings.HasPrefix(pattern, "/") {
		p = "**/" + p
	}
	var b strings.Builder
	b.WriteString("^")
	names := strings.Split(p, "/")
	for i, name := range names {
		last := i == len(names)-1
		switch {
		case name == "**" && last:
			b.WriteString(".+")
		case name == "**":
			b.WriteString("(?:.*/)?")
		default:
			globName(&b, name)
			if !last {
				b.WriteString("/")
			}
		}
	}
	if dir {
		b.WriteString("/.*")
	}
	b.WriteString("$")
	return regexp.MustCompile(b.String())
}

// globName writes one path element of a pattern; a star or question mark does not match a slash.
func globName(b *strings.Builder, name string) {
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

// ownerPattern converts a pattern of CODEOWNERS to a regular expression over paths. A slash before
// its end anchors it at the root, a star does not match a slash, two stars do, and a match of a
// directory applies to everything below it.
func ownerPattern(pattern string) *regexp.Regexp {
	p := strings.TrimPrefix(pattern, "/")
	dir := strings.HasSuffix(p, "/")
	p = strings.TrimSuffix(p, "/")
	var b strings.Builder
	b.WriteString("^")
	if !strings.HasPrefix(pattern, "/") && !strings.Contains(p, "/") {
		b.WriteString("(?:.*/)?")
	}
	direct := false // the last element is a star: it matches only files of that directory
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
		globName(&b, name)
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
func (a *session) authors(snap *snapshots.Snapshot, path string, most int) (all []Author, looked int, err error) {
	all = []Author{}
	byName := map[string]int{}
	err = a.history(snap.Repo(), snap.CodeSnapshot, most, func(c *recountv1.CodeSnapshot) bool {
		looked++
		if len(c.Parents) > 1 || !changedPath(c.Changed, path) {
			return true
		}
		name := a.people.name(c.GetAuthor())
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
	a.Step(query.Step{Operator: "authors", Inputs: map[string]string{"path": path}, Counts: map[string]int64{"commits": int64(looked), "authors": int64(len(all))}})
	a.RecordTime("authors")
	return all, looked, err
}

// mailmap has who people are, by the addresses in their commits in small letters: git's .mailmap.
type mailmap map[string][]mapped

// mapped is the name and the address to use, "" for those of the commit, for commits with a name, "" for any.
type mapped struct{ name, email, of string }

// parseMailmap reads lines such as "Ada <ada@example.org> ada l <ada@laptop>". The second pair is that of the
// commits; with one address alone, it is theirs.
func parseMailmap(content []byte) mailmap {
	m := mailmap{}
	for line := range strings.Lines(string(content)) {
		line, _, _ = strings.Cut(line, "#")
		name, rest, _ := strings.Cut(line, "<")
		email, rest, ok := strings.Cut(rest, ">")
		if !ok {
			continue
		}
		x, key := mapped{name: strings.TrimSpace(name)}, email
		if of, second, ok := strings.Cut(rest, "<"); ok {
			x.email, x.of = strings.TrimSpace(email), strings.TrimSpace(of)
			key, _, _ = strings.Cut(second, ">")
		}
		key = strings.ToLower(strings.TrimSpace(key))
		m[key] = append(m[key], x)
	}
	return m
}

// name returns the name and the address of a person.
func (m mailmap) name(s *recountv1.Signature) string {
	var best mapped
	for _, x := range m[strings.ToLower(s.GetEmail())] {
		if x.of == "" && best.of == "" || x.of != "" && strings.EqualFold(x.of, s.GetName()) {
			best = x
		}
	}
	return personName(&recountv1.Signature{Name: cmp.Or(best.name, s.GetName()), Email: cmp.Or(best.email, s.GetEmail())})
}

// changedPath reports whether a commit's sorted paths contain a path, or one below it if it is a
// directory.
func changedPath(changed []string, path string) bool {
	i, exact := slices.BinarySearch(changed, path)
	return exact || strings.HasSuffix(path, "/") && i < len(changed) && strings.HasPrefix(changed[i], path)
}

// history calls yield with a commit and those before it, each once and breadth first, until yield
// returns false or `most` commits were visited. Parents that were not imported are skipped.
func (a *session) history(repo snapshots.RepoID, from *recountv1.CodeSnapshot, most int, yield func(*recountv1.CodeSnapshot) bool) error {
	seen := map[string]bool{from.Commit: true}
	queue := []*recountv1.CodeSnapshot{from}
	for n := 0; len(queue) > 0 && n < most; n++ {
		if n&0xff == 0 && a.Ctx.Err() != nil {
			return a.Ctx.Err()
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
