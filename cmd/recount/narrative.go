package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/recountdb/recount/query"
)

// unanswered ends a verb that asked about a command: a reference that means
// nothing, or several commands, is a negative answer with what to do about it.
func (a *app) unanswered(err error) error {
	var missing *query.NotFoundError
	var ambiguous *query.AmbiguousError
	var wrong *query.RequestError
	switch {
	case errors.As(err, &missing):
		fmt.Fprintf(a.stderr, "recount: %s\n", err)
		return exitError(1)
	case errors.As(err, &ambiguous):
		fmt.Fprintf(a.stderr, "recount: %q: ambiguous: give more of the id\n", ambiguous.Prefix)
		for _, m := range ambiguous.Matches {
			fmt.Fprintf(a.stderr, "  %s  %s  %s\n", m.ID, m.Time.Local().Format(time.DateTime), cut(oneLine(m.Command), commandColumns))
		}
		return exitError(1)
	case errors.As(err, &wrong):
		return usageError{err}
	}
	return err
}

// commandColumns is how much a list of a few commands shows of each.
const commandColumns = 60
