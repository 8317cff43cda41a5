package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/recountdb/recount/query/code"
)

// inRepository asks a question about code. If it names no repository and several were imported, it is
// asked again about that of the working directory, if that is one of them.
func (a *app) inRepository(ctx context.Context, repo *string, ask func() error) error {
	err := ask()
	var several *code.AmbiguousNameError
	if *repo != "" || !errors.As(err, &several) || !several.OfRepository() {
		return err
	}
	// Where git does not know, the user has to say.
	dir, _ := os.Getwd()
	here, _ := repositoryOf(ctx, dir)
	if here == "" || !slices.ContainsFunc(several.Candidates, func(c code.NameCandidate) bool { return c.Name == here }) {
		return fmt.Errorf("%w\n--repo names it, also by the end of its name; in a clone of one of them it is that one", err)
	}
	*repo = here
	return ask()
}
