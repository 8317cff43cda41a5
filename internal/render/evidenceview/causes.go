package evidenceview

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query/evidence"
)

// causeKinds are the edges by which one thing led to another. The first points from the cause to
// the effect, the others from the effect to the cause.
var causeKinds = []string{"tool_produces", "caused_by", "derived_from"}

// chain draws what led to a hit, each thing once: as a list, and as a tree if several things led to
// one.
func (d *Drawing) chain(lead string, o evidence.Object) {
	if o.Chain == nil || o.Chain.Length == 0 && len(o.Chain.Dangling) == 0 {
		return
	}
	d.Print(lead + d.Paint(render.Dim, "because"))
	hit := mention{id: o.ID}
	if slices.ContainsFunc(d.r.Edges, func(e evidence.Edge) bool { return e.From == o.ID && e.FromVersion != "" }) {
		hit.version = o.Position
	}
	d.causes(lead, hit, o.Time, map[mention]bool{hit: true})
	var notes []string
	if o.Chain.Cut {
		notes = append(notes, "cut here: --nodes shows more")
	}
	if o.Chain.Cyclic {
		notes = append(notes, "it leads back to itself")
	}
	if len(notes) > 0 {
		d.Text(lead, render.Dim, strings.Join(notes, "; "))
	}
}

// maxLinked is the maximum length of a list of causes that is drawn in full; the middle of a longer
// one is left out unless all is requested.
const maxLinked = 7

// cause is one thing that led to another.
type cause struct {
	mention
	at       time.Time // time of what it led to
	dangling bool
}

// causes draws what led to a thing: first the list of things with a single cause each, then, at the
// first with several causes, each of them with its own causes below.
func (d *Drawing) causes(lead string, of mention, at time.Time, seen map[mention]bool) {
	var row []cause
	next := d.causesOf(of, at, seen)
	for len(next) == 1 {
		row = append(row, next[0])
		next = d.causesOf(next[0].mention, d.told[next[0].mention].time, seen)
	}
	for i, c := range row {
		if left := len(row) - maxLinked; d.Width > 0 && left > 1 && i >= maxLinked-2 && i < len(row)-2 {
			if i == maxLinked-2 {
				d.Print(d.Paint(render.Dim, fmt.Sprintf("%s│  … %d more (--wide)", lead, len(row)-maxLinked)))
			}
			continue
		}
		fork := "├─ "
		if i == len(row)-1 && len(next) == 0 {
			fork = "└─ "
		}
		d.cause(lead+fork, c)
	}
	for i, c := range next {
		fork, below := "├─ ", "│  "
		if i == len(next)-1 {
			fork, below = "└─ ", "   "
		}
		d.cause(lead+fork, c)
		d.causes(lead+below, c.mention, d.told[c.mention].time, seen)
	}
}

// causesOf returns the causes of a thing that are not drawn yet.
func (d *Drawing) causesOf(of mention, at time.Time, seen map[mention]bool) []cause {
	var found []cause
	for _, e := range d.r.Edges {
		if !slices.Contains(causeKinds, e.Kind) {
			continue
		}
		effect, led := mention{e.From, e.FromVersion}, mention{e.To, e.ToVersion}
		if e.Kind == causeKinds[0] {
			effect, led = led, effect
		}
		if effect == of && !seen[led] {
			seen[led] = true
			found = append(found, cause{led, at, e.Dangling})
		}
	}
	return found
}

func (d *Drawing) cause(lead string, c cause) {
	switch t, known := d.told[c.mention]; {
	case c.dangling:
		d.Print(d.Paint(render.Dim, lead+"event "+c.id+", which is not known"))
	case !known:
		d.Print(d.Paint(render.Dim, lead+c.id))
	default:
		d.Print(d.line(lead, t, c.at))
	}
}

// line returns a thing in one line.
func (d *Drawing) line(lead string, t thing, than time.Time) string {
	var notes []string
	if !t.time.IsZero() && !than.IsZero() && !t.time.Equal(than) {
		notes = append(notes, render.Before(t.time, than))
	}
	if t.agent != "" {
		notes = append(notes, render.OneLine(t.agent))
	}
	note := strings.Join(notes, " · ")
	text := d.Fit(render.OneLine(t.title), render.Columns(lead)+render.Columns(t.label)+2+render.Columns(note)+2)
	line := d.Paint(render.Dim, lead) + d.Paint(render.Cyan, t.label) + "  " + text
	if note != "" {
		line += "  " + d.Paint(render.Dim, note)
	}
	return line
}
