package commands

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/recountdb/recount/projections/lexical"
	"github.com/recountdb/recount/projections/narrative"
	"github.com/recountdb/recount/projections/replays"
	"github.com/recountdb/recount/projections/segment"
	"github.com/recountdb/recount/projections/vector"
	"github.com/recountdb/recount/projections/vector/kernel"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
)

// Find answers a request. An error is a *RequestError, a *NotVisibleError, the
// context's, or one of the projections.
func Find(ctx context.Context, s Sources, r FindRequest) (FindResponse, error) {
	r, err := r.Normal()
	if err != nil {
		return FindResponse{}, err
	}
	names := []string{segment.Name, narrative.Name}
	if r.Text != "" {
		names = append(names, lexical.Name, vector.Name)
	}
	if r.Replayed {
		names = append(names, replays.Name)
	}
	a, err := s.open(ctx, r.Moment(), names...)
	if err != nil {
		return FindResponse{}, err
	}
	defer a.Close()
	f := &search{session: a, r: r, keys: map[runKey]int{}, kern: kernel.Best()}
	f.filters = compile(r.Filters, r.AsOf, f.exitCode)
	if r.Replayed {
		f.filters = append(f.filters, a.replayedFilter())
	}
	var w *wrote
	if r.Wrote != "" {
		var m matcher
		m, w = a.wroteFilter(r.Wrote)
		f.filters = append(f.filters, m)
	}
	f.resp = FindResponse{Status: query.StatusOK, Hits: []Hit{}, Watermark: f.Visible, AppliedFilters: []query.AppliedFilter{}}
	if err := f.run(); err != nil {
		return FindResponse{}, err
	}
	f.resp.Hint = w.hint(s.knownSince(f.resp.Hint, r.Filters.Since))
	f.resp.Proof, f.resp.Timing = f.Proof, f.Timing()
	return f.resp, nil
}

// search is the state of one find query.
type search struct {
	*session
	r       FindRequest
	filters []matcher
	resp    FindResponse

	query [schemas.EmbeddingDim]float32 // the question's embedding
	embed bool                          // whether there is one
	kern  *kernel.Set                   // its products are the same on every CPU
	// folded is the query's text in the form in which commands are compared with it.
	folded string

	// candidates has one entry per command or, with repeats, per run; keys indexes them.
	candidates []candidate
	keys       map[runKey]int
	// passed are the rows that pass the filters, nil without a filter; only lists them if
	// they are few.
	passed *segment.Selection
	only   map[schemas.TopicPartition][]int64
	closed bool  // only the words path brings candidates
	tally  tally // of the lexical path that the filters kept the most out of, for an empty answer
}

// tally counts the rows that the filters excluded from one path.
type tally struct {
	filtered int64
	blame    []int // rows that each filter alone kept out
}

func (f *search) newTally() *tally { return &tally{blame: make([]int, len(f.filters))} }

// runKey identifies a candidate: by content, or with repeats by position.
type runKey struct {
	hash uint64
	pos  schemas.Position
}

// candidate is a possible hit: the newest run of a command among those that the paths
// found.
type candidate struct {
	pos    schemas.Position
	time   int64
	cosine float64
	vector bool // whether it has an embedding to compare
	exact  bool // whether it has the whole text in it
}

// compareNewest orders candidates, and runs of one candidate: the newest first.
func (c *candidate) compareNewest(o *candidate) int {
	return cmp.Or(cmp.Compare(o.time, c.time), o.pos.Compare(c.pos))
}

func (f *search) run() error {
	for _, m := range f.filters {
		f.resp.AppliedFilters = append(f.resp.AppliedFilters, m.AppliedFilter)
	}
	if f.r.AsOf.Offsets != nil {
		f.resp.AppliedFilters = append(f.resp.AppliedFilters, query.AppliedFilter{Field: "as_of", Op: "below", Value: f.r.AsOf.Offsets.String()})
	}
	var chosen []fused
	var err error
	if f.r.Text == "" {
		chosen, err = f.newest()
	} else {
		chosen, err = f.rank()
	}
	if err != nil {
		return err
	}
	if len(chosen) > f.r.Limit {
		chosen = chosen[:f.r.Limit]
	}
	if err := f.hits(chosen); err != nil {
		return err
	}
	f.prove(chosen)
	if len(f.resp.Hits) == 0 {
		f.resp.Status = query.StatusEmpty
		f.resp.Hint, err = f.hint()
	}
	return err
}

// newest returns the newest commands, for a query without a text.
func (f *search) newest() ([]fused, error) {
	var out []fused
	var inner error
	read := int64(0)
	t := f.newTally()
	err := f.segment.Scan(f.Ctx, pushed(f.r.Filters, f.r.AsOf, f.Visible), segment.NewestFirst, func(v *segment.View) bool {
		read++
		ok, err := f.match(v, t)
		if err == nil && ok {
			before := len(f.candidates)
			var i int
			if i, err = f.candidate(v, "newest"); len(f.candidates) > before {
				out = append(out, fused{key: i})
			}
		}
		inner = err
		return err == nil && len(out) < f.r.Limit
	})
	f.RecordTime("newest")
	f.Step(query.Step{Operator: "newest", Counts: map[string]int64{"read": read, "kept_out": t.filtered, "commands": int64(len(out))}})
	return out, cmp.Or(inner, err)
}

// match reports whether a row may be answered.
func (f *search) match(v *segment.View, t *tally) (bool, error) {
	ok, err := matchAll(f.filters, v, t.blame)
	if err == nil && !ok {
		t.filtered++
	}
	return ok, err
}

func (f *search) keyOf(v *segment.View) runKey {
	if f.r.Repeats {
		return runKey{pos: v.Position()}
	}
	return runKey{hash: v.ContentHash()}
}

// candidate adds a row that may be answered, and returns its index. Runs of one command
// are one candidate, represented by the newest that the paths found. It returns -1 if the
// path may not add new candidates.
func (f *search) candidate(v *segment.View, path string) (int, error) {
	c := candidate{pos: v.Position(), time: v.UnixNano()}
	key := f.keyOf(v)
	i, known := f.keys[key]
	if known {
		if c.compareNewest(&f.candidates[i]) < 0 {
			f.candidates[i].pos, f.candidates[i].time = c.pos, c.time
		}
		return i, nil
	}
	if f.closed && path != pathWords {
		return -1, nil
	}
	// Only the path words needs it.
	c.exact = path == pathWords && f.folded != "" && strings.Contains(folded(v.Command()), f.folded)
	if err := f.compareVector(&c, v); err != nil {
		return -1, err
	}
	i = len(f.candidates)
	f.keys[key] = i
	f.candidates = append(f.candidates, c)
	return i, nil
}

// compareVector sets the candidate's cosine. Runs of one command have the same text and so
// the same embedding, except for their stated intents: the first run seen counts.
func (f *search) compareVector(c *candidate, v *segment.View) error {
	if !f.embed || v.Embedder() != f.s.Embedder.Name() {
		return nil
	}
	e, err := v.Embedding()
	if err != nil || e == nil {
		return err
	}
	c.cosine, c.vector = float64(f.kern.Dot(f.query[:], e)), true
	return nil
}

// hits reads the chosen rows and their outcomes.
func (f *search) hits(chosen []fused) error {
	positions := make([]schemas.Position, len(chosen))
	for i, c := range chosen {
		positions[i] = f.candidates[c.key].pos
	}
	f.resp.Hits = slices.Grow(f.resp.Hits, len(chosen))
	err := f.segment.ViewAt(f.Ctx, positions, func(i int, v *segment.View) error {
		h := Hit{Intent: intentOf(v)}
		h.Score, h.Scores = chosen[i].score, chosen[i].scores
		if err := f.complete(&h.Intent); err != nil {
			return err
		}
		f.resp.Hits = append(f.resp.Hits, h)
		return nil
	})
	f.RecordTime("rows")
	return err
}

// intentOf copies the fields of a row that an answer shows.
func intentOf(v *segment.View) Intent {
	c := strings.Clone
	h := Intent{
		ID: v.ID(), Position: v.Position(), Time: v.Time(), Untimed: schemas.TimeUnknown(v.Time()), Command: c(v.Command()), Cwd: c(v.Cwd()),
		Session: c(v.Session()), Workspace: c(v.Workspace()), Host: c(v.Host()), User: c(v.User()),
		Author: c(v.Author()), Shell: c(v.Shell()), Template: c(v.Template()), Category: CategoryName(v.Category()),
	}
	if code, known := v.ExitCode(); known {
		h.ExitCode = &code
	}
	if d, known := v.Duration(); known {
		ns := int64(d)
		h.Duration = &ns
	}
	return h
}

// joinOutcome adds the fields of an outcome that the row lacks.
func joinOutcome(h *Intent, o narrative.Outcome) {
	if h.ExitCode == nil && o.ExitCode != nil {
		h.ExitCode, h.Outcome = o.ExitCode, &o.Position
	}
	if h.Duration == nil && o.DurationNano >= 0 {
		h.Duration, h.Outcome = &o.DurationNano, &o.Position
	}
}

// prove completes the proof with the ranks of the chosen hits.
func (f *search) prove(chosen []fused) {
	if len(f.filters) > 0 {
		in := map[string]string{}
		for _, m := range f.filters {
			in[m.Field+" "+m.Op] = m.Value
		}
		f.Step(query.Step{Operator: "filter", Inputs: in})
	}
	if joined := f.joined.Load(); joined > 0 {
		s := query.Step{Operator: "outcome", Counts: map[string]int64{"looked_up": joined}}
		for _, h := range f.resp.Hits {
			if h.Outcome != nil {
				s.Hits = append(s.Hits, query.Evidence{Position: *h.Outcome})
			}
		}
		f.Step(s)
	}
	s := query.Step{Operator: "limit", Inputs: map[string]string{"limit": strconv.Itoa(f.r.Limit)}, Counts: map[string]int64{"hits": int64(len(chosen))}}
	for i, c := range chosen {
		s.Hits = append(s.Hits, query.Evidence{Position: f.candidates[c.key].pos, Rank: i + 1, Score: c.score})
	}
	f.Step(s)
}

// hint returns the reason why there are no hits.
func (f *search) hint() (string, error) {
	rows := 0
	var inner error
	// With a text the paths have counted what each filter excluded. Without a text the
	// search may have stopped early, so all rows are read.
	whole := f.r.Text == ""
	t := &f.tally
	if whole {
		t = f.newTally()
	}
	err := f.segment.Scan(f.Ctx, segment.Filter{Below: f.Visible}, segment.NewestFirst, func(v *segment.View) bool {
		rows++
		if whole {
			_, inner = matchAll(f.filters, v, t.blame)
		}
		return inner == nil && (whole || rows < 1)
	})
	if err := cmp.Or(inner, err); err != nil {
		return "", err
	}
	i := worst(t.blame)
	switch {
	case rows == 0 && !f.r.AsOf.IsZero():
		return fmt.Sprintf("no command is below %q; as_of may name too early a time, or leave a partition out", f.Visible), nil
	case rows == 0:
		return f.s.noCommands(), nil
	case i >= 0 && !whole:
		return fmt.Sprintf("the text matches commands, but the filters exclude them all; without %s there would be %d", f.filters[i].Words(), t.blame[i]), nil
	case t.filtered > 0:
		return "the text matches commands, but the filters exclude them all; remove two or more filters", nil
	case i >= 0:
		return fmt.Sprintf("no command passes the filters; without %s there would be %d", f.filters[i].Words(), t.blame[i]), nil
	case whole:
		return "no command passes the filters; remove two or more filters", nil
	}
	return "no command has a word or a concept of the text; try words that occur in the command itself", nil
}
