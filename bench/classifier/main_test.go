package main

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestAccuracyHolds: a change of the rules that loses what they had shows here.
func TestAccuracyHolds(t *testing.T) {
	labels, err := os.Open("testdata/labels.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer labels.Close()
	var out strings.Builder
	if err := report(&out, labels, false); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"accuracy", "held out"} {
		m := regexp.MustCompile(line + ` +(\d+) of (\d+)`).FindStringSubmatch(out.String())
		if m == nil {
			t.Fatalf("no line %q in\n%s", line, out.String())
		}
		right, _ := strconv.Atoi(m[1])
		all, _ := strconv.Atoi(m[2])
		if all < 150 || float64(right) < 0.92*float64(all) {
			t.Errorf("%s: %d of %d, want 0.92", line, right, all)
		}
	}
}

func TestBadLabels(t *testing.T) {
	for name, in := range map[string]string{
		"a column short": "query\tls\n",
		"no command":     "query\tuniform\t \n",
	} {
		if err := report(&strings.Builder{}, strings.NewReader(in), false); err == nil || !strings.HasPrefix(err.Error(), "line 1:") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
