package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/recountdb/recount/projections"
	store "github.com/recountdb/recount/projections/feedback"
	packing "github.com/recountdb/recount/query/context"
	"github.com/recountdb/recount/query/feedback"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// runAgain measures what feedback is worth. The commits of a repository are gone through in the order
// of time. Each is a task that was done: its message and the files that it touched are fed back as
// useful, and nothing else. Where a commit is a sample, it is asked about before that, with the
// feedback of all commits before it and without. Only samples count for which feedback about a task
// like it is known; what the history says of earlier commits is known to both.
func runAgain(ctx context.Context, o options) error {
	all, err := samples(ctx, o.mirrors, o.half)
	if err != nil {
		return err
	}
	r := newRecount(o, all)
	var without, with figures
	better, worse := 0, 0
	for _, repo := range reposOf(all) {
		if !wanted(o.repos, repo) {
			continue
		}
		a, err := newAgain(ctx, r, repo)
		if err != nil {
			return fmt.Errorf("%s: %w", repo, err)
		}
		var own [2]figures
		for _, s := range a.samples {
			if err := a.giveBefore(ctx, s.change); err != nil {
				return err
			}
			known, err := a.remembers(ctx, s)
			if err != nil {
				return err
			}
			if known {
				_, shown, err := a.corpus.ask(ctx, s)
				if err != nil {
					return err
				}
				var each [2]figures
				for i, memory := range []func(context.Context, string, string) ([]packing.Used, error){nil, a.memory} {
					r.sources.Memory = memory
					ranked, _, err := r.rank(ctx, question{sample: s})
					if err != nil {
						return err
					}
					each[i] = measure(ranked, s.gold, shown)
					own[i].add(each[i])
				}
				switch d := each[1].MRR + each[1].Recall20 - each[0].MRR - each[0].Recall20; {
				case d > 0.001:
					better++
				case d < -0.001:
					worse++
				}
			}
		}
		without.add(own[0])
		with.add(own[1])
		m, n := own[0].mean(), own[1].mean()
		fmt.Printf("%-32s %3d tasks: MRR %.3f → %.3f, recall@20 %.3f → %.3f, yield %.3f → %.3f\n", repo, m.Samples, m.MRR, n.MRR, m.Recall20, n.Recall20, m.Yield8K, n.Yield8K)
		if err := a.set.Close(); err != nil {
			return err
		}
		if err := os.RemoveAll(a.dir); err != nil {
			return err
		}
	}
	m, n := without.mean(), with.mean()
	fmt.Printf("%-32s %3d tasks: MRR %.3f → %.3f, recall@20 %.3f → %.3f, yield %.3f → %.3f; better %d, worse %d\n", "all", m.Samples, m.MRR, n.MRR, m.Recall20, n.Recall20, m.Yield8K, n.Yield8K, better, worse)
	return r.close()
}

// reposOf returns the repositories of samples, in order.
func reposOf(all []sample) (repos []string) {
	for _, s := range all {
		if !slices.Contains(repos, s.repo) {
			repos = append(repos, s.repo)
		}
	}
	return repos
}

// like is the score of feedback from which on a task counts as one like an earlier one: a fifth of the
// weight of its words are in common, and one file was useful.
const like = 0.04

// again has the feedback of one repository.
type again struct {
	r       *recount
	samples []sample // in the order of their commits
	done    []commit // which are not fed back yet
	corpus  *corpus
	dir     string
	set     *projections.Set
	next    int64
}

func newAgain(ctx context.Context, r *recount, repo string) (*again, error) {
	m := mirrorOf(r.mirrors, repo)
	a := &again{r: r, corpus: &corpus{m, map[string]*text{}, map[string][]string{}}}
	for _, s := range r.all {
		if s.repo == repo {
			a.samples = append(a.samples, s)
		}
	}
	var err error
	if a.done, err = m.done(ctx, a.samples); err != nil {
		return nil, err
	}
	at := map[string]int{}
	for i, c := range a.done {
		at[c.id] = i
	}
	slices.SortStableFunc(a.samples, func(x, y sample) int { return cmp.Compare(at[x.change], at[y.change]) })
	if err := r.open(ctx, repo); err != nil {
		return nil, err
	}
	if a.dir, err = os.MkdirTemp("", "recount-again-"); err != nil {
		return nil, err
	}
	a.set, err = projections.Open(a.dir, projections.Options{}, store.Kind)
	return a, err
}

// memory returns what was judged, as a node gives it to contexts.
func (a *again) memory(ctx context.Context, task, repository string) ([]packing.Used, error) {
	s, err := feedback.Open(ctx, feedback.Asked{Set: a.set, Principal: schemas.Principal{Operator: true}}, nil, 0)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	all, err := s.ForTask(task)
	if err != nil {
		return nil, err
	}
	var used []packing.Used
	for _, u := range all {
		if u.Subject.Repository == repository {
			used = append(used, packing.Used{Path: u.Subject.Name, Score: u.Score})
		}
	}
	return used, nil
}

// remembers reports whether a context for a sample would use any feedback.
func (a *again) remembers(ctx context.Context, s sample) (bool, error) {
	all, err := a.memory(ctx, s.request().Task, s.repo)
	return slices.ContainsFunc(all, func(u packing.Used) bool { return u.Score >= like }), err
}

// commit is a task that was done.
type commit struct {
	id, task string
	at       time.Time
	files    []string
}

// done returns the commits along the first parents of the newest sample, the oldest first.
func (m mirror) done(ctx context.Context, samples []sample) (all []commit, err error) {
	newest, _, err := m.span(ctx, changesOf(samples))
	if err != nil {
		return nil, err
	}
	text, err := m.out(ctx, "log", "--first-parent", "--reverse", "--name-only", "--no-renames", "--diff-merges=first-parent", "--format=%x01%H%x02%ct%x02%B%x02", newest)
	if err != nil {
		return nil, err
	}
	for _, part := range strings.Split(text, "\x01")[1:] {
		f := strings.Split(part, "\x02")
		if len(f) != 4 {
			return nil, fmt.Errorf("git log: want four fields: %q", part)
		}
		sec, err := strconv.ParseInt(f[1], 10, 64)
		if err != nil {
			return nil, err
		}
		title, body := described(f[2])
		c := commit{id: f[0], task: title + "\n\n" + body, at: time.Unix(sec, 0)}
		for line := range strings.Lines(f[3]) {
			if p := strings.TrimSpace(line); p != "" && isWorthFinding(p) {
				c.files = append(c.files, p)
			}
		}
		all = append(all, c)
	}
	return all, nil
}

func changesOf(samples []sample) (all []string) {
	for _, s := range samples {
		all = append(all, s.change)
	}
	return all
}

// maxTouched is how many files a commit may touch: who changes more says nothing about any of them.
const maxTouched = 20

// giveBefore feeds back what the commits before one touched, as far as this was not done.
func (a *again) giveBefore(ctx context.Context, id string) error {
	var records []*recountv1.Record
	for ; len(a.done) > 0 && a.done[0].id != id; a.done = a.done[1:] {
		c := a.done[0]
		if len(c.files) == 0 || len(c.files) > maxTouched {
			continue
		}
		g := &recountv1.FeedbackGiven{OccurredAt: timestamppb.New(c.at), Session: c.id, Task: c.task, Useful: true}
		for _, p := range c.files {
			g.Subjects = append(g.Subjects, &recountv1.FeedbackSubject{Kind: recountv1.FeedbackSubjectKind_FEEDBACK_SUBJECT_KIND_FILE, Repository: a.samples[0].repo, Name: p})
		}
		event := schemas.NewCanon("bench/again").String(c.id).ID()
		at := schemas.Position{Topic: "recount.facts", Offset: a.next}
		a.next++
		records = append(records, &recountv1.Record{Origin: at.Proto(), EventId: event[:], Body: &recountv1.Record_FeedbackGiven{FeedbackGiven: g}})
	}
	if len(records) == 0 {
		return nil
	}
	return a.set.Apply(ctx, schemas.Batch{Topic: "recount.facts", Next: a.next, Records: records})
}
