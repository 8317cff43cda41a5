package terminalsearch

import (
	"cmp"
	"slices"
	"strings"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands/ask"
	"github.com/recountdb/recount/query/commands/match"
)

// seen has the commands of earlier answers, to go on with while nobody answers.
type seen struct {
	all []seenHit
	by  map[string]int
}

type seenHit struct {
	ask.SearchHit
	text match.Text
}

// keep adds the hits of an answer.
func (s *seen) keep(hits []ask.SearchHit) {
	if s.by == nil {
		s.by = map[string]int{}
	}
	for _, h := range hits {
		if i, known := s.by[h.Command]; known {
			s.all[i].SearchHit = h
			continue
		}
		s.by[h.Command] = len(s.all)
		s.all = append(s.all, seenHit{h, match.NewText(h.Command)})
	}
}

// search answers a request from what was seen. Meaning needs the server: words take its place.
func (s *seen) search(r ask.SearchRequest) ask.SearchResponse {
	q := match.Words(r.Text)
	if r.Mode == ask.ModeExact {
		q = match.Exact(r.Text)
	}
	resp := ask.SearchResponse{Basis: query.Basis{Status: query.StatusOK}}
	for i := range s.all {
		h := &s.all[i]
		if !passes(&h.Intent, r.Filters) || r.People && h.Author != "" {
			continue
		}
		resp.Commands++
		if score, ok := q.Score(&h.text); ok {
			hit := h.SearchHit
			hit.Score = score
			resp.Hits = append(resp.Hits, hit)
		}
	}
	resp.Matched = int64(len(resp.Hits))
	slices.SortStableFunc(resp.Hits, func(a, b ask.SearchHit) int {
		if c := cmp.Compare(b.Score, a.Score); c != 0 {
			return c
		}
		return b.Time.Compare(a.Time)
	})
	resp.Hits = resp.Hits[:min(len(resp.Hits), r.Limit)]
	return resp
}

// passes reports whether a run passes the filters that keys set.
func passes(in *ask.Intent, f ask.Filters) bool {
	exit, err := ask.ParseExit(f.Exit)
	return err == nil && exit.Match(in.ExitCode) &&
		(f.Cwd == "" || in.Cwd == f.Cwd || strings.HasPrefix(in.Cwd, strings.TrimSuffix(f.Cwd, "/")+"/")) &&
		(f.Workspace == "" || in.Workspace == f.Workspace) &&
		(f.Session == "" || in.Session == f.Session) &&
		(f.Host == "" || in.Host == f.Host) &&
		(f.Author == "" || in.Author == f.Author) &&
		(f.User == "" || in.User == f.User) &&
		(f.Since.IsZero() || !in.Time.Before(f.Since)) &&
		(f.Until.IsZero() || in.Time.Before(f.Until))
}

// showSeen shows what was seen before, while nobody answers.
func (m *Model) showSeen() {
	if !m.answered {
		return
	}
	r := m.request()
	m.show(r, m.seen.search(r))
}
