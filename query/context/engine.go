package context

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/code"
)

// Sources are the data that the question is answered from.
type Sources struct {
	// Code has the graphs. Required.
	Code code.Sources
	// Cache keeps what is derived from snapshots across questions. Required.
	Cache *Cache
	// Content reads the content of a file, nil where it is not known any more. Without it only the
	// files whose facts hold it have a text.
	Content func(ctx context.Context, of Content) ([]byte, error)
	// Contents reads the contents of many files together, in any order, without those that are not
	// known any more. It may be nil: then each is read by Content.
	Contents func(ctx context.Context, of []Content, yield func(Content, []byte) error) error
	// Memory returns what was judged for past tasks with words like a task, in a repository. It may be
	// nil.
	Memory func(ctx context.Context, task, repository string) ([]Used, error)
}

// engine is the state of one question.
type engine struct {
	ctx  context.Context
	s    Sources
	r    Request
	st   *code.Study
	a    *query.Session[query.Step]
	c    *corpus
	task task

	// given are the files of the request and those of its change; changed are the symbols of the
	// change.
	given   []int32
	changed []int32
	// used has the symbols that were useful for similar tasks, and unused factors of files that were
	// not.
	used, unused map[int32]float64
	unknown      []string // given files that the revision does not have
	terms        []found
	missing      []taskTerm
	pointed      pointed
	// described are the symbols that the task describes, the best first.
	described []code.Scored
	// lines are those of the files that were read.
	lines map[int32][]string
}

// begin opens what a request is about. The caller closes the study.
func begin(ctx context.Context, s Sources, r Request) (*engine, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	r = r.normal()
	st, err := code.OpenStudy(ctx, s.Code, code.Scope{Repo: r.Repository, At: r.Revision, AtLeast: r.AtLeast, WaitMS: r.WaitMS})
	if err != nil {
		return nil, err
	}
	e := &engine{ctx: ctx, s: s, r: r, st: st, a: st.Session(), lines: map[int32][]string{}}
	if e.c, err = s.Cache.corpusOf(ctx, st, s); err != nil {
		st.Close()
		return nil, err
	}
	e.a.RecordTime("corpus")
	e.task = readTask(newSplitter(), r.Task)
	if err := e.readGiven(); err != nil {
		st.Close()
		return nil, err
	}
	return e, nil
}

// rank ranks files and symbols.
func (e *engine) rank() (files, symbols []fused, err error) {
	if files, err = e.rankFiles(); err != nil {
		return nil, nil, err
	}
	e.a.RecordTime("files")
	symbols, err = e.rankSymbols(files)
	e.a.RecordTime("symbols")
	return files, symbols, err
}

// Ranked has the rankings of a request before they are packed, for measurements.
type Ranked struct {
	Files   []File
	Symbols []RankedSymbol
	// Belongs says how much speaks for the task being about the repository: see belonging. It is 0
	// where no word of the task is known.
	Belongs float64
}

// RankedSymbol is a symbol with what brought it.
type RankedSymbol struct {
	code.Symbol
	Score    float64
	Channels []Channel
}

// Rank ranks files and symbols for a request. An error is one of those of Pack.
func Rank(ctx context.Context, s Sources, r Request) (Ranked, error) {
	e, err := begin(ctx, s, r)
	if err != nil {
		return Ranked{}, err
	}
	defer e.st.Close()
	files, symbols, err := e.rank()
	if err != nil {
		return Ranked{}, err
	}
	var out Ranked
	if len(e.terms) > 0 {
		out.Belongs = e.belonging()
	}
	for _, f := range files {
		out.Files = append(out.Files, e.file(f))
	}
	for _, x := range symbols {
		out.Symbols = append(out.Symbols, RankedSymbol{e.st.Symbol(x.key), x.score, x.strongest()})
	}
	return out, nil
}

// Pack answers a request. An error is one of those of code.Symbols.
func Pack(ctx context.Context, s Sources, r Request) (Response, error) {
	e, err := begin(ctx, s, r)
	if err != nil {
		return Response{}, err
	}
	st := e.st
	defer st.Close()
	r = e.r
	files, symbols, err := e.rank()
	if err != nil {
		return Response{}, err
	}
	resp := Response{Revision: st.Revision(), Budget: r.Budget, Files: []File{}, Items: []Item{}}
	hint := ""
	if resp.Known, hint = e.known(); !resp.Known {
		files, symbols = files[:min(len(files), 3)], nil
	}
	if len(e.unknown) > 0 {
		hint = strings.TrimPrefix(hint+"; the revision does not have "+strings.Join(e.unknown[:min(len(e.unknown), 5)], ", "), "; ")
	}
	resp.Hint = hint
	if err := e.pack(&resp, files, symbols); err != nil {
		return Response{}, err
	}
	e.a.RecordTime("pack")
	e.a.Step(query.Step{Operator: "pack", Counts: map[string]int64{"budget": int64(r.Budget), "tokens": int64(resp.Tokens), "files": int64(len(resp.Files)), "items": int64(len(resp.Items))}})
	filters := []query.AppliedFilter{{Field: "budget", Op: "le", Value: fmt.Sprint(r.Budget)}}
	if r.Tests != TestsAlso {
		filters = append(filters, query.AppliedFilter{Field: "tests", Op: "eq", Value: r.Tests})
	}
	resp.Basis = query.BasisOf(e.a, len(resp.Files)+len(resp.Items) == 0, hint, filters)
	return resp, nil
}

// readGiven finds the given files, and what changed between two revisions.
func (e *engine) readGiven() error {
	add := func(i int32) {
		if !slices.Contains(e.given, i) {
			e.given = append(e.given, i)
		}
	}
	for _, f := range e.r.Files {
		f = strings.TrimPrefix(strings.TrimPrefix(f, "./"), e.st.Revision().Repo+"/")
		found := e.c.located(f)
		if len(found) != 1 {
			e.unknown = append(e.unknown, f)
			continue
		}
		add(found[0])
	}
	if e.r.Base != "" {
		paths, symbols, err := e.st.Differences(e.r.Base)
		if err != nil {
			return err
		}
		e.changed = symbols
		for _, p := range paths {
			if i, ok := e.c.byPath[p]; ok && len(e.given) < MaxFiles {
				add(i)
			}
		}
		if len(paths) == 0 && e.r.Task == "" && len(e.r.Files) == 0 {
			return &query.NotFoundError{Ref: e.r.Base + ".." + e.r.Revision, Hint: "no file differs between the two revisions"}
		}
	}
	if len(e.unknown) > 0 && len(e.given) == 0 && strings.TrimSpace(e.r.Task) == "" && e.r.Base == "" {
		return &query.NotFoundError{Ref: e.unknown[0], Hint: "the revision has no such file; give its path in the repository, or name another revision"}
	}
	return nil
}

// rankFiles runs the channels of files and fuses them.
func (e *engine) rankFiles() ([]fused, error) {
	var all []ranking
	add := func(channel string, score map[int32]float64) {
		for i := range score {
			if e.leftOut(i) {
				delete(score, i)
			}
		}
		r := rankingOf(channel, score)
		if len(r.keys) == 0 {
			return
		}
		all = append(all, r)
		e.a.Step(r.step(func(i int32) string { return e.c.files[i].Path }))
	}
	if e.task.text != "" {
		e.terms, e.missing = e.c.lookup(e.task.terms)
		e.pointed = e.byNames()
		add(chTraced, e.pointed.traced)
		add(chNamed, e.pointed.files)
		add(chWords, e.c.byWords(e.terms))
		bySymbols, err := e.bySymbols()
		if err != nil {
			return nil, err
		}
		add(chSymbols, bySymbols)
		add(chPast, e.c.byPast(e.task.terms))
		var used map[int32]float64
		if used, e.used, err = e.byUsed(); err != nil {
			return nil, err
		}
		add(chUsed, used)
	}
	if len(e.given) > 0 {
		near := e.given[:min(len(e.given), 20)]
		add(chTogether, e.c.byTogether(e.given))
		add(chTwin, e.c.byTwins(near))
		add(chEdges, e.c.byEdges(e.given))
		if e.task.text != "" {
			add(chPath, byPathWords(e.terms))
			return e.sorted(fuse(all, fileBlend, taskAndFileWeights)), nil
		}
		add(chFolder, e.c.byFolder(near))
		add(chAlike, e.c.alike(near[:min(len(near), 4)]))
	}
	first := fuse(all, fileBlend, fileWeights)
	seeds := map[int32]float64{}
	for _, g := range e.given {
		seeds[g] = 1
	}
	for i, f := range first[:min(len(first), 5)] {
		seeds[f.key] += 0.5 * f.score / first[0].score / float64(1+i)
	}
	add(chWalk, e.c.byWalk(seeds))
	return e.sorted(fuse(all, fileBlend, fileWeights)), nil
}

// sorted orders files again after what their paths say: a person seldom means what a program wrote,
// or prose, least of all where source code is given, and with that mostly its tests, too.
func (e *engine) sorted(ranked []fused) []fused {
	source := slices.ContainsFunc(e.given, func(g int32) bool {
		f := &e.c.files[g]
		return !f.test && !f.noise && !f.aside
	})
	for i := range ranked {
		f := &e.c.files[ranked[i].key]
		switch {
		case f.noise:
			ranked[i].score *= noiseFactor
		case source && f.aside:
			ranked[i].score *= asideFactor
		case f.prose:
			ranked[i].score *= proseFactor
		}
		if factor, judged := e.unused[ranked[i].key]; judged {
			ranked[i].score *= factor
		}
	}
	highest := func(a, b fused) int { return cmp.Compare(b.score, a.score) }
	slices.SortStableFunc(ranked, highest)
	if !source || e.r.Tests != TestsAlso {
		return ranked
	}
	favoured := 0
	for i := range ranked {
		if f := &e.c.files[ranked[i].key]; f.test && !f.noise && !f.aside && favoured < testsFirst {
			ranked[i].score += testBonus
			favoured++
		}
	}
	slices.SortStableFunc(ranked, highest)
	return ranked
}

// leftOut reports whether a file is no answer: a given one, or one that the request excludes.
func (e *engine) leftOut(i int32) bool {
	test := e.c.files[i].test
	return e.r.Tests == TestsOnly && !test || e.r.Tests == TestsNone && test || slices.Contains(e.given, i)
}

// bySymbols ranks files by their best symbols for the task.
func (e *engine) bySymbols() (map[int32]float64, error) {
	found, err := e.st.Described(e.task.text[:min(len(e.task.text), maxDescription)], maxSymbols)
	if err != nil {
		return nil, err
	}
	e.a.RecordTime("description")
	e.described = found
	score := map[int32]float64{}
	counted := map[int32]int{}
	for _, s := range found[:min(len(found), 400)] {
		f := e.c.ofNode[s.N]
		if f < 0 {
			continue
		}
		// The best symbol counts whole, each further one half of the one before.
		score[f] += s.Score / float64(int(1)<<min(counted[f], 20))
		counted[f]++
	}
	return score, nil
}

// maxDescription is the number of bytes of a task that describe symbols.
const maxDescription = 4000
