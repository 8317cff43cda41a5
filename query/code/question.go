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
	SymbolsQuestion      = newQuestion("symbols", "Find symbols", "Finds symbols by part of their name, a place or a path, and ranks them.", Symbols)
	CallersQuestion      = newQuestion("callers", "Find callers of a symbol", "Follows calls backwards from a symbol, also from other repositories, and returns the place and confidence of each call.", Callers)
	CalleesQuestion      = newQuestion("callees", "Find callees of a symbol", "Follows calls forwards from a symbol, also into other repositories, and returns the place and confidence of each call.", Callees)
	ImpactQuestion       = newQuestion("impact", "Find what a change can reach", "Follows calls, references, implementations and routes backwards from a symbol or from the symbols that a diff touches, and returns the reached symbols by repository and package, and tests in a list of their own.", Impact)
	TestsQuestion        = newQuestion("tests", "Find tests that reach a change", "Returns the tests that reach a symbol or the symbols that a diff touches, and the symbols that no test reaches.", Tests)
	ProveQuestion        = newQuestion("prove", "Prove an edge, or its absence", "Returns a proof that a snapshot has, or does not have, an edge between two symbols. The proof can be checked offline against the snapshot's hash.", Prove)
	OwnersQuestion       = newQuestion("owners", "Find the owners of a file or a symbol", "Returns the owners of a file by the revision's CODEOWNERS, and the authors of its changes in earlier commits.", Owners)
	LogQuestion          = newQuestion("snapshot-log", "List the snapshots of a history", "Lists a revision and its first parents with the hashes of their snapshots.", Log)
	ShowQuestion         = newQuestion("snapshot-show", "Show what a snapshot holds", "Counts the files, symbols and edges of the graph at a revision, with the roots of its maps.", Show)
	DiffQuestion         = newQuestion("diff", "Compare the graph at two revisions", "Lists the symbols, edges and dependencies that differ between two revisions, the affected owners, the affected uses in other repositories and, on request, what the change reaches before and after. With thresholds it works as a check.", Diff)
	RoutesQuestion       = newQuestion("routes", "List HTTP routes", "Lists routes by method and path, each with its handler, place and confidence.", Routes)
	StaleQuestion        = newQuestion("stale", "Find code that seems out of date", "Finds references to removed symbols, documentation that names them, unused functions, and symbols that did not change although what they call did, each with a confidence.", Stales)
	RepositoriesQuestion = newQuestion("repositories", "List repositories", "Lists the repositories that are known, the one with the newest commit first: its head, how many commits and graphs are known, and the newest commit.", Repositories)
	RetirableQuestion    = newQuestion("retirable", "Preview a retention rule for graphs", "Counts, for each repository, the graphs of old commits that a `snapshots.retired` event with this rule would remove. It removes nothing: append the event for that.", Retirables)
	FlowQuestion         = newQuestion("flow", "Find call paths between two symbols", "Finds the shortest paths of calls between two symbols, by confidence, highest first.", Flow)
)
