// Package bisect finds which differences between two environments make a command fail.
//
// Minimal is the minimizing delta debugging of Zeller and Hildebrandt ("Simplifying and Isolating
// Failure-Inducing Input", IEEE Transactions on Software Engineering 28(2), 2002): it tries halves of the
// differences, then their complements, then smaller parts. Its answer fails, and no longer does if any
// one of its differences is taken away.
package bisect

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Difference is a variable that the two environments have otherwise. A value that is nil is not set.
type Difference struct {
	Name string  `json:"name"`
	Good *string `json:"good"` // where the command works
	Bad  *string `json:"bad"`  // where it fails
}

// Differences returns how two environments differ in the named variables, by name.
func Differences(good, bad map[string]string) []Difference {
	names := map[string]bool{}
	for _, env := range []map[string]string{good, bad} {
		for name := range env {
			names[name] = true
		}
	}
	var all []Difference
	for _, name := range slices.Sorted(maps.Keys(names)) {
		a, b := valueOf(good, name), valueOf(bad, name)
		if (a == nil) != (b == nil) || a != nil && *a != *b {
			all = append(all, Difference{name, a, b})
		}
	}
	return all
}

func valueOf(env map[string]string, name string) *string {
	if v, ok := env[name]; ok {
		return &v
	}
	return nil
}

// Apply returns the good environment with some differences as in the bad one.
func Apply(good map[string]string, some []Difference) map[string]string {
	env := maps.Clone(good)
	if env == nil {
		env = map[string]string{}
	}
	for _, d := range some {
		if d.Bad == nil {
			delete(env, d.Name)
		} else {
			env[d.Name] = *d.Bad
		}
	}
	return env
}

// Options say how a search is done.
type Options struct {
	// Fails runs the command in an environment and reports whether it fails. An error ends the search.
	Fails func(ctx context.Context, env map[string]string) (bool, error)
	// Trials bounds how often Fails is called; 200 if zero.
	Trials int
	// Progress is called after each trial; it may be nil.
	Progress func(Trial)
}

// Trial is one run of the command.
type Trial struct {
	Number int      `json:"trial"`
	Bad    []string `json:"bad"` // the variables that were as in the bad environment
	Failed bool     `json:"failed"`
}

// States of a result.
const (
	Found = "found"
	// Same means that it fails in both environments, or works in both: its cause is no variable.
	Same = "same"
	// Limited means that the search ended before the set was minimal, because of Trials or of ctx.
	Limited = "limited"
	// Flaky means that, once the cause was found, the command failed without it or worked with it.
	Flaky = "flaky"
)

// Result is what a search found.
type Result struct {
	State string `json:"state"`
	// Cause are the differences that make the command fail together: none can be left out if State is Found.
	Cause  []Difference `json:"cause"`
	Trials int          `json:"trials"`
	// Fails tells for Same whether it fails or works.
	Fails bool `json:"fails,omitempty"`
	// Flaky are the trials that came out otherwise when they were repeated. Then each was decided by
	// most of three.
	Flaky int `json:"flaky,omitempty"`
}

// errLimit ends a search that had all its trials.
var errLimit = errors.New("no trial is left")

type search struct {
	Options
	good  map[string]string
	known map[string]bool // results by set
	r     Result
}

// Minimal finds the least differences that make the command fail. An error is that of Fails; if ctx
// ends, or no trial is left, the state says so, and the cause is the smallest set known to fail.
func Minimal(ctx context.Context, good, bad map[string]string, o Options) (Result, error) {
	if o.Trials == 0 {
		o.Trials = 200
	}
	s := &search{Options: o, good: good, known: map[string]bool{}}
	s.r.Cause = []Difference{}
	err := s.run(ctx, Differences(good, bad))
	if errors.Is(err, errLimit) || err != nil && ctx.Err() != nil {
		s.r.State, err = Limited, nil
	}
	return s.r, err
}

func (s *search) run(ctx context.Context, all []Difference) error {
	works, err := s.fails(ctx, nil)
	if err != nil {
		return err
	}
	fails, err := s.fails(ctx, all)
	if err != nil {
		return err
	}
	if works == fails || works {
		s.r.State, s.r.Fails = Same, works
		return nil
	}
	s.r.Cause = all
	for parts := 2; len(s.r.Cause) > 1; {
		smaller, next, err := s.reduce(ctx, parts)
		if err != nil {
			return err
		}
		if smaller == nil {
			if parts >= len(s.r.Cause) {
				break
			}
			parts = min(2*parts, len(s.r.Cause))
			continue
		}
		s.r.Cause, parts = smaller, next
	}
	s.r.State = Found
	return s.confirm(ctx)
}

// confirm tries the two ends again: what works and fails by chance, or wears out, is no cause.
func (s *search) confirm(ctx context.Context) error {
	for _, end := range []struct {
		some  []Difference
		fails bool
	}{{nil, false}, {s.r.Cause, true}} {
		failed, err := s.once(ctx, end.some)
		if err != nil {
			return err
		}
		if failed != end.fails {
			s.r.State = Flaky
		}
	}
	return nil
}

// reduce tries the parts of the cause and their complements. It returns the first that fails, with the
// number of parts to go on with, or nil.
func (s *search) reduce(ctx context.Context, parts int) ([]Difference, int, error) {
	cause := s.r.Cause
	bound := func(i int) int { return i * len(cause) / parts }
	for i := range parts {
		part := cause[bound(i):bound(i+1)]
		if fails, err := s.fails(ctx, part); err != nil || fails {
			return part, 2, err
		}
	}
	for i := range parts {
		if parts == 2 {
			break // a complement is the other half
		}
		rest := slices.Concat(cause[:bound(i)], cause[bound(i+1):])
		if fails, err := s.fails(ctx, rest); err != nil || fails {
			return rest, max(parts-1, 2), err
		}
	}
	return nil, 0, nil
}

// fails runs the command with some differences, at least twice: what comes out otherwise the second time
// is decided by a third.
func (s *search) fails(ctx context.Context, some []Difference) (bool, error) {
	key := fmt.Sprintf("%q", names(some))
	if failed, ok := s.known[key]; ok {
		return failed, nil
	}
	failures := 0
	for n := 1; n <= 3; n++ {
		if n == 3 {
			if failures != 1 {
				break
			}
			s.r.Flaky++
		}
		failed, err := s.once(ctx, some)
		if err != nil {
			return false, err
		}
		if failed {
			failures++
		}
	}
	s.known[key] = failures >= 2
	return s.known[key], nil
}

// once runs the command with some differences.
func (s *search) once(ctx context.Context, some []Difference) (bool, error) {
	if s.r.Trials >= s.Trials {
		return false, errLimit
	}
	if err := ctx.Err(); err != nil {
		return false, err
	}
	failed, err := s.Fails(ctx, Apply(s.good, some))
	if err != nil {
		return false, err
	}
	s.r.Trials++
	if s.Progress != nil {
		s.Progress(Trial{s.r.Trials, names(some), failed})
	}
	return failed, nil
}

func names(some []Difference) []string {
	out := []string{}
	for _, d := range some {
		out = append(out, d.Name)
	}
	return out
}
