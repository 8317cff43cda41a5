package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/query/runtime"
)

func (a *app) runtimeServicesCmd() *cobra.Command {
	var f windowFlags
	var after string
	var dot, mermaid bool
	c := &cobra.Command{
		Use:   "services",
		Short: "Show the service map: services, what they are built from, and who calls whom",
		Long: `Show the services that send spans, with their versions and the repository that each is
built from, and the calls between them. Exits with 1 if there is none.`,
		Example: `  recount runtime services --since 24h
  recount runtime services --mermaid
  recount runtime services --dot | dot -Tsvg > services.svg`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if (dot && mermaid) || a.json && (dot || mermaid) {
				return usagef("--json, --dot and --mermaid: give one of them")
			}
			return askRuntime(cmd.Context(), a, &f, runtime.ServicesQuestion, func(w runtime.Window) runtime.ServicesRequest {
				return runtime.ServicesRequest{Window: w, After: after, Limit: f.limit}
			}, func(r runtime.ServicesResponse) {
				switch {
				case dot:
					a.printf("%s", servicesDiagram(r).dot())
				case mermaid:
					a.printf("%s", servicesDiagram(r).mermaid())
				default:
					a.printServices(r)
				}
			})
		},
	}
	f.add(c, runtime.DefaultServices)
	c.Flags().StringVar(&after, "after", "", "the next page: what the page before names at its end")
	c.Flags().BoolVar(&dot, "dot", false, "print a diagram for Graphviz: … --dot | dot -Tsvg")
	c.Flags().BoolVar(&mermaid, "mermaid", false, "print a diagram for Mermaid, as Markdown on many sites shows it")
	return c
}

func (a *app) printServices(r runtime.ServicesResponse) {
	for _, s := range r.Services {
		if s.Outside {
			a.printf("%s  %s\n", a.paint(bold, oneLine(s.Name)), a.paint(dim, strings.TrimSpace("sends no spans  "+oneLine(s.System))))
		} else {
			a.printf("%s  %s\n", a.paint(bold, oneLine(s.Name)), a.paint(dim, fmt.Sprintf("%s, last %sZ%s", counted(int(s.Spans), "span"), s.Last.UTC().Format(time.DateTime), version1(s.Versions))))
			if s.Folded > 0 {
				a.printf("    %s\n", a.paint(dim, fmt.Sprintf("%s, of which traffic sums up %s as \"other\"", counted(s.Operations, "operation"), thousands(int64(s.Folded)))))
			}
			if s.Other > 0 {
				a.printf("    %s\n", a.paint(dim, thousands(int64(s.Other))+" calls are of operations beyond the first 10,000, kept as \"other\""))
			}
			if s.Home != nil {
				a.printf("    %s  %s%s\n", oneLine(homeName(s.Home)), a.paint(dim, "by "+s.Home.Rule+" "+oneLine(s.Home.Evidence)), sure(s.Home.Confidence))
			} else {
				a.printf("    %s\n", a.paint(dim, "of no repository that is known"))
			}
		}
		for _, x := range r.Calls {
			if x.Caller == s.Name && !s.Outside {
				a.printf("    → %s  %s  %s  %s\n", a.paint(cyan, oneLine(x.Callee)), x.Kind, a.measured(x.Measure), a.paint(dim, fmt.Sprintf("confidence %.2f", x.Confidence)))
			}
		}
	}
	a.truncated(r.Truncated, "the next page: --after "+shellJoin([]string{r.Next}))
}

// version1 returns the version that was seen last, or "".
func version1(all []runtime.Version) string {
	if len(all) == 0 || all[0].Version == "" {
		return ""
	}
	return ", version " + oneLine(all[0].Version)
}

func homeName(h *runtime.Home) string {
	if h.Dir == "" {
		return h.Repo
	}
	return h.Repo + ":" + h.Dir
}

// servicesDiagram draws the services as boxes and the calls as arrows, dashed for messages.
func servicesDiagram(r runtime.ServicesResponse) diagram {
	keys := map[string]string{}
	key := func(name string, outside bool) string { return keys[fmt.Sprint(outside, name)] }
	var g diagramGroup
	for i, s := range r.Services {
		k := fmt.Sprintf("s%d", i)
		keys[fmt.Sprint(s.Outside, s.Name)] = k
		lines := []string{oneLine(s.Name)}
		if s.Outside {
			lines = append(lines, "sends no spans")
		} else if s.Home != nil {
			lines = append(lines, oneLine(homeName(s.Home)))
		}
		g.boxes = append(g.boxes, diagramBox{key: k, lines: lines, failed: s.Errors > 0})
	}
	d := diagram{groups: []diagramGroup{g}}
	for _, x := range r.Calls {
		label := fmt.Sprintf("%s %s", x.Kind, thousands(int64(x.Count)))
		if x.Errors > 0 {
			label += fmt.Sprintf(", %s failed", thousands(int64(x.Errors)))
		}
		from, to := key(x.Caller, false), key(x.Callee, x.Outside)
		if from != "" && to != "" {
			d.arrows = append(d.arrows, diagramArrow{from: from, to: to, label: label, dashed: x.Kind == "consumes" || x.Kind == "produces"})
		}
	}
	return d
}
