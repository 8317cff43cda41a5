package commands

import (
	"context"
	"slices"
	"strconv"

	"github.com/recountdb/recount/query"
)

// Diff compares what led up to two commands: "it worked on Tuesday, why not today". An
// error is a *RequestError, a *NotVisibleError, a *NotFoundError, an *AmbiguousError, the
// context's, or one of the projections.
//
// The run-up of a command is the command and the commands that a walk back from it
// reaches, by session and by dependencies, in chronological order. The two run-ups are
// aligned by their templates; the two commands themselves are always on the same line.
func Diff(ctx context.Context, s Sources, r DiffRequest) (DiffResponse, error) {
	r, err := r.Normal()
	if err != nil {
		return DiffResponse{}, err
	}
	t, err := s.openNarrative(ctx, r.Walk, r.Moment)
	if err != nil {
		return DiffResponse{}, err
	}
	defer t.Close()
	var sides [2]runUp
	for i, ref := range []string{r.A, r.B} {
		if sides[i], err = t.runUp(ref); err != nil {
			return DiffResponse{}, err
		}
	}
	a, b := &sides[0], &sides[1]
	lines := alignRuns(a, b)
	t.RecordTime("align")
	resp := DiffResponse{A: a.last().ID, B: b.last().ID, Lines: []DiffLine{}, Counts: map[string]int64{DiffCommon: 0, DiffChanged: 0, DiffOnlyA: 0, DiffOnlyB: 0}}
	for _, l := range lines {
		resp.Lines = append(resp.Lines, l)
		resp.Counts[l.Way]++
	}
	t.proveOutcomes(slices.Concat(a.rows, b.rows))
	st := query.Step{Operator: "align", Inputs: map[string]string{"a": strconv.Itoa(len(a.rows)), "b": strconv.Itoa(len(b.rows))}, Counts: map[string]int64{}}
	for way, n := range resp.Counts {
		st.Counts[way] = n
	}
	t.Step(st)
	resp.Verdict = verdict(a, b, lines)
	resp.Basis = t.basis(stitchFactors)
	if a.cut || b.cut {
		resp.Hint = "more earlier commands led to them; raise depth or nodes to compare more of those"
	}
	return resp, nil
}

// runUp is a command and the commands that led up to it, oldest first, the command last.
type runUp struct {
	rows   []Scanned
	scores []float64 // what each stands for on the walk from the last
	cut    bool
}

func (r *runUp) last() *Scanned { return &r.rows[len(r.rows)-1] }

func (t *narrativeQuery) runUp(ref string) (runUp, error) {
	root, err := t.root(ref)
	if err != nil {
		return runUp{}, err
	}
	w, err := t.from(root, stitchFactors, walk{back: true})
	if err != nil {
		return runUp{}, err
	}
	before := slices.SortedFunc(slices.Values(w.taken[1:]), func(a, b *reached) int { return a.compareOlder(b.stop) })
	r := runUp{cut: w.cutDepth || w.cutNodes || w.cutFan}
	var stops []stop
	for _, c := range append(before, w.taken[0]) {
		stops, r.scores = append(stops, c.stop), append(r.scores, c.score)
	}
	r.rows, err = t.scanned(stops)
	return r, err
}

// Scores of similarity for the alignment. The same run scores no more than an equal text,
// so that for two sessions with a shared past, the sessions' own commands are paired.
const (
	alikeTemplate = 2 // the same but for its values
	alikeCommand  = 3
)

func alike(a, b *Scanned) int32 {
	switch {
	case a.ContentHash == b.ContentHash:
		return alikeCommand
	case a.Template != "" && a.Template == b.Template:
		return alikeTemplate
	}
	return 0
}

func alignRuns(a, b *runUp) []DiffLine {
	n, m := len(a.rows)-1, len(b.rows)-1
	pairs := align(n, m, func(i, j int) int32 { return alike(&a.rows[i], &b.rows[j]) })
	pairs = append(pairs, pair{n, m})
	var lines []DiffLine
	for _, p := range pairs {
		var l DiffLine
		switch {
		case p.b < 0:
			l = DiffLine{Way: DiffOnlyA, A: &a.rows[p.a].Intent}
		case p.a < 0:
			l = DiffLine{Way: DiffOnlyB, B: &b.rows[p.b].Intent}
		default:
			l = DiffLine{Way: DiffCommon, A: &a.rows[p.a].Intent, B: &b.rows[p.b].Intent, Changes: changes(&a.rows[p.a], &b.rows[p.b])}
			if len(l.Changes) > 0 {
				l.Way = DiffChanged
			}
		}
		lines = append(lines, l)
	}
	return lines
}
