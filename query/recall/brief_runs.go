package recall

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"time"

	"github.com/recountdb/recount/projections/objects"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/code"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/schemas/wordset"
)

// maxResults is how many of the newest results of tools are looked at to find the newest sessions.
const maxResults = 3000

// readSessions determines the newest sessions of the workspace, without the one that asks.
func (b *briefing) readSessions() error {
	if b.sessions != nil {
		return nil
	}
	f := b.filter()
	f.Events = []string{schemas.TypeToolResult}
	refs, err := b.view.Latest(b.Ctx, f, maxResults)
	if err != nil {
		return err
	}
	b.sessions = []string{}
	for _, ref := range refs {
		at, ok := b.view.Attributes(ref)
		if !ok || b.r.Session != "" && at.Session == b.r.Session || slices.Contains(b.sessions, at.Session) {
			continue
		}
		if b.sessions = append(b.sessions, at.Session); len(b.sessions) == briefSessions {
			break
		}
	}
	return nil
}

// failures adds what failed last: what fails still, and what was mended and how.
func (b *briefing) failures() error {
	if err := b.readSessions(); err != nil {
		return err
	}
	var open, mended []Item
	succeeded := map[string]bool{} // keys of commands that succeeded later
	told := map[string]bool{}
	fails := map[string]*stillFailing{}
	for _, name := range b.sessions {
		runs, err := b.around(name, 0)
		if err != nil {
			return err
		}
		for i := len(runs) - 1; i >= 0; i-- {
			x := &runs[i]
			if x.command == "" || len(x.keys) == 0 || onlyReads(x.command) {
				continue
			}
			key := x.keys[len(x.keys)-1]
			if x.succeeded() {
				succeeded[key] = true
				continue
			}
			now := fails[key]
			if told[key] && now == nil || len(open)+len(mended) >= 4*briefFailures {
				continue
			}
			marks, err := b.marks(x)
			if err != nil {
				return err
			}
			if len(marks) == 0 || !x.failed(func() []mark { return marks }) {
				continue
			}
			m := &met{result: x.result, marks: marks, common: marks, run: *x}
			if m.mend, err = b.mendOf(runs, i, marks); err != nil {
				return err
			}
			if now != nil {
				if share, _ := alike(now.marks, marks); share >= failureMinimum && m.mend != nil && !m.mend.Same {
					it := &open[now.at]
					it.Title += "; an earlier failure like it was mended"
					it.ID, it.Mend = m.mend.Position, m.mend
					it.lines = append(it.lines, m.mend.lines()...)
					delete(fails, key)
				}
				continue
			}
			it := b.itemOf(m)
			it.Matched = nil
			switch {
			case m.mend != nil && m.mend.Same:
				continue
			case m.mend != nil:
				it.Title = "Failed, and was mended"
				mended = append(mended, it)
			case !succeeded[key] && b.isCurrent(x.result):
				it.Title = "Failed last, and is not known to have succeeded since"
				fails[key] = &stillFailing{at: len(open), marks: marks}
				open = append(open, it)
			}
			told[key] = true
		}
	}
	open = open[:min(len(open), briefFailures/2)]
	mended = mended[:min(len(mended), briefFailures-len(open))]
	b.items = append(append(b.items, open...), mended...)
	return nil
}

// stillFailing is a failure without a mend, and which of the open items tells it.
type stillFailing struct {
	at    int
	marks []mark
}

// habit is how a command behaved.
type habit struct {
	newest    *objects.Stored
	command   string
	durations []time.Duration
	// flaked counts the runs that failed and then succeeded with nothing changed in between.
	flaked int
}

const (
	// slow is the median duration from which a command counts as slow, often how many runs show it.
	slow  = time.Minute
	often = 3
	// flaky is how often a command must have failed and succeeded with nothing changed.
	flaky = 2
)

// commands adds commands that are flaky or slow.
func (b *briefing) commands() error {
	if err := b.readSessions(); err != nil {
		return err
	}
	habits := map[string]*habit{}
	var order []*habit
	for _, name := range b.sessions {
		runs, err := b.around(name, 0)
		if err != nil {
			return err
		}
		failed := map[string]bool{} // commands whose last run failed, with nothing changed since
		for i := range runs {
			x := &runs[i]
			if x.edited != "" {
				clear(failed)
			}
			if x.command == "" || x.result == nil || len(x.keys) == 0 || onlyReads(x.command) {
				continue
			}
			h := habits[x.command]
			if h == nil {
				h = &habit{command: x.command}
				habits[x.command], order = h, append(order, h)
			}
			if h.newest == nil || h.newest.TimeUnixNano < x.result.TimeUnixNano {
				h.newest = x.result
			}
			if t := x.result.Tool; t != nil && t.DurationNano > 0 {
				h.durations = append(h.durations, time.Duration(t.DurationNano))
			}
			switch {
			case !x.succeeded():
				failed[x.command] = true
			case failed[x.command]:
				h.flaked++
				delete(failed, x.command)
			default:
				if !isTest(x.keys) { // it may have changed something
					clear(failed)
				}
			}
		}
	}
	var found []Item
	for _, h := range order {
		title := ""
		slices.Sort(h.durations)
		median := time.Duration(0)
		if n := len(h.durations); n > 0 {
			median = h.durations[n/2]
		}
		switch {
		case h.flaked >= flaky:
			title = fmt.Sprintf("Flaky: failed and then succeeded %d times with nothing changed", h.flaked)
		case len(h.durations) >= often && median >= slow:
			title = fmt.Sprintf("Slow: %s, the median of %d runs", query.Took(median), len(h.durations))
		default:
			continue
		}
		it := item(h.newest, KindCommand, title, "$ "+oneLine(h.command, 160))
		it.Outside = ""
		found = append(found, it)
	}
	slices.SortStableFunc(found, func(x, y Item) int { return cmp.Compare(y.Time.UnixNano(), x.Time.UnixNano()) })
	b.items = append(b.items, found[:min(len(found), briefCommands)]...)
	return nil
}

// isTest reports whether a command only checks something.
func isTest(keys []string) bool {
	for _, key := range keys {
		for w := range wordsIn(key) {
			if checks[w] {
				return true
			}
		}
	}
	return false
}

var checks = wordset.Of("test tests vet lint check pytest jest vitest tox mypy ruff golangci")

// history returns the newest commits of the repository that the workspace is a copy of; nil if none
// is known or several are.
func (b *briefing) history() []code.LoggedSnapshot {
	for _, name := range []string{b.r.Workspace, path.Base(b.r.Workspace)} {
		resp, err := code.Log(b.Ctx, b.asked.Code, code.LogRequest{Scope: code.Scope{Repo: name}, Limit: 200})
		var missing *query.NotFoundError
		if err == nil {
			return resp.Snapshots
		}
		if !errors.As(err, &missing) {
			return nil // ambiguous, or no code is known: a brief does not fail for that
		}
	}
	return nil
}
