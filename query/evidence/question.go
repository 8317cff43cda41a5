package evidence

import (
	"context"

	"github.com/recountdb/recount/query/question"
	"github.com/recountdb/recount/schemas"
)

// Asked has the sources of a question, and the principal on whose behalf it is asked.
type Asked struct {
	Sources
	Principal schemas.Principal
}

// Question is the question for evidence, as every API offers it.
var Question = question.New("query", "Ask for evidence",
	"Answers from what agents said, did and learned: what was found, what led to it, what took its place and who says otherwise, with the events that show it. On whose behalf it is asked, the token says; what that may not see has no part in the answer, its counts, scores and proof included.",
	func(r Request) error {
		_, err := r.Normal()
		return err
	},
	func(ctx context.Context, a Asked, r Request) (Response, error) {
		return Ask(ctx, a.Sources, a.Principal, r)
	})

// Questions has all of them.
var Questions = question.List[Asked]{Question}
