package resolvetest

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/languages/resolve"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// lines is a resolver whose files name one declaration a line.
type lines struct{}

func (lines) Name() string        { return "lines/1" }
func (lines) Languages() []string { return []string{"lines"} }

func (lines) Resolve(_ context.Context, tree resolve.Tree, c resolve.Change) ([]resolve.FileGraph, error) {
	var graphs []resolve.FileGraph
	for f := range tree.Files("") {
		if !slices.Contains(c.Paths, f.Path) {
			continue
		}
		facts, err := tree.Facts(f)
		if err != nil {
			return nil, err
		}
		g := resolve.Base(f, facts, "")
		g.Normalize()
		graphs = append(graphs, g)
	}
	return graphs, nil
}

func extract(content []byte, facts *recountv1.FileFacts) {
	facts.Language = "lines"
	for i, name := range slices.Collect(split(string(content))) {
		facts.Declarations = append(facts.Declarations, &recountv1.Declaration{
			Kind: recountv1.SymbolKind_SYMBOL_KIND_FUNCTION, Name: name, Start: &recountv1.Place{Line: uint32(i + 1)},
		})
	}
}

func split(s string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for _, r := range s {
			if r != '\n' && !yield(string(r)) {
				return
			}
		}
	}
}

func TestGraphAsText(t *testing.T) {
	tree := Archive(t, "-- x --\nb\na\n", extract)
	want := []string{
		`node x FILE "" 0:0-0:0`,
		`node x:a FUNCTION "" 2:0-0:0`,
		`node x:b FUNCTION "" 1:0-0:0`,
		"contains x -> x:a @2:0",
		"contains x -> x:b @1:0",
	}
	if diff := cmp.Diff(want, Full(t, lines{}, tree).Text()); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
}

func TestChangeNamesWhatDiffers(t *testing.T) {
	base := Archive(t, "-- kept --\na\n-- changed --\na\n-- gone --\na\n", extract)
	tree := base.With(map[string]string{"changed": "b\n", "new": "c\n"}, "gone")
	if diff := cmp.Diff([]string{"changed", "gone", "new"}, tree.Change(base).Paths); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
}

func TestSeriesAcceptsAResolverOfSingleFiles(t *testing.T) {
	first := Archive(t, "-- x --\na\n-- y --\na\n", extract)
	second := first.With(map[string]string{"x": "b\n"})
	Series(t, func() resolve.Resolver { return lines{} }, first, second, second.With(nil, "y"))
}

// forgetful returns nothing for files that changed.
type forgetful struct{ lines }

func (f forgetful) Resolve(ctx context.Context, tree resolve.Tree, c resolve.Change) ([]resolve.FileGraph, error) {
	if c.Base != nil {
		return nil, nil
	}
	return f.lines.Resolve(ctx, tree, c)
}

func TestSeriesRefusesAResolverThatForgets(t *testing.T) {
	first := Archive(t, "-- x --\na\n", extract)
	caught := &caught{TB: t}
	Series(caught, func() resolve.Resolver { return forgetful{} }, first, first.With(map[string]string{"x": "b\n"}))
	if caught.errors == 0 {
		t.Error("a graph that was not resolved anew passed")
	}
}

// caught counts errors in the place of failing.
type caught struct {
	testing.TB
	errors int
}

func (c *caught) Errorf(string, ...any) { c.errors++ }
