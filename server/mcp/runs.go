package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/recountdb/recount/internal/timespec"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/query/commands/ask"
	"github.com/recountdb/recount/query/runtime"
	"github.com/recountdb/recount/query/wire"
)

// quiet are the fields of commands that a model rarely needs; commands with id has them all.
var quiet = []string{
	"host", "user", "shell", "template", "category", "score", "scores", "outcome_position", "time_unknown",
	"duration_ns", "workspace", "evidence", "path", "rule", "session", "signals",
}

type whyIn struct {
	About string `json:"about,omitempty" doc:"id of a command, trace or span, or words"`
	Depth int    `json:"depth,omitempty"`
	Limit int    `json:"limit,omitempty"`
}

func why(ctx context.Context, c *call, in whyIn) (a answer, err error) {
	b, err := c.ask(ctx)
	if err != nil {
		return a, err
	}
	ref := strings.TrimSpace(in.About)
	if runtime.NamesSpan(ref) {
		r, err := runtime.WhyQuestion.Ask(ctx, b, runtime.SpanWhyRequest{Ref: ref, Limit: cmp.Or(in.Limit, 5)})
		var missing *query.NotFoundError
		if err == nil || !errors.As(err, &missing) {
			if err == nil {
				a.add(runtime.WhyQuestion.Path, r, r.Basis, quiet...)
			}
			return a, err
		}
	}
	text, elsewhere := "", false
	if ref == "" || strings.ContainsAny(ref, " \t\n") || !isRef(ref) {
		text = ref
		if ref, elsewhere, err = c.failure(ctx, b, ref); err != nil {
			return a, err
		}
	}
	r, err := commands.WhyQuestion.Ask(ctx, b, commands.WhyRequest{Ref: ref, Limit: cmp.Or(in.Limit, 5), Walk: commands.Walk{Depth: in.Depth}})
	if err != nil {
		return a, err
	}
	shown, err := b.show(ctx, r.Root.ID.String())
	if err != nil {
		return a, err
	}
	r.Hint = strings.Replace(r.Hint, ask.RanBefore, "commands with this id and view=story has what ran around it", 1)
	told := wire.OfAny("why", r)
	if elsewhere {
		told.Set("note", "no such failure is known in "+c.place(ctx).Workspace+": this is the newest anywhere")
	}
	if lacks := missingWord(text, r.Root.Command+"\n"+shown.OutputTail); lacks != "" {
		told.Set("nearest", "it says nothing of "+lacks)
	}
	if len(told.Lists) > 0 && len(told.Lists[0].Rows) > 0 { // the command itself
		told.Lists[0].Rows[0].Nodes[0].Text = tail(strings.TrimRight(shown.OutputTail, "\n"))
	}
	a.addPayload(commands.WhyQuestion.Path, r, r.Basis, told)
	return a, c.mended(ctx, b, r.Root, &a)
}

// missingWord returns the first word of a text that another does not have, or "".
func missingWord(text, in string) string {
	in = strings.ToLower(in)
	for word := range strings.FieldsSeq(text) {
		if !strings.Contains(in, strings.ToLower(word)) {
			return word
		}
	}
	return ""
}

// isRef reports whether a text has the form of a reference to an event: part of an id, or a position.
func isRef(s string) bool {
	if strings.Count(s, "/") == 2 {
		return true
	}
	return len(s) >= 4 && strings.Trim(s, "0123456789abcdef-") == ""
}

// outputTail is how much of a command's output is shown, from its end.
const outputTail = 1200

func tail(s string) string {
	if len(s) <= outputTail {
		return s
	}
	s = s[len(s)-outputTail:]
	_, rest, found := strings.Cut(s, "\n")
	if !found {
		return strings.ToValidUTF8(s, "")
	}
	return "…\n" + rest
}

// failure returns the newest failure that a text describes: in the client's workspace, else elsewhere.
func (c *call) failure(ctx context.Context, b gated, text string) (ref string, elsewhere bool, err error) {
	var at []commands.Filters
	if ws := c.place(ctx).Workspace; ws != "" && c.server.o.Locate != nil {
		at = append(at, commands.Filters{Exit: "fail", Workspace: ws}, commands.Filters{Exit: "fail", Cwd: ws})
	}
	for i, f := range append(at, commands.Filters{Exit: "fail"}) {
		r, err := commands.FindQuestion.Ask(ctx, b, commands.FindRequest{Text: text, Filters: f, Limit: 1, Repeats: text == ""})
		if err != nil {
			return "", false, err
		}
		if len(r.Hits) > 0 {
			return r.Hits[0].ID.String(), i > 0 && i == len(at), nil
		}
	}
	hint := "no command has failed"
	if text != "" {
		hint = "no command that failed matches"
	}
	return "", false, &query.NotFoundError{Ref: text, Hint: hint}
}

// maxMend is the maximum number of commands shown between a failure and its mend.
const maxMend = 12

// mended adds what mended an earlier failure of the same kind: the commands between it and the next
// success of the same command in the same workspace.
func (c *call) mended(ctx context.Context, b gated, root commands.Intent, a *answer) error {
	if root.ExitCode == nil || *root.ExitCode == 0 || root.Template == "" {
		return nil
	}
	same := commands.Filters{Template: root.Template, Workspace: root.Workspace}
	all, err := commands.FindQuestion.Ask(ctx, b, commands.FindRequest{Filters: same, Repeats: true, Limit: 200})
	if err != nil {
		return err
	}
	// The hits are newest first: walk back from the root to a failure that a success followed.
	var fixed *commands.Intent
	for i := range all.Hits {
		hit := &all.Hits[i].Intent
		if hit.ExitCode == nil {
			continue
		}
		if *hit.ExitCode == 0 {
			fixed = hit
			continue
		}
		if fixed == nil {
			continue
		}
		between, err := commands.FindQuestion.Ask(ctx, b, commands.FindRequest{
			Filters: commands.Filters{Workspace: root.Workspace, Since: hit.Time, Until: fixed.Time.Add(time.Nanosecond)},
			Repeats: true, Limit: maxMend + 2,
		})
		if err != nil {
			return err
		}
		steps := []commands.Intent{}
		for j := len(between.Hits) - 1; j >= 0; j-- {
			if x := between.Hits[j].Intent; x.ID != hit.ID {
				steps = append(steps, x)
			}
		}
		m := mend{Failed: *hit, Then: steps}
		told := wire.Payload{Question: "mended_before"}
		told.Commands("failed", []commands.Intent{*hit})
		told.Commands("then", steps)
		a.addPayload("find", m, query.Basis{Status: query.StatusOK, Watermark: between.Watermark, AppliedFilters: between.AppliedFilters, Proof: between.Proof, Timing: between.Timing}, told)
		return nil
	}
	return nil
}

// mend is how an earlier failure was mended.
type mend struct {
	Failed commands.Intent   `json:"failed"`
	Then   []commands.Intent `json:"then"`
}

type commandsIn struct {
	Text    string `json:"text,omitempty" doc:"empty: the newest"`
	ID      string `json:"id,omitempty"`
	View    string `json:"view,omitempty" enum:"detail,story,recurring,plan"`
	Map     string `json:"map,omitempty"`
	Exit    string `json:"exit,omitempty" doc:"ok, fail or a code"`
	Program string `json:"program,omitempty"`
	Author  string `json:"author,omitempty"`
	Wrote   string `json:"wrote,omitempty"`
	Since   string `json:"since,omitempty" doc:"7d or a time"`
	Here    bool   `json:"here,omitempty" doc:"this workspace"`
	Limit   int    `json:"limit,omitempty"`
	Cursor  string `json:"cursor,omitempty"`
}

func ran(ctx context.Context, c *call, in commandsIn) (a answer, err error) {
	p, err := page("commands", &in.Cursor, in.Limit, 10, &in)
	if err != nil {
		return a, err
	}
	b, err := c.ask(ctx)
	if err != nil {
		return a, err
	}
	f := commands.Filters{Exit: in.Exit, Program: in.Program, Author: in.Author}
	if f.Since, err = since("commands", in.Since); err != nil {
		return a, err
	}
	if in.Here {
		f.Workspace = c.place(ctx).Workspace
	}
	switch {
	case in.View == "recurring":
		r, err := commands.InsightsQuestion.Ask(ctx, b, commands.InsightsRequest{Filters: f, After: in.ID, Limit: p.size})
		if err != nil {
			return a, err
		}
		a.add(commands.InsightsQuestion.Path, r, r.Basis)
	case in.View == "story" && in.ID != "":
		r, err := commands.StitchQuestion.Ask(ctx, b, commands.StitchRequest{Ref: in.ID, Walk: commands.Walk{Nodes: p.size}})
		if err != nil {
			return a, err
		}
		a.add(commands.StitchQuestion.Path, r, r.Basis)
	case in.View == "plan" && in.ID != "":
		return c.planned(ctx, b, in)
	case in.ID != "":
		r, err := b.show(ctx, in.ID)
		if err != nil {
			return a, err
		}
		basis := query.Basis{Status: query.StatusOK, Watermark: r.Watermark, Proof: r.Proof}
		a.add("intents", r, basis)
	case in.View != "" && in.View != "detail":
		return a, &argumentError{"commands", "view=" + in.View + " wants id"}
	default:
		r, err := commands.FindQuestion.Ask(ctx, b, commands.FindRequest{Text: in.Text, Wrote: in.Wrote, Filters: f, Limit: min(p.limit(), commands.MaxLimit)})
		if err != nil {
			return a, err
		}
		r.Hits, a.next = cut(p, r.Hits)
		basis := query.Basis{Status: r.Status, Hint: r.Hint, Watermark: r.Watermark, AppliedFilters: r.AppliedFilters, Proof: r.Proof, Timing: r.Timing}
		a.add(commands.FindQuestion.Path, r, basis)
	}
	return a, nil
}

// since parses a time, or how long ago it was.
func since(tool, s string) (time.Time, error) {
	t, err := timespec.Parse(time.Now().UTC(), s)
	if err != nil {
		return t, &argumentError{tool, fmt.Sprintf("since: %q: %v", abridged(s, 40), err)}
	}
	return t, nil
}
