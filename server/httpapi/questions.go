package httpapi

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/query/evidence"
	"github.com/recountdb/recount/query/question"
)

// registerQuestions adds the questions, which use POST because a question has structure.
func (s *server) registerQuestions(h huma.API) {
	register(s, h, evidence.Question)
	registerQuestion(s, h, "find", "Find commands",
		"Looks for commands by words, concepts and meaning, under filters, and says in proof how it came to the answer.",
		nil, func(ctx context.Context, q commands.FindRequest) (commands.FindResponse, error) {
			return s.b.Find(ctx, q)
		})
	registerQuestion(s, h, "why", "What led to a command",
		"Walks back from a command over the edges of the narrative and ranks what led to it, each cause with the path to it and the edges with their evidence.",
		aboutOne, func(ctx context.Context, q commands.WhyRequest) (commands.WhyResponse, error) { return s.b.Why(ctx, q) })
	registerQuestion(s, h, "stitch", "The narrative around a command",
		"Walks both ways from a command and answers with the commands it meets, in the order of time, and the edges among them.",
		aboutOne, func(ctx context.Context, q commands.StitchRequest) (commands.StitchResponse, error) {
			return s.b.Stitch(ctx, q)
		})
	registerQuestion(s, h, "diff", "How two narratives differ",
		"Aligns what led to two commands: what is common, what changed and in what, what only one of them has, and a verdict where their outcomes differ.",
		aboutOne, func(ctx context.Context, q commands.DiffRequest) (commands.DiffResponse, error) {
			return s.b.Diff(ctx, q)
		})
	registerQuestion(s, h, "insights", "What recurs",
		"Counts templates, sequences and failures that are alike among the commands that pass the filters, and suggests what usually comes next.",
		aboutOne, func(ctx context.Context, q commands.InsightsRequest) (commands.InsightsResponse, error) {
			return s.b.Insights(ctx, q)
		})
}

// aboutOne lists the error statuses of a question about a single command, which may not exist or be
// ambiguous.
var aboutOne = []int{http.StatusNotFound, http.StatusConflict}

// registerQuestion adds POST /v1/name, which only reads.
func registerQuestion[Q, R any](s *server, h huma.API, name, summary, description string, failures []int, ask func(context.Context, Q) (R, error)) {
	huma.Register(h, huma.Operation{
		OperationID: name, Method: http.MethodPost, Path: "/v1/" + name, Tags: []string{"questions"},
		Summary: summary, Description: description + " It reads only; POST because a question has structure.",
		MaxBodyBytes: maxQuestion, Errors: append([]int{400, 401, 406, 413, 504}, failures...),
	}, func(ctx context.Context, in *struct{ Body Q }) (*struct{ Body R }, error) {
		r, err := ask(ctx, in.Body)
		if err != nil {
			return nil, s.fail(ctx, err)
		}
		return &struct{ Body R }{r}, nil
	})
}

// register adds a question, such as POST /v1/code/callers, which only reads.
func register[S, Q, R any](s *server, h huma.API, q question.Question[S, Q, R]) {
	id := ""
	for word := range strings.FieldsFuncSeq(q.Path, func(c rune) bool { return c == '/' || c == '-' }) {
		if id != "" {
			word = strings.ToUpper(word[:1]) + word[1:]
		}
		id += word
	}
	huma.Register(h, huma.Operation{
		OperationID: id, Method: http.MethodPost, Path: "/v1/" + q.Path, Tags: []string{cmp.Or(q.Area(), "questions")},
		Summary: q.Summary, Description: q.Description + " It reads only; POST because a question has structure.",
		MaxBodyBytes: maxQuestion, Errors: append([]int{400, 401, 406, 413, 504}, aboutOne...),
	}, func(ctx context.Context, in *struct{ Body Q }) (*struct{ Body R }, error) {
		r, err := q.Ask(ctx, s.b, in.Body)
		if err != nil {
			return nil, s.fail(ctx, err)
		}
		return &struct{ Body R }{r}, nil
	})
}
