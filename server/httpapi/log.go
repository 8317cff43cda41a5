package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recountdb/recount/server/api"
)

// registerLog adds the endpoints that read the log itself.
func (s *server) registerLog(h huma.API) {
	huma.Register(h, huma.Operation{
		OperationID: "logTopics", Method: http.MethodGet, Path: "/v1/log", Tags: []string{TagOperation},
		Summary: "List the topics of the log", Description: "The topics with their partitions, each with its first offset and its end.",
		Errors: []int{401, 406, 503},
	}, func(ctx context.Context, _ *struct{}) (*struct{ Body api.LogTopics }, error) {
		r, err := s.b.LogTopics(ctx)
		if err != nil {
			return nil, s.fail(ctx, err)
		}
		return &struct{ Body api.LogTopics }{r}, nil
	})
	huma.Register(h, huma.Operation{
		OperationID: "logPage", Method: http.MethodGet, Path: "/v1/log/{topic}/{partition}", Tags: []string{TagOperation},
		Summary:     "Read events of a partition",
		Description: "Consecutive events of a partition as they are stored, decoded, of at most 4 MiB. Ask again from next to read on, or to follow the end. Erased events appear as what is left of them.",
		Errors:      []int{400, 401, 404, 406, 503},
	}, func(ctx context.Context, in *logPageInput) (*struct{ Body api.LogPage }, error) {
		r := api.LogRequest{Topic: in.Topic, Partition: in.Partition, Limit: in.Limit, Raw: in.Raw}
		if in.From >= 0 {
			r.From = &in.From
		}
		page, err := s.b.LogPage(ctx, r)
		if err != nil {
			return nil, s.fail(ctx, parameter(err))
		}
		return &struct{ Body api.LogPage }{page}, nil
	})
}

type logPageInput struct {
	Topic     string `path:"topic" maxLength:"249" example:"recount.commands" doc:"The topic."`
	Partition int32  `path:"partition" minimum:"0" example:"2" doc:"The partition."`
	From      int64  `query:"from" minimum:"-1" default:"-1" example:"942" doc:"The first offset; by default the newest events."`
	Limit     int    `query:"limit" minimum:"1" maximum:"500" default:"100" example:"100" doc:"Maximum number of events."`
	Raw       bool   `query:"raw" doc:"Return the stored bytes of each payload too, in base64."`
}
