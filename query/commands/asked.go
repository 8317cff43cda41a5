package commands

import (
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"

	"github.com/recountdb/recount/query/commands/ask"
)

// What find is asked and answers, from package ask.
type (
	FindRequest  = ask.FindRequest
	FindResponse = ask.FindResponse
	Filters      = ask.Filters
	Variant      = ask.Variant
	Intent       = ask.Intent
	Hit          = ask.Hit
)

// Limits of a request. They are part of the API.
const (
	DefaultLimit = ask.DefaultLimit
	MaxLimit     = ask.MaxLimit
	// MaxEF is the maximum number of candidates in the vector search.
	MaxEF = ask.MaxEF
)

// CategoryName returns the name of a category in requests and answers: "build".
func CategoryName(c recountv1.Category) string { return ask.CategoryName(c) }
