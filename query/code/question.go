package code

import (
	"context"
	"fmt"
)

// Question is one kind of question, as every door offers it.
type Question[Q, R any] struct {
	// Name is its path in the API and its verb: "callers".
	Name string
	// Summary and Description say in a line, and in a few, what it answers.
	Summary, Description string
	ask                  func(context.Context, Sources, Q) (R, error)
}

// The questions. Adding one is an entry here, one in Answer, and one at each door.
var (
	SymbolsQuestion   = Question[SymbolsRequest, SymbolsResponse]{"symbols", "Find symbols", "Looks for symbols by a part of their name, a place or a path, and ranks them.", Symbols}
	CallersQuestion   = Question[CallsRequest, CallsResponse]{"callers", "Who calls a symbol", "Walks calls back from a symbol, also into other repositories, each with the place of the call and how sure it is.", Callers}
	CalleesQuestion   = Question[CallsRequest, CallsResponse]{"callees", "What a symbol calls", "Walks calls on from a symbol, also into other repositories, each with the place of the call and how sure it is.", Callees}
	ImpactQuestion    = Question[ImpactRequest, ImpactResponse]{"impact", "What a change can reach", "Follows calls, references, implementations and routes back from a symbol, or from what a diff touches: the blast radius by repository and package, tests apart.", Impact}
	TestsQuestion     = Question[TestsRequest, TestsResponse]{"tests", "Which tests reach a change", "Says which tests reach a symbol, or what a diff touches, and what no test reaches.", Tests}
	ProveQuestion     = Question[ProveRequest, ProveResponse]{"prove", "Prove an edge, or its absence", "Gives a proof that a snapshot has an edge between two symbols, or has not, which anyone can check offline against the snapshot's hash.", Prove}
	OwnersQuestion    = Question[OwnersRequest, OwnersResponse]{"owners", "Who owns a file or a symbol", "Says who owns a file by CODEOWNERS of the revision, and who changed it in the commits before it.", Owners}
	LogQuestion       = Question[LogRequest, LogResponse]{"snapshot-log", "The snapshots of a history", "Lists a revision and its first parents with the hashes of their snapshots.", Log}
	ShowQuestion      = Question[ShowRequest, SnapshotResponse]{"snapshot-show", "What a snapshot holds", "Counts the files, symbols and edges of the graph at a revision, with the roots of its maps.", Show}
	DiffQuestion      = Question[GraphDiffRequest, GraphDiffResponse]{"diff", "How the graph differs between two revisions", "Lists the symbols, edges and dependencies that differ between two revisions, the owners and the users in other repositories whom it concerns, and, if asked, what the change reaches before and after; thresholds make it a check.", Diff}
	RoutesQuestion    = Question[RoutesRequest, RoutesResponse]{"routes", "What is served over HTTP", "Lists routes by method and path, with what handles them, where, and how sure that is.", Routes}
	StaleQuestion     = Question[StaleRequest, StaleResponse]{"stale", "What seems to be out of date", "Finds references to and documentation of what was removed, functions that nothing uses, and what is as it was though what it calls has changed, each with how sure that is.", Stales}
	RetirableQuestion = Question[RetirableRequest, RetirableResponse]{"retirable", "What a retention rule would give up", "Says how many graphs of old commits a `snapshots.retired` event with this rule would give up, of each repository. It gives up none: append the event for that.", Retirables}
	FlowQuestion      = Question[FlowRequest, FlowResponse]{"flow", "How calls get from one symbol to another", "Finds the shortest paths of calls between two symbols, the surest first.", Flow}
)

// Answer answers the question of a name: request is its request, and response a
// pointer to its response.
func Answer(ctx context.Context, s Sources, question string, request, response any) error {
	for _, to := range []func(context.Context, Sources, string, any, any) (bool, error){
		SymbolsQuestion.answer, CallersQuestion.answer, CalleesQuestion.answer,
		ImpactQuestion.answer, TestsQuestion.answer, FlowQuestion.answer,
		ProveQuestion.answer, OwnersQuestion.answer, LogQuestion.answer, ShowQuestion.answer,
		DiffQuestion.answer, RoutesQuestion.answer, StaleQuestion.answer,
		RetirableQuestion.answer,
	} {
		if mine, err := to(ctx, s, question, request, response); mine {
			return err
		}
	}
	return fmt.Errorf("question %q about code with %T and %T: there is none", question, request, response)
}

func (q Question[Q, R]) answer(ctx context.Context, s Sources, name string, request, response any) (mine bool, err error) {
	in, asks := request.(Q)
	out, takes := response.(*R)
	if name != q.Name || !asks || !takes {
		return false, nil
	}
	*out, err = q.ask(ctx, s, in)
	return true, err
}

// Answerer answers questions about code, in this process or elsewhere: Code fills
// in the response, which is a pointer, of the question of a name.
type Answerer interface {
	Code(ctx context.Context, question string, request, response any) error
}

// Ask asks a question. A request that cannot be answered is refused before it is
// sent, with a *query.RequestError.
func Ask[Q, R any](ctx context.Context, of Answerer, q Question[Q, R], request Q) (response R, err error) {
	if c, ok := any(request).(interface{ check() error }); ok {
		if err := c.check(); err != nil {
			return response, err
		}
	}
	err = of.Code(ctx, q.Name, request, &response)
	return response, err
}
