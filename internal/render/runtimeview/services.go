package runtimeview

import (
	"fmt"
	"strings"
	"time"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/internal/render/codeview"
	"github.com/recountdb/recount/internal/render/diagram"
	"github.com/recountdb/recount/internal/shellwords"
	"github.com/recountdb/recount/query/runtime"
)

// Services prints services, each with the calls that it makes.
func Services(t *render.Terminal, r runtime.ServicesResponse) {
	for _, s := range r.Services {
		if s.Outside {
			t.Printf("%s  %s\n", t.Paint(render.Bold, render.OneLine(s.Name)), t.Paint(render.Dim, strings.TrimSpace("sends no spans  "+render.OneLine(s.System))))
		} else {
			t.Printf("%s  %s\n", t.Paint(render.Bold, render.OneLine(s.Name)), t.Paint(render.Dim, fmt.Sprintf("%s, last %sZ%s", render.Count(int(s.Spans), "span"), s.Last.UTC().Format(time.DateTime), version(s.Versions))))
			if s.Folded > 0 {
				t.Printf("    %s\n", t.Paint(render.Dim, fmt.Sprintf("%s, of which traffic sums up %s as \"other\"", render.Count(s.Operations, "operation"), render.Thousands(int64(s.Folded)))))
			}
			if s.Other > 0 {
				t.Printf("    %s\n", t.Paint(render.Dim, render.Thousands(int64(s.Other))+" calls are of operations beyond the first 10,000, kept as \"other\""))
			}
			if s.Home != nil {
				t.Printf("    %s  %s%s\n", render.OneLine(homeName(s.Home)), t.Paint(render.Dim, "by "+s.Home.Rule+" "+render.OneLine(s.Home.Evidence)), codeview.Sure(s.Home.Confidence))
			} else {
				t.Printf("    %s\n", t.Paint(render.Dim, "repository unknown"))
			}
		}
		for _, x := range r.Calls {
			if x.Caller == s.Name && !s.Outside {
				t.Printf("    → %s  %s  %s  %s\n", t.Paint(render.Cyan, render.OneLine(x.Callee)), x.Kind, measured(t, x.Measure), t.Paint(render.Dim, fmt.Sprintf("confidence %.2f", x.Confidence)))
			}
		}
	}
	t.Truncated(r.Truncated, "the next page: --after "+shellwords.Join([]string{r.Next}))
}

// version returns the version that was seen last, or "".
func version(all []runtime.Version) string {
	if len(all) == 0 || all[0].Version == "" {
		return ""
	}
	return ", version " + render.OneLine(all[0].Version)
}

func homeName(h *runtime.Home) string {
	if h.Dir == "" {
		return h.Repo
	}
	return h.Repo + ":" + h.Dir
}

// ServicesDiagram draws the services as boxes and the calls as arrows, dashed for messages.
func ServicesDiagram(r runtime.ServicesResponse) diagram.Diagram {
	keys := map[string]string{}
	key := func(name string, outside bool) string { return keys[fmt.Sprint(outside, name)] }
	var g diagram.Group
	for i, s := range r.Services {
		k := fmt.Sprintf("s%d", i)
		keys[fmt.Sprint(s.Outside, s.Name)] = k
		lines := []string{render.OneLine(s.Name)}
		if s.Outside {
			lines = append(lines, "sends no spans")
		} else if s.Home != nil {
			lines = append(lines, render.OneLine(homeName(s.Home)))
		}
		g.Boxes = append(g.Boxes, diagram.Box{Key: k, Lines: lines, Failed: s.Errors > 0})
	}
	d := diagram.Diagram{Groups: []diagram.Group{g}}
	for _, x := range r.Calls {
		label := fmt.Sprintf("%s %s", x.Kind, render.Thousands(int64(x.Count)))
		if x.Errors > 0 {
			label += fmt.Sprintf(", %s failed", render.Thousands(int64(x.Errors)))
		}
		from, to := key(x.Caller, false), key(x.Callee, x.Outside)
		if from != "" && to != "" {
			d.Arrows = append(d.Arrows, diagram.Arrow{From: from, To: to, Label: label, Dashed: x.Kind == "consumes" || x.Kind == "produces"})
		}
	}
	return d
}
