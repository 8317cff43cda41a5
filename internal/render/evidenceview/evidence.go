package evidenceview

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/internal/render/hitview"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/evidence"
	"github.com/recountdb/recount/schemas"
)

// Drawing draws evidence for people.
type Drawing struct {
	*render.Drawing
	Whole    bool // draw whole texts
	Versions bool // draw the versions of what has several
	Ranks    bool // draw the rank and score of each path that found a hit

	r evidence.Response
	// told maps what the answer mentions to a description: things by id, and their versions by id
	// and position.
	told map[mention]thing
}

// mention names a thing, or the version of it that the event at a position made.
type mention struct{ id, version string }

// thing is an object of the answer in one line.
type thing struct {
	label, title, agent string
	time                time.Time
}

// Draw draws an answer.
func (d *Drawing) Draw(r evidence.Response) {
	d.r, d.told = r, map[mention]thing{}
	for _, e := range r.Provenance {
		t := thing{cmp.Or(eventLabels[e.Type], strings.ReplaceAll(e.Type, "_", " ")), e.Title, e.Agent, e.Time}
		d.told[mention{id: e.Object}], d.told[mention{e.Object, e.Position}] = t, t
	}
	for _, o := range r.Objects {
		t := thing{label(o), cmp.Or(o.Title, o.Snippet), o.Agent, o.Time}
		if o.Kind != "" {
			t.title = strings.TrimSpace(o.Title + "  " + o.Snippet)
		}
		d.told[mention{id: o.ID}], d.told[mention{o.ID, o.Position}] = t, t
	}
	if r.Context != "" {
		// The context is for a model, so other remarks go to standard error.
		d.Printf("%s\n", render.PlainText(strings.TrimRight(r.Context, "\n")))
		if left := d.left(); left != "" {
			d.Note("%s", left)
		}
		return
	}
	hits, around := 0, false
	for _, o := range r.Objects {
		switch {
		case o.Role == "joined":
			continue // it is shown with the hit that it is joined to
		case o.Role == "":
			hits++
		case !around:
			around = true
			d.Print("")
			d.Print(d.Paint(render.Bold, "Around"))
		}
		if o.Role != "" {
			d.Print(d.line("  ", d.told[mention{id: o.ID}], o.Time))
			continue
		}
		if hits > 1 {
			d.Print("")
		}
		d.hit(hits, o)
	}
	if r.Status == query.StatusEmpty {
		d.Print("nothing found")
	}
	for _, hint := range []string{r.Hint, d.left()} {
		if hint != "" {
			d.Text("", render.Dim, render.OneLine(hint))
		}
	}
}

// eventLabels maps types of agents' events to labels.
var eventLabels = map[string]string{
	schemas.TypeUserMessage: "user", schemas.TypeAssistantMessage: "assistant", schemas.TypeToolCall: "tool call",
	schemas.TypeToolResult: "result", schemas.TypePlanUpdated: "plan", schemas.TypeCritique: "critique",
	schemas.TypeStateChanged: "state", schemas.TypeArtifact: "artifact", schemas.TypeTaskStarted: "task",
	schemas.TypeTaskFinished: "task", schemas.TypeHandoff: "handover", schemas.TypeMemoryStated: "memory",
}

// label returns the kind of an object: of what an agent wrote down the word that remembered has for it.
func label(o evidence.Object) string {
	kind := cmp.Or(o.Form, o.Memory, o.Type)
	if kind == "handoff" {
		kind = evidence.Handover
	}
	return strings.ReplaceAll(kind, "_", " ")
}

// hit draws one hit: its kind, text, place, why it was found, remarks, and what led to it.
func (d *Drawing) hit(n int, o evidence.Object) {
	lead := fmt.Sprintf("%d  ", n)
	inner := strings.Repeat(" ", len(lead))
	style := render.Bold
	if o.SupersededBy != nil || o.Removed {
		style = render.Dim
	}
	head := label(o)
	switch {
	case o.ExitCode != nil:
		head += " " + d.ExitMark(o.ExitCode)
	case o.Failed:
		head += " " + d.Paint(render.Red, "failed")
	}
	title, said := d.words(o)
	taken := render.Columns(lead) + render.Columns(label(o)) + 4
	lines := []string{title}
	if d.Width > 0 {
		lines = render.Wrap(title, max(d.Width-taken, render.Narrowest))
	}
	d.Print(d.Paint(render.Dim, lead) + d.Paint(render.Cyan, head) + "  " + d.Paint(style, lines[0]))
	for _, l := range lines[1:] {
		d.Print(inner + d.Paint(style, l))
	}
	if o.Text != "" {
		// The prefix marks the object's own lines, since none of our lines begins with it.
		d.Printf("%s\n", render.PlainText(schemas.Quoted(strings.TrimRight(o.Text, "\n"), inner+"│ ")))
	} else if said != "" {
		d.Text(inner, "", said)
	}
	d.Print(inner + d.place(o))
	d.results(inner, o)
	for _, s := range d.remarks(o) {
		d.Text(inner, s.colour, s.words)
	}
	if d.Versions {
		for _, v := range d.r.Versions {
			if v.Object == o.ID {
				d.Print(d.Paint(render.Dim, fmt.Sprintf("%sversion %d  %s  %s  %s", inner, v.Number, moment(v.Time), v.Position, render.OneLine(v.Title))))
			}
		}
	}
	d.joined(inner, o)
	d.chain(inner, o)
}

// results draws what came of a hit.
func (d *Drawing) results(lead string, o evidence.Object) {
	for _, r := range o.Results {
		head := "→"
		switch {
		case r.ExitCode != nil:
			head += " " + d.ExitMark(r.ExitCode)
		case r.Failed:
			head += " " + d.Paint(render.Red, "failed")
		}
		text := d.Fit(render.OneLine(r.Snippet), render.Columns(lead)+8+render.Columns(r.Position))
		d.Print(lead + d.Paint(render.Dim, head) + " " + text + "  " + d.Paint(render.Dim, r.Position))
	}
}

// joinedWords maps kinds of edges to things of other kinds to labels.
var joinedWords = map[string]string{"names": "names", "same_issue": "same issue", "ran": "ran", "handled_by": "handled by", "suspected": "suspected"}

// joined draws the commits, commands, code and services that a hit is joined to.
func (d *Drawing) joined(lead string, o evidence.Object) {
	for _, e := range d.r.Edges {
		words, is := joinedWords[e.Kind]
		t, known := d.told[mention{id: e.To}]
		if !is || !known || e.From != o.ID {
			continue
		}
		if e.Kind == "suspected" {
			words += fmt.Sprintf(" %.2f (%s)", e.Confidence, e.Rule)
		}
		d.Print(d.line(lead+words+"  ", t, o.Time))
	}
}

// words returns an object's title, and its text if that says more.
func (d *Drawing) words(o evidence.Object) (title, said string) {
	title, said = render.OneLine(o.Title), render.OneLine(o.Snippet)
	if c := o.Claim; c != nil {
		return render.OneLine(strings.TrimSpace(fmt.Sprintf("%s %s: %s", c.Subject, c.Predicate, c.Value))), said
	}
	begins := strings.TrimSuffix(title, "…")
	tool, of, named := strings.Cut(begins, ": ")
	switch {
	case strings.HasPrefix(said, begins):
		return said, ""
	case named && strings.HasPrefix(said, of):
		return tool + ": " + said, ""
	case named && strings.HasPrefix(said, tool+" "+of): // a handover: to whom in the first line, then what
		return tool + ": " + said[len(tool)+1:], ""
	}
	return title, said
}

// place returns when and where an object was appended.
func (d *Drawing) place(o evidence.Object) string {
	parts := []string{d.Paint(render.Yellow, cmp.Or(o.Position, o.ID))}
	if !o.Time.IsZero() {
		parts = append(parts, render.Ago(d.Now, o.Time))
	}
	for _, s := range []string{o.Agent, o.Session, d.Home(o.Workspace), o.Visibility, o.Tenant} {
		if s != "" && s != "." {
			parts = append(parts, render.OneLine(s))
		}
	}
	return strings.Join(parts, d.Paint(render.Dim, " · "))
}

type remark struct{ colour, words string }

// remarks returns the remarks about an object.
func (d *Drawing) remarks(o evidence.Object) []remark {
	var all []remark
	if why := hitview.Because(o.Scores, d.Ranks); why != "" {
		all = append(all, remark{render.Dim, why})
	}
	if l := o.SupersededBy; l != nil {
		all = append(all, remark{render.Yellow, "no longer valid: " + d.link(*l, o.Position)})
	}
	if o.Removed {
		all = append(all, remark{render.Yellow, "ended by this"})
	}
	if !o.ValidUntil.IsZero() {
		all = append(all, remark{render.Dim, "valid until " + moment(o.ValidUntil)})
	}
	for _, l := range o.Contradicted {
		all = append(all, remark{render.Red, "otherwise: " + d.link(l, o.Position)})
	}
	if s := o.Support; s != nil {
		words := fmt.Sprintf("said %d times", s.Count)
		if s.Agents > 1 {
			words += fmt.Sprintf(", by %d agents", s.Agents)
		}
		all = append(all, remark{render.Green, words})
	}
	if o.Used > 0 {
		all = append(all, remark{render.Green, "used in " + render.Count(o.Used, "session")})
	}
	return all
}

// ruleWords maps the rules of links to labels, where the rule's name says too little.
var ruleWords = map[string]string{
	"version": "a newer version", "valid_until": "its time is over", "valid_from": "its time has not come", "other_agent": "another agent",
}

// link describes another object and its relation to the one at a position.
func (d *Drawing) link(l evidence.Link, of string) string {
	var parts []string
	what := l.Value
	if t, ok := d.told[mention{id: l.ID}]; ok && what == "" {
		what = t.title
	}
	if what != "" {
		parts = append(parts, fmt.Sprintf("%q", render.Cut(render.OneLine(what), render.CommandColumns)))
	}
	if l.Agent != "" {
		parts = append(parts, "by "+render.OneLine(l.Agent))
	}
	if !l.Time.IsZero() {
		parts = append(parts, render.Ago(d.Now, l.Time))
	}
	rule := cmp.Or(ruleWords[l.Rule], strings.ReplaceAll(l.Rule, "_", " "))
	if l.Confidence < 1 {
		rule += fmt.Sprintf(", confidence %.2f", l.Confidence)
	}
	parts = append(parts, "("+rule+")")
	for _, at := range l.Evidence {
		if at != of {
			parts = append(parts, "at "+at)
			break
		}
	}
	return strings.Join(parts, " ")
}

// left describes what the answer leaves out.
func (d *Drawing) left() string {
	l := d.r.Left
	if l == nil {
		return ""
	}
	var parts []string
	for _, c := range []struct {
		n         int
		one, many string
	}{
		{l.Objects, "object", "objects"},
		{l.Edges, "edge", "edges"},
		{l.Provenance, "event", "events"},
		{l.Versions, "version", "versions"},
		{l.Texts, "text", "texts"},
	} {
		if c.n > 0 {
			parts = append(parts, render.Count(c.n, c.one, c.many))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "left out: " + strings.Join(parts, ", ") + " (--nodes, --tokens and --limit show more)"
}

// moment returns a time in the local time zone.
func moment(t time.Time) string { return t.Local().Format(time.DateTime) }
