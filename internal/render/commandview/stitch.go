package commandview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query/commands/ask"
	"github.com/recountdb/recount/schemas"
)

// maxLanes is the maximum number of lanes drawn side by side; further sessions share the last one.
const maxLanes = 8

// maxEdges is the maximum number of edges shown below a command; --wide shows all.
const maxEdges = 3

// Stitch draws a narrative as lanes, one for each session, from the oldest command to the
// newest. The order within a lane shows which command follows which; the other edges are listed
// below the command they lead to.
func Stitch(d *render.Drawing, r ask.StitchResponse) {
	l := lanes{d: d, root: r.Root, last: map[string]int{}, at: map[string]int{}, cwd: map[string]string{}}
	var ids []schemas.EventID
	index := map[schemas.EventID]int{}
	for i, n := range r.Nodes {
		ids = append(ids, n.ID)
		index[n.ID] = i
		l.last[laneOf(n.Intent)] = i
	}
	d.IDs = render.Abbreviate(append(ids, r.Root))
	incoming := map[schemas.EventID][]ask.Edge{}
	for _, e := range r.Edges {
		incoming[e.To] = append(incoming[e.To], e)
	}
	d.Print(fmt.Sprintf("around %s: %s in %s, %s", d.Paint(render.Yellow, d.IDs[r.Root]), render.Count(len(r.Nodes), "command"),
		render.Count(len(l.last), "session"), render.Count(len(r.Edges), "edge")))
	day, previous := "", map[string]schemas.EventID{}
	for i, n := range r.Nodes {
		lane := laneOf(n.Intent)
		if on := render.When(n.Time, time.DateOnly); on != day {
			day = on
			d.Print("", d.Paint(render.Bold, day))
		}
		l.node(n, i == l.last[lane], incoming[n.ID], previous[lane])
		previous[lane] = n.ID
	}
	if r.Truncated && r.Hint == "" {
		d.Print("", d.Paint(render.Dim, "there is more: raise --depth or --nodes"))
	}
	d.Hint(r.Basis)
}

// laneOf names the lane of a command: its session, or for commands without one their directory.
func laneOf(in ask.Intent) string {
	if in.Session != "" {
		return "session " + in.Session
	}
	if who := strings.Trim(in.User+"@"+in.Host, "@"); who != "" {
		return "no session, " + who
	}
	return "no session"
}

// lanes are the sessions that are running at a row, each in a column.
type lanes struct {
	d    *render.Drawing
	root schemas.EventID
	open []string // the lane in each column, "" for a free one
	last map[string]int
	at   map[string]int
	cwd  map[string]string
}

// laneColours are the colours of lanes; further lanes start again with the first.
var laneColours = []string{render.Cyan, "35", "34", render.Green, render.Yellow, render.Red}

// clock has the width of the time in a row.
const clock = "15:04:05"

// bars draws all lanes, with a mark in one of them.
func (l *lanes) bars(mark string, at int) string {
	var b strings.Builder
	for i, lane := range l.open {
		switch {
		case i == at:
			b.WriteString(mark)
		case lane != "":
			b.WriteString("│")
		default:
			b.WriteString(" ")
		}
		b.WriteString(" ")
	}
	return b.String()
}

// begin assigns a column to a lane.
func (l *lanes) begin(lane string) int {
	at := slices.Index(l.open, "")
	switch {
	case at >= 0:
		l.open[at] = lane
	case len(l.open) < maxLanes:
		at = len(l.open)
		l.open = append(l.open, lane)
	default:
		at = maxLanes - 1
		l.open[at] = lane
	}
	l.at[lane] = at
	return at
}

func (l *lanes) node(n ask.Node, last bool, edges []ask.Edge, previous schemas.EventID) {
	lane := laneOf(n.Intent)
	at, known := l.at[lane]
	blank := strings.Repeat(" ", len(clock)+1)
	if !known || l.open[at] != lane {
		at = l.begin(lane)
		about := []string{lane}
		if n.Author != "" {
			about = append(about, "by "+n.Author)
		}
		lead := blank + l.bars("╷", at)
		l.d.Print(l.d.Paint(laneColours[at%len(laneColours)], lead+l.d.Fit(render.OneLine(strings.Join(about, ", ")), render.Columns(lead))))
	}
	mark, style := "●", ""
	if n.ID == l.root {
		mark, style = "◆", render.Bold
	}
	shown := n.Time.Local().Format(clock)
	if n.Untimed {
		shown = strings.Repeat("-", len(clock))
	}
	lead := shown + " " + l.bars(mark, at)
	l.d.Print(Line(l.d, lead, n.Intent, style, where(l.d, n.Cwd, l.cwd[lane])))
	l.cwd[lane] = n.Cwd
	if last {
		l.open[at] = ""
		for len(l.open) > 0 && l.open[len(l.open)-1] == "" {
			l.open = l.open[:len(l.open)-1]
		}
	}
	l.edges(edges, previous, blank)
}

// edges lists what leads to a command, the heaviest first, except that it follows the previous
// command in its lane.
func (l *lanes) edges(edges []ask.Edge, previous schemas.EventID, blank string) {
	edges = slices.DeleteFunc(slices.Clone(edges), func(e ask.Edge) bool { return e.Kind == "temporal" && e.From == previous })
	slices.SortStableFunc(edges, func(a, b ask.Edge) int { return cmp.Compare(b.Weight, a.Weight) })
	lead := blank + l.bars("", -1) + "  "
	for i, e := range edges {
		if i == maxEdges && l.d.Width > 0 && len(edges) > i+1 {
			l.d.Print(l.d.Paint(render.Dim, fmt.Sprintf("%s… %d more edges (--wide)", lead, len(edges)-i)))
			return
		}
		s := "← " + l.d.IDs[e.From] + " " + edgeText(l.d, e)
		l.d.Print(l.d.Paint(render.Dim, lead+l.d.Fit(s, render.Columns(lead))))
	}
}
