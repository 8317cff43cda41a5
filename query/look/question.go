package look

import (
	"context"

	"github.com/recountdb/recount/query/evidence"
	"github.com/recountdb/recount/query/question"
)

// Question is the question to all kinds, as every API offers it.
var Question = question.New("look", "Search everything at once",
	"Searches commands, symbols of the code, operations of services, and what agents said and did, and ranks the hits of all of them together. Each hit has the answer of its own kind, and its score says how well it fits the text, from 0 to 1. The token determines the principal: what it may not see affects no part of the answer.",
	func(r Request) error {
		_, err := r.Normal()
		return err
	},
	func(ctx context.Context, a evidence.Asked, r Request) (Response, error) {
		return Look(ctx, a.Sources, a.Principal, r)
	})

// Questions has it.
var Questions = question.List[evidence.Asked]{Question}
