package webtests

import (
	_ "embed"
	"maps"
	"slices"
	"testing"
)

//go:embed testdata/modules.js
var modules string

//go:embed testdata/frames.js
var framesOf string

// TestModules runs the tests of the modules that compute drawings, in the browser.
func TestModules(t *testing.T) {
	t.Parallel()
	p := sample(t).page(t, 1000, 700)
	p.open("/agents", has("Agents"))
	for _, failure := range eval[[]string](p, modules) {
		t.Error(failure)
	}
}

// TestFrames moves a graph of 5,000 nodes and a trace of 10,000 spans. It fails if the median frame
// takes longer than a thirtieth of a second, and prints the rest: a busy machine has long frames.
func TestFrames(t *testing.T) {
	p := sample(t).page(t, 1280, 900)
	p.open("/agents", has("Agents"))
	type frames struct {
		Median, P95, Most float64
		Frames            int
	}
	took := eval[map[string]any](p, framesOf)
	for _, name := range slices.Sorted(maps.Keys(took)) {
		values, moving := took[name].(map[string]any)
		if !moving {
			t.Logf("%-32s %v ms", name, took[name])
			continue
		}
		f := frames{values["median"].(float64), values["p95"].(float64), values["most"].(float64), int(values["frames"].(float64))}
		t.Logf("%-32s median %.1f ms, p95 %.1f ms, longest %.1f ms of %d frames", name, f.Median, f.P95, f.Most, f.Frames)
		if f.Median > 1000.0/30 {
			t.Errorf("%s: the median frame takes %.1f ms", name, f.Median)
		}
	}
}
