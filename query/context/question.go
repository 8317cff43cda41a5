package context

import (
	"context"

	"github.com/recountdb/recount/query/question"
)

// Question is the question for context, as every API offers it.
var Question = question.New("context", "Find what to read for a task",
	"Returns the files to look at and the code to read for a task, for given files or for a change, in at most the given number of tokens. If the repository does not have what the task is about, it says so and returns little.",
	Request.check,
	func(ctx context.Context, s Sources, r Request) (Response, error) { return Pack(ctx, s, r) })

// Questions has all of them.
var Questions = question.List[Sources]{Question}
