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
var Question = question.New("query", "Query evidence",
	"Answers from what agents said, did and learned: the objects found, what led to them, what replaced them and who contradicts them, with the events as evidence. The token determines the principal. What the principal may not see affects no part of the answer, including its counts, scores and proof.",
	func(r Request) error {
		_, err := r.Normal()
		return err
	},
	func(ctx context.Context, a Asked, r Request) (Response, error) {
		return Ask(ctx, a.Sources, a.Principal, r)
	})

// Questions has all of them.
var Questions = question.List[Asked]{Question, RememberedQuestion, AnnouncedQuestion}
