package commands

import (
	"context"

	"github.com/recountdb/recount/query/question"
)

// Question is one kind of question about commands.
type Question[Q, R any] = question.Question[Sources, Q, R]

// Questions holds all of them, in the order in which they stand below.
var Questions question.List[Sources]

func newQuestion[Q interface{ Normal() (Q, error) }, R any](name, summary, description string, answer func(context.Context, Sources, Q) (R, error)) Question[Q, R] {
	check := func(r Q) error {
		_, err := r.Normal()
		return err
	}
	return question.Add(&Questions, question.New(name, summary, description, check, answer))
}

// The questions about commands. docs/ARCHITECTURE.md says what else a new one needs.
var (
	FindQuestion     = newQuestion("find", "Find commands", "Looks for commands by words, concepts and meaning, under filters, and says in proof how it came to the answer.", Find)
	WhyQuestion      = newQuestion("why", "What led to a command", "Walks back from a command over the edges of the narrative and ranks what led to it, each cause with the path to it and the edges with their evidence.", Why)
	StitchQuestion   = newQuestion("stitch", "The narrative around a command", "Walks both ways from a command and answers with the commands it meets, in the order of time, and the edges among them.", Stitch)
	DiffQuestion     = newQuestion("diff", "How two narratives differ", "Aligns what led to two commands: what is common, what changed and in what, what only one of them has, and a verdict where their outcomes differ.", Diff)
	InsightsQuestion = newQuestion("insights", "What recurs", "Counts templates, sequences and failures that are alike among the commands that pass the filters, and suggests what usually comes next.", Insights)
)
