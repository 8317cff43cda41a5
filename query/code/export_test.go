package code

import (
	"context"
	"fmt"
	"reflect"

	snapshots "github.com/recountdb/recount/projections/code"
)

// OwnerPatternMatches says whether a pattern of CODEOWNERS holds for a path.
func OwnerPatternMatches(pattern, path string) bool { return ownerPattern(pattern).MatchString(path) }

// GitLabPatternMatches says the same by GitLab's rules.
func GitLabPatternMatches(pattern, path string) bool { return gitlabPattern(pattern).MatchString(path) }

// Takes says whether a request for a path could reach a route's pattern.
var Takes = takes

// NamesIn are the names of code in a text.
var NamesIn = namesIn

// Derived says whether the graph that is derived from that of a base is the one that is
// read whole, to the number.
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
	for _, g := range []*Graph{got, want} { // what is made when it is asked for
		g.numberOf(symbol{})
		g.declares(symbol{})
	}
	if !reflect.DeepEqual(got, want) {
		return fmt.Errorf("got %+v, want %+v", got, want)
	}
	return nil
}

// ErrFar is Derived's where it is not worth it.
var ErrFar = errFar

// Rehash makes the claim's hash that of what the proof claims now, as a forger would; it
// reports whether there is such a claim.
func (p *EdgeProof) Rehash() bool {
	which, key, err := p.key()
	if err == nil {
		p.Digest = p.digest(which, key)
	}
	return err == nil
}
