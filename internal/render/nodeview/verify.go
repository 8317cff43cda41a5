package nodeview

import (
	"fmt"
	"time"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/server/api"
)

// Verify prints how the live projections compare with replayed ones.
func Verify(t *render.Terminal, r api.VerifyReport) {
	for _, p := range r.Projections {
		mark := t.Paint(render.Green, "equal  ")
		if p.Differing > 0 || p.Error != "" || p.Live != p.Replayed {
			mark = t.Paint(render.Red, "DIFFERS")
		}
		t.Printf("%s %-8s %s keys, %d files, root %s\n", mark, p.Name, render.Thousands(p.Keys), p.Files, p.Live)
		if p.Live != p.Replayed {
			t.Printf("                 but replayed %s\n", p.Replayed)
		}
		if p.Error != "" {
			t.Printf("        %s\n", t.Paint(render.Red, p.Error))
		}
		for _, d := range p.Differences {
			where := d.Key
			if d.File != "" {
				where = d.File
			}
			line := fmt.Sprintf("%s %s", d.Kind, where)
			if d.Live != "" || d.Replayed != "" {
				line += fmt.Sprintf(" at byte %d: live %s, replayed %s", d.Byte, d.Live, d.Replayed)
			}
			t.Printf("        %s\n", line)
		}
		if more := p.Differing - int64(len(p.Differences)); more > 0 {
			t.Printf("        and %s more\n", render.Thousands(more))
		}
	}
	for _, tp := range r.Unread {
		t.Printf("%s %s: no process reads this partition, so neither state has its events\n", t.Paint(render.Red, "UNREAD "), tp)
	}
	t.Printf("%s events replayed in %s\n", render.Thousands(r.Events), query.Took(time.Duration(r.ElapsedMS)*time.Millisecond))
	if r.Erased > 0 {
		t.Printf("%s erased: recount log tail --topic erasures shows by which erasures\n", render.Count(r.Erased, "event"))
	}
}

// Rebuilt prints which projections were rebuilt, and how fast.
func Rebuilt(t *render.Terminal, r api.RebuildReport) {
	for _, p := range r.Projections {
		if len(p.Watermark) == 0 {
			t.Printf("%s rebuilt: the log has nothing for it\n", p.Name)
			continue
		}
		t.Printf("%s rebuilt up to %s\n", p.Name, p.Watermark)
	}
	t.Printf("%s events in %s, %s a second\n", render.Thousands(r.Events), query.Took(time.Duration(r.ElapsedMS)*time.Millisecond), render.Thousands(int64(r.PerSecond)))
}
