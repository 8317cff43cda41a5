package code

import (
	"context"

	"github.com/recountdb/recount/query/question"
)

// Question is one kind of question about code.
type Question[Q, R any] = question.Question[Sources, Q, R]

// Questions has all of them, in the order of their declaration below.
var Questions question.List[Sources]

func newQuestion[Q interface{ check() error }, R any](name, summary, description string, answer func(context.Context, Sources, Q) (R, error)) Question[Q, R] {
	return question.Add(&Questions, question.New("code/"+name, summary, description, Q.check, answer))
}

// These are the questions about code. docs/ARCHITECTURE.md describes what else a new one needs.
var (
	SymbolsQuestion   = newQuestion("symbols", "Find symbols", "Looks for symbols by a part of their name, a place or a path, and ranks them.", Symbols)
	CallersQuestion   = newQuestion("callers", "Who calls a symbol", "Walks calls back from a symbol, also into other repositories, each with the place of the call and how sure it is.", Callers)
	CalleesQuestion   = newQuestion("callees", "What a symbol calls", "Walks calls on from a symbol, also into other repositories, each with the place of the call and how sure it is.", Callees)
	ImpactQuestion    = newQuestion("impact", "What a change can reach", "Follows calls, references, implementations and routes back from a symbol, or from what a diff touches: the blast radius by repository and package, tests apart.", Impact)
	TestsQuestion     = newQuestion("tests", "Which tests reach a change", "Says which tests reach a symbol, or what a diff touches, and what no test reaches.", Tests)
	ProveQuestion     = newQuestion("prove", "Prove an edge, or its absence", "Gives a proof that a snapshot has an edge between two symbols, or has not, which anyone can check offline against the snapshot's hash.", Prove)
	OwnersQuestion    = newQuestion("owners", "Who owns a file or a symbol", "Says who owns a file by CODEOWNERS of the revision, and who changed it in the commits before it.", Owners)
	LogQuestion       = newQuestion("snapshot-log", "The snapshots of a history", "Lists a revision and its first parents with the hashes of their snapshots.", Log)
	ShowQuestion      = newQuestion("snapshot-show", "What a snapshot holds", "Counts the files, symbols and edges of the graph at a revision, with the roots of its maps.", Show)
	DiffQuestion      = newQuestion("diff", "How the graph differs between two revisions", "Lists the symbols, edges and dependencies that differ between two revisions, the owners and the users in other repositories whom it concerns, and, if asked, what the change reaches before and after; thresholds make it a check.", Diff)
	RoutesQuestion    = newQuestion("routes", "What is served over HTTP", "Lists routes by method and path, with what handles them, where, and how sure that is.", Routes)
	StaleQuestion     = newQuestion("stale", "What seems to be out of date", "Finds references to and documentation of what was removed, functions that nothing uses, and what is as it was though what it calls has changed, each with how sure that is.", Stales)
	RetirableQuestion = newQuestion("retirable", "What a retention rule would give up", "Says how many graphs of old commits a `snapshots.retired` event with this rule would give up, of each repository. It gives up none: append the event for that.", Retirables)
	FlowQuestion      = newQuestion("flow", "How calls get from one symbol to another", "Finds the shortest paths of calls between two symbols, the surest first.", Flow)
)
