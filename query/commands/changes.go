package commands

import (
	"fmt"
	"strings"
	"time"

	"github.com/recountdb/recount/query"
)

// The fields of a Change.
const (
	fieldArguments   = "arguments"
	fieldOutcome     = "outcome"
	fieldCwd         = "cwd"
	fieldGitHead     = "git_head"
	fieldEnvironment = "environment"
	fieldHost        = "host"
	fieldUser        = "user"
	fieldAuthor      = "author"
	fieldDuration    = "duration"
)

// Durations differ significantly if the longer is this many times the shorter, and longer
// by this much.
const (
	durationTimes = 3
	durationLeast = time.Second
)

// changes returns the differences between two runs, in a fixed order.
func changes(a, b *Scanned) []Change {
	if a.ID == b.ID {
		return nil
	}
	var out []Change
	differ := func(field, x, y string) bool {
		if x != y {
			out = append(out, Change{Field: field, A: x, B: y})
		}
		return x != y
	}
	if a.ContentHash != b.ContentHash {
		x, y := differing(a.Command, b.Command)
		out = append(out, Change{Field: fieldArguments, A: x, B: y})
	}
	differ(fieldOutcome, ended(&a.Intent), ended(&b.Intent))
	moved := differ(fieldCwd, a.Cwd, b.Cwd)
	moved = differ(fieldGitHead, a.GitHead, b.GitHead) || moved
	// The context hash is over these five and the variables: if they are equal and the hash
	// is not, some variables differ, but it is not known which.
	switch {
	case a.Shell != b.Shell:
		differ(fieldEnvironment, "shell "+a.Shell, "shell "+b.Shell)
	case !moved && a.Host == b.Host && a.User == b.User:
		differ(fieldEnvironment, a.ContextHash, b.ContextHash)
	}
	differ(fieldHost, a.Host, b.Host)
	differ(fieldUser, a.User, b.User)
	differ(fieldAuthor, a.Author, b.Author)
	if a.Duration != nil && b.Duration != nil {
		x, y := time.Duration(*a.Duration), time.Duration(*b.Duration)
		if short, long := min(x, y), max(x, y); long-short >= durationLeast && long/durationTimes >= short {
			differ(fieldDuration, query.Took(x), query.Took(y))
		}
	}
	return out
}

// ended returns a command's outcome as text.
func ended(r *Intent) string {
	switch {
	case r.ExitCode == nil:
		return "unknown"
	case *r.ExitCode == 0:
		return "ok"
	}
	return fmt.Sprintf("exit %d", *r.ExitCode)
}

// differing returns two commands without the equal words at their beginnings and ends.
func differing(a, b string) (string, string) {
	x, y := strings.Fields(a), strings.Fields(b)
	for len(x) > 0 && len(y) > 0 && x[0] == y[0] {
		x, y = x[1:], y[1:]
	}
	for len(x) > 0 && len(y) > 0 && x[len(x)-1] == y[len(y)-1] {
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	return strings.Join(x, " "), strings.Join(y, " ")
}
