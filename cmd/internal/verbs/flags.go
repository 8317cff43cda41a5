package verbs

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/cmd/internal/cli"
	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/internal/render/diagram"
	"github.com/recountdb/recount/internal/timespec"
	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands/ask"
	"github.com/recountdb/recount/schemas"
)

// MomentFlags select the state of the data that a question is answered from.
type MomentFlags struct {
	AsOf, AtLeast string
	Proof         bool
}

func (m *MomentFlags) Add(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&m.AsOf, "as-of", "", "answer from what was known at a time (2h, 3d, yesterday, 2026-11-20, RFC 3339) or at the watermark of an earlier answer")
	f.StringVar(&m.AtLeast, "at-least", "", "wait until everything below these offsets is visible: TOPIC/PARTITION:NEXT,…")
	f.BoolVar(&m.Proof, "proof", false, "print the proof: the steps by which the answer was computed")
}

// Moment returns the state that the flags select. Ages are relative to now.
func (m *MomentFlags) Moment(now time.Time) (r query.Moment, err error) {
	if err := r.AsOf.UnmarshalText([]byte(m.AsOf)); err != nil {
		t, ageErr := timespec.Parse(now, m.AsOf)
		if ageErr != nil {
			return r, usage.Errorf("--as-of %q: %w, or a watermark (TOPIC/PARTITION:NEXT,…)", m.AsOf, ageErr)
		}
		r.AsOf.Time = t
	}
	if r.AtLeast, err = schemas.ParseWatermark(m.AtLeast); err != nil {
		return r, usage.Errorf("--at-least: %w", err)
	}
	return r, nil
}

// drawFlags select how an answer about narratives is printed.
type drawFlags struct {
	wide, dot, mermaid bool
}

func (d *drawFlags) add(c *cobra.Command) {
	c.Flags().BoolVar(&d.wide, "wide", false, "do not cut long lines")
	c.Flags().BoolVar(&d.dot, "dot", false, "print a diagram for Graphviz: … --dot | dot -Tsvg")
	c.Flags().BoolVar(&d.mermaid, "mermaid", false, "print a diagram for Mermaid, as Markdown on many sites shows it")
}

// WalkFlags limit a walk over the narrative.
type WalkFlags struct {
	ask.Walk
	MomentFlags
	drawFlags
}

func (w *WalkFlags) add(c *cobra.Command) {
	f := c.Flags()
	f.IntVar(&w.Depth, "depth", ask.DefaultDepth, fmt.Sprintf("maximum distance in edges, up to %d", ask.MaxDepth))
	f.IntVar(&w.Nodes, "nodes", ask.DefaultNodes, fmt.Sprintf("maximum number of commands, up to %d", ask.MaxNodes))
	f.StringSliceVar(&w.Kinds, "kind", nil, "follow only edges of these kinds: temporal, retry, fixes, dependency, branch, causal, similar; may be repeated")
	f.Float64Var(&w.MinWeight, "min-weight", 0, "follow only edges with at least this weight, 0 to 1")
	_ = c.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions(schemas.NarrativeEdges[:], cobra.ShellCompDirectiveNoFileComp)) // fails only for a flag that does not exist
	w.MomentFlags.Add(c)
	w.drawFlags.add(c)
}

// walk returns the walk that the flags describe. Zero is invalid: unlike in a request, it is no
// default.
func (w *WalkFlags) walk(t *render.Terminal) (ask.Walk, error) {
	if (w.dot && w.mermaid) || t.JSON && (w.dot || w.mermaid) {
		return w.Walk, usage.Errorf("--json, --dot and --mermaid: give one of them")
	}
	for _, b := range []struct {
		name    string
		n, most int
	}{{"depth", w.Depth, ask.MaxDepth}, {"nodes", w.Nodes, ask.MaxNodes}} {
		if b.n < 1 || b.n > b.most {
			return w.Walk, usage.Errorf("--%s %d: want 1 to %d", b.name, b.n, b.most)
		}
	}
	return w.Walk, nil
}

// OfCommands reports whether a flag is given that only an answer about commands has.
func (w *WalkFlags) OfCommands() bool { return w.dot || w.mermaid || w.AsOf != "" }

// print prints an answer in the requested form, and fails if the answer is empty.
func (w *WalkFlags) print(t *render.Terminal, answer any, b query.Basis, g func() diagram.Diagram, draw func(*render.Drawing)) error {
	return PrintAnswer(t, answer, b, w.Proof && !w.dot && !w.mermaid, func() {
		switch {
		case w.dot:
			t.Printf("%s", g().Dot())
		case w.mermaid:
			t.Printf("%s", g().Mermaid())
		default:
			draw(t.NewDrawing(w.wide, time.Now()))
		}
	})
}

// PrintAnswer prints an answer, for people by show. An empty answer ends with exit code 1.
func PrintAnswer(t *render.Terminal, answer any, b query.Basis, proof bool, show func()) error {
	if t.JSON {
		if err := t.PrintJSON(answer); err != nil {
			return err
		}
	} else {
		show()
		if proof {
			t.PrintProof(b.Proof, b.Watermark.String())
		}
	}
	if b.Status == query.StatusEmpty {
		return cli.ExitError(cli.ExitNothing)
	}
	return nil
}
