package httpapi_test

import (
	"errors"
	"testing"
	"time"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/runtime"
	"github.com/recountdb/recount/server/httpapi"
)

func TestRuntime(t *testing.T) {
	_, c := serve(t, &fake{}, httpapi.Options{})
	ctx := t.Context()
	r, err := runtime.TrafficQuestion.Ask(ctx, c, runtime.TrafficRequest{Service: "carts", Window: runtime.Window{From: time.Unix(0, 0)}})
	if err != nil || len(r.Operations) != 1 || r.Operations[0].Service != "runtime/traffic of carts" {
		t.Errorf("traffic: %+v %v", r.Operations, err)
	}
	var nf *query.NotFoundError
	trace := "5b8efff798038103d269b633813fc60c"
	if _, err := runtime.TraceQuestion.Ask(ctx, c, runtime.TraceRequest{Trace: trace}); !errors.As(err, &nf) || nf.Hint != "no span of that trace was received" {
		t.Errorf("not found: %v", err)
	}
	for name, ask := range map[string]func() error{
		"trace": func() error {
			_, err := runtime.TraceQuestion.Ask(ctx, c, runtime.TraceRequest{Trace: trace[1:]})
			return err
		},
		"ref": func() error {
			_, err := runtime.WhyQuestion.Ask(ctx, c, runtime.SpanWhyRequest{Ref: "018f3c2a"})
			return err
		},
		"days": func() error {
			_, err := runtime.WhyQuestion.Ask(ctx, c, runtime.SpanWhyRequest{Ref: trace, Days: 366})
			return err
		},
		"from": func() error {
			_, err := runtime.EdgesQuestion.Ask(ctx, c, runtime.EdgesRequest{Window: runtime.Window{From: time.Unix(2, 0), To: time.Unix(1, 0)}})
			return err
		},
		"at": func() error {
			_, err := runtime.StatsQuestion.Ask(ctx, c, runtime.StatsRequest{Window: runtime.Window{At: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)}})
			return err
		},
	} {
		var re *query.RequestError
		if err := ask(); !errors.As(err, &re) || re.Field != name {
			t.Errorf("%s is refused before it is sent: %v", name, err)
		}
	}
}
