package evidenceview

import (
	"strings"
	"time"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/evidence"
)

// maxLines is the number of lines of a text that are drawn unless it is drawn whole.
const maxLines = 6

// Remembered draws what agents wrote down.
func (d *Drawing) Remembered(r evidence.RememberedResponse) {
	for i, x := range r.Items {
		if i > 0 {
			d.Print("")
		}
		head, style := x.Kind, render.Bold
		if x.Status != evidence.StatusOpen {
			head, style = head+" "+d.Paint(render.Red, x.Status), render.Dim
		}
		lines := strings.Split(strings.TrimSpace(render.PlainText(x.Text)), "\n")
		if x.Kind == "task" {
			lines[0] = strings.TrimSuffix(lines[0], " started") // its status is said before it
		}
		d.Print(head + "  " + d.Paint(style, d.Fit(lines[0], render.Columns(x.Kind)+2)))
		rest := lines[1:]
		for len(rest) > 0 && strings.TrimSpace(rest[0]) == "" {
			rest = rest[1:]
		}
		if !d.Whole && len(rest) > maxLines {
			rest = append(rest[:maxLines:maxLines], "…")
		}
		for _, line := range rest {
			d.Print("   " + d.Fit(line, 3))
		}
		d.Print("   " + d.Paint(render.Dim, d.written(x)))
		if l := x.By; l != nil && l.ID != "" {
			d.Print("   " + d.Paint(render.Dim, "replaced "+render.Ago(d.Now, l.Time)+" by "+render.OneLine(l.Agent)+" ("+l.Rule+"): "+strings.Join(l.Evidence, ", ")))
		}
		for _, l := range x.Disputed {
			d.Print("   " + d.Paint(render.Red, "otherwise: ") + render.OneLine(l.Value) + " by " + render.OneLine(l.Agent) + d.Paint(render.Dim, " "+strings.Join(l.Evidence, ", ")))
		}
	}
	if r.Truncated {
		d.Note("there are more: --limit shows more")
	}
	d.hint(r.Basis, len(r.Items))
}

// written says where something was written down, by whom and when, and what it is about.
func (d *Drawing) written(x evidence.Remembered) string {
	parts := []string{x.Position, render.Ago(d.Now, x.Time)}
	for _, s := range []string{x.Agent, x.Session, x.Task} {
		if s != "" {
			parts = append(parts, render.OneLine(s))
		}
	}
	if !x.ValidUntil.IsZero() {
		parts = append(parts, "until "+x.ValidUntil.Local().Format("2006-01-02 15:04"))
	}
	for _, s := range x.About {
		parts = append(parts, "about "+render.OneLine(bare(s)))
	}
	return strings.Join(parts, " · ")
}

// Announced draws who is working on what.
func (d *Drawing) Announced(r evidence.AnnouncedResponse) {
	for _, x := range r.Announcements {
		d.Print(d.Paint(render.Bold, render.OneLine(bare(x.Subject))) + "  " + author(x) + d.Paint(render.Dim, " since "+render.Ago(d.Now, x.Since)+", "+left(x, r.Now)+", "+x.Position))
		if x.Why != "" {
			d.Text("   ", "", render.OneLine(x.Why))
		}
	}
	if r.Truncated > 0 {
		d.Note("%d more: --limit shows more", r.Truncated)
	}
	d.hint(r.Basis, len(r.Announcements))
}

// hint draws the hint of an answer, apart from what the answer lists.
func (d *Drawing) hint(b query.Basis, listed int) {
	if listed > 0 {
		d.Hint(b)
	} else if b.Hint != "" {
		d.Text("", render.Dim, render.OneLine(b.Hint))
	}
}

// Announcement returns an announcement in one line. What the agent said is quoted.
func Announcement(x query.Announcement, now time.Time) string {
	s := author(x) + " is working on " + render.OneLine(bare(x.Subject)) + ", " + left(x, now)
	if x.Why != "" {
		s += ": \"" + render.OneLine(x.Why) + "\""
	}
	return s
}

func author(x query.Announcement) string {
	s := x.Agent
	if s == "" {
		s = "somebody"
	}
	if x.Session != "" {
		s += " (" + x.Session + ")"
	}
	return render.OneLine(s)
}

// left says how long an announcement still holds.
func left(x query.Announcement, now time.Time) string {
	d := x.Until.Sub(now).Round(time.Minute)
	switch {
	case d >= 48*time.Hour:
		return render.Count(int(d/(24*time.Hour)), "day") + " left"
	case d >= 2*time.Hour:
		return render.Count(int(d/time.Hour), "hour") + " left"
	}
	return render.Count(max(1, int(d/time.Minute)), "minute") + " left"
}

// bare returns the name of a subject without its kind.
func bare(subject string) string {
	if _, name, ok := strings.Cut(subject, ":"); ok {
		return name
	}
	return subject
}
