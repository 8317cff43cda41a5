package main

import "testing"

// TestLabelsAreRead checks that each application of both lists has routes, none twice.
func TestLabelsAreRead(t *testing.T) {
	for name, c := range map[string]struct {
		labels       string
		applications int
	}{"c": {exampleLabels, 61}, "d": {applicationLabels, 34}} {
		all, err := examples(c.labels)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, e := range all {
			if len(e.want) == 0 {
				continue
			}
			n++
			seen := map[string]bool{}
			for _, w := range e.want {
				line := w.text() + " " + w.handlers[0]
				if seen[line] {
					t.Errorf("%s %s: %s is listed twice", e.repository, e.folder, line)
				}
				seen[line] = true
			}
		}
		if n < c.applications {
			t.Errorf("half %s has %d applications with routes, want %d", name, n, c.applications)
		}
	}
}
