package code

import (
	"context"
	"fmt"
	"reflect"

	snapshots "github.com/recountdb/recount/projections/code"
)

// OwnerPatternMatches reports whether a pattern of CODEOWNERS matches a path.
func OwnerPatternMatches(pattern, path string) bool { return ownerPattern(pattern).MatchString(path) }

// GitLabPatternMatches reports whether a pattern matches a path by GitLab's rules.
func GitLabPatternMatches(pattern, path string) bool { return gitlabPattern(pattern).MatchString(path) }

// EntryPoint reports whether a name is one that is used without being named.
var EntryPoint = entryPoint

// Takes reports whether a request for a path could match a route's pattern.
var Takes = takes

// NamesIn returns the names of code in a text.
var NamesIn = namesIn

// Derived checks that the graph derived from that of a base equals the graph that is read whole,
// including its numbers.
func Derived(ctx context.Context, base, s *snapshots.Snapshot) error {
	was, err := load(ctx, base)
	if err != nil {
		return err
	}
	want, err := load(ctx, s)
	if err != nil {
		return err
	}
	got, err := derive(ctx, was, base, s)
	if err != nil {
		return err
	}
	for _, g := range []*Graph{got, want} { // computed on demand
		g.numberOf(symbol{})
		g.declares(symbol{})
	}
	if !reflect.DeepEqual(got, want) {
		return fmt.Errorf("got %+v, want %+v", got, want)
	}
	return nil
}

// ErrFar is the error of Derived if the snapshots differ too much.
var ErrFar = errFar

// Rehash updates the claim's hash to what the proof claims now, as a forger would. It reports
// whether the claim is well-formed.
func (p *EdgeProof) Rehash() bool {
	which, key, err := p.key()
	if err == nil {
		p.Digest = p.digest(which, key)
	}
	return err == nil
}
