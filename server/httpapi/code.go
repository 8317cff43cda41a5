package httpapi

import (
	"context"
	"io"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/recountdb/recount/query/code"
)

// registerCode adds the questions about code.
func (s *server) registerCode(h huma.API) {
	s.registerExport(h)
	register(s, h, code.SymbolsQuestion)
	register(s, h, code.CallersQuestion)
	register(s, h, code.CalleesQuestion)
	register(s, h, code.ImpactQuestion)
	register(s, h, code.TestsQuestion)
	register(s, h, code.FlowQuestion)
	register(s, h, code.ProveQuestion)
	register(s, h, code.OwnersQuestion)
	register(s, h, code.LogQuestion)
	register(s, h, code.ShowQuestion)
	register(s, h, code.DiffQuestion)
	register(s, h, code.RoutesQuestion)
	register(s, h, code.StaleQuestion)
	register(s, h, code.RetirableQuestion)
	registerFailing(s, h, code.RepositoriesQuestion)
	registerGet(s, h, "/v1/repositories", code.RepositoriesQuestion)
}

// The media types of graph exports.
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

// registerExport adds POST /v1/code/export, which streams its answer.
func (s *server) registerExport(h huma.API) {
	text := &huma.MediaType{Schema: &huma.Schema{Type: "string"}}
	huma.Register(h, huma.Operation{
		OperationID: "codeExport", Method: http.MethodPost, Path: "/v1/code/export", Tags: []string{"code"},
		Summary:      "Export a graph",
		Description:  "Writes the graph at a revision, or the part around one symbol, as JSON, Graphviz DOT or GraphML, optionally with communities. The answer is streamed: if it ends without its closing chunk, it was cut short. Read-only.",
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
			s.export(ctx, w, exportMedia(in.Body.Format), func(w io.Writer) error { return s.b.Export(ctx, in.Body, w) })
		}}, nil
	})
}
