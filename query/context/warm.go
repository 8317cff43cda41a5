package context

import (
	"context"

	"github.com/recountdb/recount/query/code"
)

// Warm derives what questions for context need of a repository's HEAD and caches it, so that the next
// one does not wait for it. An error is one of those of Pack.
func Warm(ctx context.Context, s Sources, repository string) error {
	st, err := code.OpenStudy(ctx, s.Code, code.Scope{Repo: repository})
	if err != nil {
		return err
	}
	defer st.Close()
	if _, err := s.Cache.corpusOf(ctx, st, s); err != nil {
		return err
	}
	_, err = st.Described("", 0) // builds the index of descriptions
	return err
}
