package httpapi

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recountdb/recount/query/commands"
	packing "github.com/recountdb/recount/query/context"
	"github.com/recountdb/recount/query/evidence"
	"github.com/recountdb/recount/query/feedback"
	"github.com/recountdb/recount/query/look"
	"github.com/recountdb/recount/query/question"
	"github.com/recountdb/recount/query/recall"
	"github.com/recountdb/recount/query/replays"
	sessionlist "github.com/recountdb/recount/query/sessions"
	"github.com/recountdb/recount/replay/plan"
)

// registerQuestions adds the questions about commands and evidence. Questions use POST because
// they have structure.
func (s *server) registerQuestions(h huma.API) {
	register(s, h, evidence.Question)
	registerFailing(s, h, evidence.RememberedQuestion)
	registerFailing(s, h, evidence.AnnouncedQuestion)
	registerFailing(s, h, look.Question)
	registerFailing(s, h, sessionlist.Question)
	registerGet(s, h, "/v1/sessions", sessionlist.Question)
	register(s, h, packing.Question)
	registerFailing(s, h, recall.RecallQuestion)
	registerFailing(s, h, recall.BriefQuestion)
	registerFailing(s, h, feedback.Question)
	s.registerFeedback(h)
	registerFailing(s, h, commands.FindQuestion)
	registerFailing(s, h, commands.SearchQuestion)
	register(s, h, commands.AroundQuestion)
	register(s, h, commands.WhyQuestion)
	register(s, h, commands.StitchQuestion)
	register(s, h, commands.DiffQuestion)
	register(s, h, commands.InsightsQuestion)
	registerFailing(s, h, commands.TimelineQuestion)
	registerFailing(s, h, commands.StatsQuestion)
	register(s, h, replays.Question)
	register(s, h, commands.ReplayDiffQuestion)
	register(s, h, plan.Question)
}

// aboutOne lists the error statuses of a question about a single thing, which may not exist, be
// ambiguous, or be erased.
var aboutOne = []int{http.StatusNotFound, http.StatusConflict, http.StatusGone}

// register adds a question about a single thing, such as POST /v1/code/callers, which only reads.
func register[S, Q, R any](s *server, h huma.API, q question.Question[S, Q, R]) {
	registerFailing(s, h, q, aboutOne...)
}

// registerFailing adds a question that can fail with the given statuses, besides those of every
// question.
func registerFailing[S, Q, R any](s *server, h huma.API, q question.Question[S, Q, R], failures ...int) {
	id := ""
	for word := range strings.FieldsFuncSeq(q.Path, func(c rune) bool { return c == '/' || c == '-' }) {
		if id != "" {
			word = strings.ToUpper(word[:1]) + word[1:]
		}
		id += word
	}
	huma.Register(h, huma.Operation{
		OperationID: id, Method: http.MethodPost, Path: "/v1/" + q.Path, Tags: []string{cmp.Or(q.Area(), "questions")},
		Summary: q.Summary, Description: q.Description + " Read-only; it uses POST because a query has structure.",
		MaxBodyBytes: maxQuestion, Errors: append([]int{400, 401, 406, 413, 504}, failures...),
		Responses: map[string]*huma.Response{"200": {Content: compactContent()}},
	}, func(ctx context.Context, in *struct{ Body Q }) (*struct{ Body R }, error) {
		r, err := q.Ask(ctx, s.b, in.Body)
		if err != nil {
			return nil, s.fail(ctx, err)
		}
		return &struct{ Body R }{r}, nil
	})
}

// registerGet adds a question whose request has no structure: its fields are query parameters.
func registerGet[S, Q, R any](s *server, h huma.API, path string, q question.Question[S, Q, R]) {
	huma.Register(h, huma.Operation{
		OperationID: "list" + strings.ToUpper(q.Name()[:1]) + q.Name()[1:], Method: http.MethodGet, Path: path, Tags: []string{cmp.Or(q.Area(), "questions")},
		Summary: q.Summary, Description: q.Description + " The same as POST /v1/" + q.Path + ".",
		Errors: []int{400, 401, 406, 504},
	}, func(ctx context.Context, in *Q) (*struct{ Body R }, error) {
		r, err := q.Ask(ctx, s.b, *in)
		if err != nil {
			return nil, s.fail(ctx, parameter(err))
		}
		return &struct{ Body R }{r}, nil
	})
}
