package commands

import (
	"context"
	"slices"
	"strconv"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
)

// Diff compares what led up to two commands: "it worked on Tuesday, why not today". An
// error is a *RequestError, a *NotVisibleError, a *NotFoundError, an *AmbiguousError, the
// context's, or one of the projections.
//
// The run-up of a command is the command and the commands that a walk back from it
// reaches, by session and by dependencies, in chronological order. What only one of the walks
// reached, but belongs to the session of both before either, or to another session in the same
// workspace, is in both run-ups: a walk is cut, and what it left out did not happen to one side alone. Neither of the two commands is in the
// other's run-up. The two run-ups are aligned by their templates; the two commands themselves are
// always on the same line.
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
	if err := t.causes(a, b); err != nil {
		return DiffResponse{}, err
	}
	a.share(*b)
	b.share(*a)
	a.drop(b.root)
	b.drop(a.root)
	for _, side := range []*runUp{a, b} {
		if side.rows, err = t.scanned(append(side.before, side.root)); err != nil {
			return DiffResponse{}, err
		}
	}
	lines := alignRuns(a, b)
	if err := t.variables(lines); err != nil {
		return DiffResponse{}, err
	}
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
	if resp.ReplaysA, err = t.replaysOf(a.last().Intent); err != nil {
		return DiffResponse{}, err
	}
	if resp.ReplaysB, err = t.replaysOf(b.last().Intent); err != nil {
		return DiffResponse{}, err
	}
	resp.Basis = t.basis(stitchFactors)
	if a.cut || b.cut {
		resp.Hint = "more earlier commands led to them; raise depth or nodes to compare more of those"
	}
	return resp, nil
}

// runUp is a command and the commands that led up to it, oldest first.
type runUp struct {
	root   stop
	before []stop
	scores map[schemas.EventID]float64 // what each stands for on the walk from the root
	rows   []Scanned                   // those before, then the root
	cut    bool
	causes map[schemas.EventID]bool // of a failure where the other worked: what why names
}

func (r *runUp) last() *Scanned { return &r.rows[len(r.rows)-1] }

// causes finds what why names as the causes of the failure, if one of two commands failed and the other
// worked.
func (t *narrativeQuery) causes(a, b *runUp) error {
	for _, side := range [][2]*runUp{{a, b}, {b, a}} {
		bad, good := side[0], side[1]
		if !bad.root.Failed() || !good.root.Succeeded() {
			continue
		}
		w, err := t.from(bad.root, whyFactors, walk{back: true, least: minCause})
		if err != nil {
			return err
		}
		if _, err := t.judged(w, bad.root); err != nil {
			return err
		}
		bad.causes = map[schemas.EventID]bool{}
		for _, c := range w.taken[1:] {
			bad.causes[c.ID] = true
		}
	}
	return nil
}

// share adds what only the other's walk reached before this root, if it happened to this root as well:
// it is of its session, or of neither's own in the same workspace.
func (r *runUp) share(o runUp) {
	for _, c := range o.before {
		own := c.Session != "" && c.Session == r.root.Session
		neither := (c.Session == "" || c.Session != o.root.Session) && c.Workspace != "" && c.Workspace == r.root.Workspace && c.SameHost(&r.root.Node)
		if !own && !neither || c.compareOlder(r.root) >= 0 || slices.ContainsFunc(r.before, func(b stop) bool { return b.ID == c.ID }) {
			continue
		}
		at, _ := slices.BinarySearchFunc(r.before, c, stop.compareOlder)
		r.before = slices.Insert(r.before, at, c)
	}
}

// drop removes a command.
func (r *runUp) drop(c stop) {
	r.before = slices.DeleteFunc(r.before, func(b stop) bool { return b.ID == c.ID })
}

func (t *narrativeQuery) runUp(ref string) (runUp, error) {
	root, err := t.root(ref)
	if err != nil {
		return runUp{}, err
	}
	w, err := t.from(root, stitchFactors, walk{back: true})
	if err != nil {
		return runUp{}, err
	}
	r := runUp{root: root, scores: map[schemas.EventID]float64{}, cut: w.cutDepth || w.cutNodes || w.cutFan}
	for _, c := range w.taken {
		r.scores[c.ID] = c.score
		if c.from != nil {
			r.before = append(r.before, c.stop)
		}
	}
	slices.SortFunc(r.before, stop.compareOlder)
	return r, nil
}

// Scores of similarity for the alignment. Between two sessions the same run scores no more than
// an equal text, so that of two sessions with a shared past, the sessions' own commands are paired.
const (
	alikeTemplate = 2 // the same but for its values
	alikeCommand  = 3
	alikeRun      = 5 // the same run, within one session
)

func alike(a, b *Scanned, within bool) int32 {
	switch {
	case a.ID == b.ID && within:
		return alikeRun
	case a.ContentHash == b.ContentHash:
		return alikeCommand
	case a.Template != "" && a.Template == b.Template:
		return alikeTemplate
	}
	return 0
}

func alignRuns(a, b *runUp) []DiffLine {
	n, m := len(a.rows)-1, len(b.rows)-1
	within := a.root.Session != "" && a.root.Session == b.root.Session
	pairs := align(n, m, func(i, j int) int32 { return alike(&a.rows[i], &b.rows[j], within) })
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

// pair is a line of an alignment: an index into each side, or -1 if the side has no entry
// on that line.
type pair struct{ a, b int }

// align returns the global alignment of two sequences of n and m entries by Needleman and
// Wunsch (1970), with gaps that cost nothing: the pairs, in the order of both sequences,
// with the highest sum of scores. alike is the score of two entries, 0 if they may not be
// paired. Among alignments of equal score it returns the one that pairs the latest entries
// (by the sum of the indexes), with entries only in a before those only in b. It takes
// n × m steps and as many 64-bit numbers.
func align(n, m int, alike func(i, j int) int32) []pair {
	// One point of score outweighs everything that pairing later entries can add.
	point := int64(min(n, m)+1) * int64(n+m)
	score := func(i, j int) int64 {
		if s := alike(i, j); s > 0 {
			return int64(s)*point + int64(i+j)
		}
		return -1
	}
	// best[i*width+j] is the best sum for the first i and the first j entries.
	width := m + 1
	best := make([]int64, (n+1)*width)
	for i := 1; i <= n; i++ {
		for j := 1; j <= m; j++ {
			b := max(best[(i-1)*width+j], best[i*width+j-1])
			if s := score(i-1, j-1); s >= 0 {
				b = max(b, best[(i-1)*width+j-1]+s)
			}
			best[i*width+j] = b
		}
	}
	var back []pair
	for i, j := n, m; i > 0 || j > 0; {
		switch here := best[i*width+j]; {
		case j > 0 && here == best[i*width+j-1]:
			j--
			back = append(back, pair{-1, j})
		case i > 0 && here == best[(i-1)*width+j]:
			i--
			back = append(back, pair{i, -1})
		default:
			i, j = i-1, j-1
			back = append(back, pair{i, j})
		}
	}
	slices.Reverse(back)
	return back
}
