package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/code"
)

// where returns the scope of a question about code: the client's repository, if it names none.
func (c *call) where(ctx context.Context, s scope) code.Scope {
	if s.Repo == "" {
		s.Repo = c.place(ctx).Repo
	}
	c.atHead = s.At == ""
	return code.Scope{Repo: s.Repo, At: s.At}
}

// behind says that an answer about HEAD is about another commit than the client's clone has there, or "".
func (c *call) behind(ctx context.Context, a answer) string {
	if !c.atHead || c.server.o.Behind == nil {
		return ""
	}
	for _, p := range a.parts {
		commit := ""
		for _, step := range p.basis.Proof {
			if step.Operator == "snapshot" {
				commit = step.Inputs["commit"]
			}
		}
		if commit != "" {
			return c.server.o.Behind(ctx, c.place(ctx).Workspace, commit)
		}
	}
	return ""
}

// path returns a file as questions name it: relative to the repository.
func (c *call) path(ctx context.Context, file string) string {
	file = strings.TrimSpace(file)
	if filepath.IsAbs(file) {
		if rel, err := filepath.Rel(c.place(ctx).Workspace, file); err == nil && !strings.HasPrefix(rel, "..") {
			return filepath.ToSlash(rel)
		}
	}
	return strings.TrimPrefix(file, "./")
}

type symbolsIn struct {
	Text string `json:"text" need:"1" doc:"name, words, FILE:LINE or description"`
	scope
	Kind   string `json:"kind,omitempty" doc:"function, method, struct, ..."`
	Detail bool   `json:"detail,omitempty" doc:"owners and authors"`
	Limit  int    `json:"limit,omitempty"`
	Cursor string `json:"cursor,omitempty"`
}

func symbols(ctx context.Context, c *call, in symbolsIn) (a answer, err error) {
	p, err := page("symbols", &in.Cursor, in.Limit, 10, &in)
	if err != nil {
		return a, err
	}
	b, err := c.ask(ctx)
	if err != nil {
		return a, err
	}
	r := code.SymbolsRequest{Scope: c.where(ctx, in.scope), Text: c.path(ctx, in.Text), Limit: p.limit()}
	if in.Kind != "" {
		r.Kinds = []string{in.Kind}
	}
	found, err := code.SymbolsQuestion.Ask(ctx, b, r)
	if err != nil {
		return a, err
	}
	found.Symbols, a.next = cut(p, found.Symbols)
	found.Truncated = 0
	a.add(code.SymbolsQuestion.Path, found, found.Basis)
	if in.Detail && len(found.Symbols) > 0 {
		best := found.Symbols[0]
		owned, err := code.OwnersQuestion.Ask(ctx, b, code.OwnersRequest{Scope: code.Scope{Repo: best.Repo, At: in.At}, Subject: cmp.Or(best.Place(), best.Name), Limit: p.size})
		if err != nil {
			return a, err
		}
		a.add(code.OwnersQuestion.Path, owned, owned.Basis)
	}
	return a, nil
}

type callsIn struct {
	Symbol    string `json:"symbol" need:"1" doc:"name, FILE or FILE:LINE"`
	Direction string `json:"direction,omitempty" enum:"callers,callees" default:"callers"`
	To        string `json:"to,omitempty" doc:"paths to this one instead"`
	Depth     int    `json:"depth,omitempty"`
	scope
	Confidence float64 `json:"min_confidence,omitempty"`
	Limit      int     `json:"limit,omitempty"`
	Cursor     string  `json:"cursor,omitempty"`
}

func calls(ctx context.Context, c *call, in callsIn) (a answer, err error) {
	p, err := page("calls", &in.Cursor, in.Limit, 30, &in)
	if err != nil {
		return a, err
	}
	b, err := c.ask(ctx)
	if err != nil {
		return a, err
	}
	at := c.where(ctx, in.scope)
	if in.To != "" {
		paths, err := code.FlowQuestion.Ask(ctx, b, code.FlowRequest{Scope: at, From: c.path(ctx, in.Symbol), To: c.path(ctx, in.To), MinConfidence: in.Confidence, Limit: min(p.limit(), 100)})
		if err != nil {
			return a, err
		}
		paths.Paths, a.next = cut(p, paths.Paths)
		a.add(code.FlowQuestion.Path, paths, paths.Basis)
		return a, nil
	}
	q := code.CallersQuestion
	if in.Direction == "callees" {
		q = code.CalleesQuestion
	}
	found, err := q.Ask(ctx, b, code.CallsRequest{Scope: at, Symbol: c.path(ctx, in.Symbol), Depth: in.Depth, MinConfidence: in.Confidence, Limit: p.limit()})
	if err != nil {
		return a, err
	}
	found.Calls, a.next = cut(p, found.Calls)
	found.Truncated = 0
	a.add(q.Path, found, found.Basis)
	return a, nil
}

type impactIn struct {
	Symbols []string `json:"symbols,omitempty"`
	Files   []string `json:"files,omitempty"`
	Diff    string   `json:"diff,omitempty" doc:"REV..REV, instead"`
	Only    string   `json:"only,omitempty" enum:"reach,tests,owners"`
	scope
	Depth      int     `json:"depth,omitempty"`
	Confidence float64 `json:"min_confidence,omitempty"`
	Runtime    bool    `json:"runtime,omitempty" doc:"add services that call it"`
	Limit      int     `json:"limit,omitempty"`
}

// maxSubjects is the maximum number of symbols and files of one call.
const maxSubjects = 50

func impact(ctx context.Context, c *call, in impactIn) (a answer, err error) {
	var subjects []string
	for _, s := range append(append([]string{}, in.Symbols...), in.Files...) {
		subjects = append(subjects, c.path(ctx, s))
	}
	switch {
	case len(subjects) == 0 && in.Diff == "":
		return a, &argumentError{"impact", "want symbols, files, or diff=REV..REV"}
	case len(subjects) > 0 && in.Diff != "":
		return a, &argumentError{"impact", "want symbols and files, or diff, not both"}
	case len(subjects) > maxSubjects:
		return a, &argumentError{"impact", fmt.Sprintf("%d symbols and files: want at most %d; for a whole change give diff=REV..REV", len(subjects), maxSubjects)}
	}
	limit := cmp.Or(in.Limit, 30)
	b, err := c.ask(ctx)
	if err != nil {
		return a, err
	}
	at := c.where(ctx, in.scope)
	each := subjects
	if in.Diff != "" {
		each, c.atHead = []string{""}, endsAtHead(in.Diff)
	}
	var seen *code.RuntimeWindow
	if in.Runtime {
		seen = &code.RuntimeWindow{}
	}
	for _, subject := range each {
		if len(each) > 1 {
			a.subject = subject
		}
		if in.Only == "" || in.Only == "reach" {
			r, err := code.ImpactQuestion.Ask(ctx, b, code.ImpactRequest{Scope: at, Symbol: subject, Diff: in.Diff, Depth: in.Depth, MinConfidence: in.Confidence, Limit: limit, Runtime: seen})
			if err != nil {
				return a, err
			}
			a.add(code.ImpactQuestion.Path, r, r.Basis)
		}
		if in.Only == "tests" {
			r, err := code.TestsQuestion.Ask(ctx, b, code.TestsRequest{Scope: at, Symbol: subject, Diff: in.Diff, MinConfidence: in.Confidence, Limit: limit})
			if err != nil {
				return a, err
			}
			a.add(code.TestsQuestion.Path, r, r.Basis)
		}
		if (in.Only == "" || in.Only == "owners") && in.Diff == "" {
			r, err := code.OwnersQuestion.Ask(ctx, b, code.OwnersRequest{Scope: at, Subject: subject, Commits: 1000, Limit: limit})
			var missing *query.NotFoundError
			if errors.As(err, &missing) && in.Only == "" {
				continue
			}
			if err != nil {
				return a, err
			}
			a.add(code.OwnersQuestion.Path, r, r.Basis)
		}
	}
	if in.Diff != "" && (in.Only == "" || in.Only == "owners") {
		r, err := code.DiffQuestion.Ask(ctx, b, code.GraphDiffRequest{Scope: at, Diff: in.Diff, Limit: limit})
		if err != nil {
			return a, err
		}
		a.add(code.DiffQuestion.Path, code.GraphDiffResponse{Basis: r.Basis, Base: r.Base, Revision: r.Revision, Owners: r.Owners}, r.Basis)
	}
	return a, nil
}

// endsAtHead reports whether the second revision of a range is HEAD.
func endsAtHead(between string) bool {
	return strings.HasSuffix(between, "..") || strings.HasSuffix(between, "..HEAD")
}

type diffIn struct {
	Base   string `json:"base,omitempty"`
	Head   string `json:"head,omitempty"`
	Repo   string `json:"repo,omitempty"`
	Impact bool   `json:"impact,omitempty" doc:"add what it reaches"`
	FailOn string `json:"fail_on,omitempty" doc:"removed>0,impact>50"`
	Limit  int    `json:"limit,omitempty"`
}

func diff(ctx context.Context, c *call, in diffIn) (a answer, err error) {
	b, err := c.ask(ctx)
	if err != nil {
		return a, err
	}
	at, between := c.where(ctx, scope{Repo: in.Repo}), cmp.Or(in.Base, "HEAD~1")+".."+cmp.Or(in.Head, "HEAD")
	c.atHead = endsAtHead(between)
	r, err := code.DiffQuestion.Ask(ctx, b, code.GraphDiffRequest{
		Scope: at, Diff: between,
		Impact: in.Impact, FailOn: in.FailOn, Limit: cmp.Or(in.Limit, 50),
	})
	if err != nil {
		return a, err
	}
	a.add(code.DiffQuestion.Path, r, r.Basis)
	return a, nil
}

type staleIn struct {
	Kinds []string `json:"kinds,omitempty" doc:"gone, doc, unused, aged"`
	Path  string   `json:"path,omitempty" doc:"only below it"`
	Since string   `json:"since,omitempty" doc:"revision; default 90 days before"`
	scope
	Confidence float64 `json:"min_confidence,omitempty"`
	Limit      int     `json:"limit,omitempty"`
	Cursor     string  `json:"cursor,omitempty"`
}

func stale(ctx context.Context, c *call, in staleIn) (a answer, err error) {
	p, err := page("stale", &in.Cursor, in.Limit, 30, &in)
	if err != nil {
		return a, err
	}
	b, err := c.ask(ctx)
	if err != nil {
		return a, err
	}
	r, err := code.StaleQuestion.Ask(ctx, b, code.StaleRequest{Scope: c.where(ctx, in.scope), Kinds: in.Kinds, Path: in.Path, Since: in.Since, MinConfidence: in.Confidence, Limit: p.limit()})
	if err != nil {
		return a, err
	}
	r.Findings, a.next = cut(p, r.Findings)
	r.Truncated = 0
	a.add(code.StaleQuestion.Path, r, r.Basis)
	return a, nil
}
