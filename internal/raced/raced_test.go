package main

import (
	"slices"
	"testing"
)

func TestStarts(t *testing.T) {
	for text, want := range map[string]bool{
		"package a\nfunc f() { go f() }":                            true,
		"package a\nfunc f(g group) { g.Go(f) }":                    true,
		"package a\nfunc f(t *testing.T) { t.\n\tParallel() }":      true,
		"package a\nvar x = time.AfterFunc(1, f)":                   true,
		"package a\n// go f()\nconst Go = \"go f(); t.Parallel()\"": false,
		"package a\nfunc Go() { Go() }":                             false,
	} {
		if got := starts([]byte(text)); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// TestRaced checks packages of which it is known.
func TestRaced(t *testing.T) {
	got, err := raced("../..")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{
		"server/node":           true, // starts goroutines
		"cmd/recount":           true, // runs programs that do
		"projections/code":      true, // stores in Pebble, which starts them
		"languages/golang":      true, // goes on beside others
		"pipeline/broker/wire":  true, // its tests alone start them
		"projections/sealed":    true, // imports unsafe
		"languages/java":        false,
		"pipeline/broker/sasl":  false,
		"internal/mutants/none": false,
	} {
		if slices.Contains(got, "github.com/recountdb/recount/"+name) != want {
			t.Errorf("%s: want it raced: %v", name, want)
		}
	}
}
