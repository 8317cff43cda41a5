package evidence

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/recountdb/recount/projections/segment"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
)

// A tool call ran a command of the log if both have the same content hash and the command started
// within ranBefore before to ranAfter after the call; clocks may differ. What else they have in
// common decides the confidence.
const (
	ranBefore = 2 * time.Minute
	ranAfter  = 10 * time.Minute
)

// maxCompared is the maximum number of commands per workspace, the newest, that are compared with a
// text for principals who may not see all commands. The statistics of a search would cover the
// other workspaces too.
const maxCompared = 500

// commands adds the commands that the hits ran, and those that match the text.
func (w *answer) commands(p *plan, hits []*hit) error {
	if !w.p.Granted(schemas.GrantCommands) {
		w.Step(Step{Path: KindCommands, Operator: "leave out", Why: notGranted})
		return nil
	}
	if err := w.ran(hits); err != nil {
		return err
	}
	if w.r.Text == "" {
		return nil
	}
	found, why, err := w.findCommands(p)
	if err != nil {
		return err
	}
	for _, in := range found {
		if !w.shown[in.ID.String()] {
			w.find(commandObject(in))
		}
	}
	w.Step(Step{Path: KindCommands, Operator: "search", Why: why, Counts: map[string]int64{"commands": int64(len(found))}})
	return nil
}

// findCommands returns the commands that match the text: by a search over all of them, or, if the
// principal may see only some workspaces, by the words in the newest ones of these. Commands that
// match only by time or meaning are omitted, as they add nothing to what agents said.
func (w *answer) findCommands(p *plan) ([]commands.Intent, string, error) {
	r := commands.FindRequest{
		Text: w.r.Text, Limit: maxFound, AsOf: w.r.AsOf,
		Filters: commands.Filters{Since: w.since(p), Until: w.r.Until, Workspace: w.r.Scope.Workspace, Session: w.r.Scope.Session, Author: w.r.Scope.Agent},
	}
	if !r.Filters.Until.IsZero() && !r.Filters.Since.Before(r.Filters.Until) {
		return nil, "the text names a time after until", nil
	}
	var all []commands.Intent
	if w.mayReadCommands("*") {
		resp, err := commands.Find(w.Ctx, w.s.Commands, r)
		if err != nil {
			return nil, "", err
		}
		w.rest(resp.Watermark)
		for _, h := range resp.Hits {
			if slices.ContainsFunc(h.Scores, func(s query.PathScore) bool { return s.Path == "words" || s.Path == "exact" }) {
				all = append(all, h.Intent)
			}
		}
		return all, "a search over all commands for words of the text", nil
	}
	r.Text, r.Limit = "", maxCompared
	matches := map[schemas.EventID]int{}
	for _, workspace := range w.p.Workspaces {
		if s := w.r.Scope.Workspace; s != "" && s != workspace {
			continue
		}
		r.Filters.Workspace = workspace
		resp, err := commands.Find(w.Ctx, w.s.Commands, r)
		if err != nil {
			return nil, "", err
		}
		w.rest(resp.Watermark)
		for _, h := range resp.Hits {
			low := strings.ToLower(h.Command)
			for _, word := range w.words {
				if strings.Contains(low, word) {
					matches[h.ID]++
				}
			}
			if matches[h.ID] > 0 {
				all = append(all, h.Intent)
			}
		}
	}
	slices.SortStableFunc(all, func(x, y commands.Intent) int {
		return cmp.Or(cmp.Compare(matches[y.ID], matches[x.ID]), y.Time.Compare(x.Time))
	})
	return all[:min(len(all), maxFound)], "the words of the text in the newest " + strconv.Itoa(maxCompared) + " of each workspace", nil
}

// ran joins tool calls to the commands that they ran.
func (w *answer) ran(hits []*hit) error {
	live, release, err := w.s.Commands.Set.Acquire(segment.Name)
	if err != nil {
		return err
	}
	defer release()
	rows, ok := live.(*segment.Projection)
	if !ok {
		return nil
	}
	below := query.Below(rows.Watermark(), w.r.AsOf)
	s := Step{Path: KindCommands, Operator: "join", Inputs: map[string]string{
		"window": "-" + ranBefore.String() + " +" + ranAfter.String(), "rules": "command_session command_author command_workspace",
	}, Counts: map[string]int64{}}
	for _, h := range hits {
		if !calls(h.o) || h.o.GetTool().GetCommandHash() == 0 {
			continue
		}
		s.Counts["calls"]++
		at := time.Unix(0, h.o.TimeUnixNano)
		f := segment.Filter{From: at.Add(-ranBefore), To: at.Add(ranAfter), Below: below}
		if t := w.r.AsOf.Time; !t.IsZero() && t.Before(f.To) {
			f.To = t.Add(1)
		}
		best, sure, apart := Object{}, 0.0, time.Duration(0)
		rule := ""
		err := rows.Scan(w.Ctx, f, segment.OldestFirst, func(v *segment.View) bool {
			if v.ContentHash() != h.o.Tool.CommandHash || !w.mayReadCommands(v.Workspace()) {
				return true
			}
			by, confidence := ranBy(h, v)
			if far := v.Time().Sub(at).Abs(); confidence > sure || confidence == sure && sure > 0 && far < apart {
				best, sure, apart, rule = commandOf(v), confidence, far, by
			}
			return true
		})
		if err != nil {
			return err
		}
		if sure == 0 {
			continue
		}
		s.Counts["joined"]++
		w.beside(best)
		w.join(Edge{
			From: h.o.IDText, To: best.ID, Kind: "ran", Confidence: sure, Rule: rule,
			Evidence: []string{h.o.At, best.Position},
		})
	}
	w.rest(below)
	w.Step(s)
	return nil
}

// ranBy returns the rule by which a command with the same content is the one that a call ran, and
// its confidence.
func ranBy(h *hit, v *segment.View) (rule string, confidence float64) {
	switch {
	case h.o.Session != "" && v.Session() == h.o.Session:
		return "command_session", 0.95
	case h.o.Agent != "" && v.Author() == h.o.Agent:
		return "command_author", 0.85
	case h.o.Workspace != "" && v.Workspace() == h.o.Workspace:
		return "command_workspace", 0.6
	}
	return "", 0
}

// commandOf returns a command as an answer shows it.
func commandOf(v *segment.View) Object {
	c := strings.Clone
	in := commands.Intent{
		ID: v.ID(), Position: v.Position(), Time: v.Time(), Command: c(v.Command()), Session: c(v.Session()), Workspace: c(v.Workspace()), Author: c(v.Author()),
	}
	if code, known := v.ExitCode(); known {
		in.ExitCode = &code
	}
	return commandObject(in)
}

func commandObject(in commands.Intent) Object {
	return Object{
		ID: in.ID.String(), Kind: KindCommands, EventID: in.ID.String(), Position: in.Position.String(), Type: "command",
		Workspace: in.Workspace, Agent: in.Author, Session: in.Session, Time: in.Time, Snippet: brief(in.Command, maxSnippet), ExitCode: in.ExitCode,
		Failed: in.ExitCode != nil && *in.ExitCode != 0,
	}
}
