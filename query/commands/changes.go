package commands

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
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
	// is not, some variables differ; variables says which.
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

// maxVariables is the maximum number of variables that a change names, and maxValue the maximum length of
// the value of one.
const (
	maxVariables = 5
	maxValue     = 60
)

// variables says which recorded variables differ where the environments of two runs do, and for the two
// commands themselves also where a moved directory or commit hides that from their hashes. Without the
// events, what is known stays as it is.
func (t *narrativeQuery) variables(lines []DiffLine) error {
	for i := range lines {
		l := &lines[i]
		at := slices.IndexFunc(l.Changes, func(c Change) bool {
			return c.Field == fieldEnvironment && !strings.HasPrefix(c.A, "shell ")
		})
		root := i == len(lines)-1 && l.A.ID != l.B.ID
		if at < 0 && (!root || slices.ContainsFunc(l.Changes, func(c Change) bool { return c.Field == fieldEnvironment })) {
			continue
		}
		a, err := t.recordedEnv(l.A)
		if err != nil {
			return err
		}
		b, err := t.recordedEnv(l.B)
		if err != nil {
			return err
		}
		x, y := otherVariables(a, b)
		switch {
		case x == "":
		case at >= 0:
			l.Changes[at].A, l.Changes[at].B = x, y
		default:
			at = slices.IndexFunc(l.Changes, func(c Change) bool {
				return c.Field == fieldHost || c.Field == fieldUser || c.Field == fieldAuthor || c.Field == fieldDuration
			})
			if at < 0 {
				at = len(l.Changes)
			}
			l.Changes = slices.Insert(l.Changes, at, Change{Field: fieldEnvironment, A: x, B: y})
			l.Way = DiffChanged
		}
	}
	return nil
}

// recordedEnv returns the variables in the event of a command; none if the event can't be read.
func (t *narrativeQuery) recordedEnv(in *Intent) (map[string]string, error) {
	m, err := query.PayloadOf(t.Ctx, t.s.Event, in.Position)
	if err != nil {
		return nil, err
	}
	c, _ := m.(*recountv1.CommandExecuted)
	return c.GetEnv(), nil
}

// otherVariables returns the variables that differ as two texts, by name.
func otherVariables(a, b map[string]string) (string, string) {
	names := maps.Clone(a)
	if names == nil {
		names = map[string]string{}
	}
	maps.Copy(names, b)
	var x, y []string
	more := 0
	for _, name := range slices.Sorted(maps.Keys(names)) {
		v, inA := a[name]
		w, inB := b[name]
		switch {
		case inA == inB && v == w:
		case len(x) == maxVariables:
			more++
		default:
			x, y = append(x, setting(name, v, inA)), append(y, setting(name, w, inB))
		}
	}
	if more > 0 {
		x = append(x, fmt.Sprintf("%d more", more))
	}
	return strings.Join(x, ", "), strings.Join(y, ", ")
}

func setting(name, value string, set bool) string {
	switch {
	case !set:
		return name + " unset"
	case len(value) > maxValue:
		value = schemas.Clip(value, maxValue) + "…"
	}
	return name + "=" + value
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
