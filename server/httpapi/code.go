package httpapi

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/recountdb/recount/query/code"
)

// registerCode adds the questions about code.
func (s *server) registerCode(api huma.API) {
	s.registerExport(api)
	registerCodeQuestion(s, api, code.SymbolsQuestion)
	registerCodeQuestion(s, api, code.CallersQuestion)
	registerCodeQuestion(s, api, code.CalleesQuestion)
	registerCodeQuestion(s, api, code.ImpactQuestion)
	registerCodeQuestion(s, api, code.TestsQuestion)
	registerCodeQuestion(s, api, code.FlowQuestion)
	registerCodeQuestion(s, api, code.ProveQuestion)
	registerCodeQuestion(s, api, code.OwnersQuestion)
	registerCodeQuestion(s, api, code.LogQuestion)
	registerCodeQuestion(s, api, code.ShowQuestion)
	registerCodeQuestion(s, api, code.DiffQuestion)
	registerCodeQuestion(s, api, code.RoutesQuestion)
	registerCodeQuestion(s, api, code.StaleQuestion)
	registerCodeQuestion(s, api, code.RetirableQuestion)
}

// Media types of exports.
const (
	mediaDOT     = "text/vnd.graphviz"
	mediaGraphML = "application/graphml+xml"
)

func exportMedia(format string) string {
	switch format {
	case code.FormatDOT:
		return mediaDOT
	case code.FormatGraphML:
		return mediaGraphML
	}
	return mediaJSON
}

// registerExport adds POST /v1/code/export, which streams.
func (s *server) registerExport(api huma.API) {
	text := &huma.MediaType{Schema: &huma.Schema{Type: "string"}}
	huma.Register(api, huma.Operation{
		OperationID: "codeExport", Method: http.MethodPost, Path: "/v1/code/export", Tags: []string{"code"},
		Summary:      "Export a graph",
		Description:  "Writes the graph at a revision, or what is around a symbol, as JSON, for Graphviz or as GraphML, with communities if asked. It is streamed: an answer that ends without its closing chunk was cut short. It reads only.",
		MaxBodyBytes: maxQuestion, Errors: append([]int{400, 401, 406, 413, 504}, aboutOne...),
		Responses: map[string]*huma.Response{"200": {
			Description: "The graph.",
			Content: map[string]*huma.MediaType{
				mediaJSON: {Schema: &huma.Schema{Type: "object", Description: "revision, communities, nodes (id, name, kind, file, line, community), edges (from, to, edge, provenance, confidence, site), and rests_on: the watermark and the proof."}},
				mediaDOT:  text, mediaGraphML: text,
			},
		}},
	}, func(ctx context.Context, in *struct{ Body code.ExportRequest }) (*huma.StreamResponse, error) {
		return &huma.StreamResponse{Body: func(hc huma.Context) {
			_, w := humago.Unwrap(hc)
			lw := &lazyWriter{w: w, media: exportMedia(in.Body.Format)}
			_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})
			s.stream(ctx, lw, s.b.Export(ctx, in.Body, lw))
		}}, nil
	})
}

// registerCodeQuestion adds POST /v1/code/name. It reads only.
func registerCodeQuestion[Q, R any](s *server, api huma.API, q code.Question[Q, R]) {
	id := "code"
	for word := range strings.SplitSeq(q.Name, "-") {
		id += strings.ToUpper(word[:1]) + word[1:]
	}
	huma.Register(api, huma.Operation{
		OperationID: id, Method: http.MethodPost, Path: "/v1/code/" + q.Name, Tags: []string{"code"},
		Summary: q.Summary, Description: q.Description + " It reads only; POST because a question has structure.",
		MaxBodyBytes: maxQuestion, Errors: append([]int{400, 401, 406, 413, 504}, aboutOne...),
	}, func(ctx context.Context, in *struct{ Body Q }) (*struct{ Body R }, error) {
		r, err := code.Ask(ctx, s.b, q, in.Body)
		if err != nil {
			return nil, s.fail(ctx, err)
		}
		return &struct{ Body R }{r}, nil
	})
}
