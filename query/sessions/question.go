package sessions

import (
	"context"

	"github.com/recountdb/recount/query/evidence"
	"github.com/recountdb/recount/query/question"
)

// Question is the question for sessions, as every API offers it.
var Question = question.New("sessions", "List sessions",
	"Lists the sessions of people and agents, the newest first: whose they are, when, how much happened in them, and what they are about. The token determines the principal: only what it sees is counted.",
	func(r Request) error {
		_, err := r.Normal()
		return err
	},
	func(ctx context.Context, a evidence.Asked, r Request) (Response, error) {
		return List(ctx, a.Sources, a.Principal, r)
	})

// Questions has it.
var Questions = question.List[evidence.Asked]{Question}
