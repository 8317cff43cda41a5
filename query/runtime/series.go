package runtime

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	observed "github.com/recountdb/recount/projections/runtime"
	"github.com/recountdb/recount/query"
)

// Limits of a series. They are part of the API.
const (
	DefaultBuckets = 24
	MaxBuckets     = 500
)

// SeriesRequest asks how traffic went over time.
type SeriesRequest struct {
	Window
	Service   string `json:"service,omitempty" maxLength:"4096" example:"carts" doc:"Only this service."`
	Operation string `json:"operation,omitempty" maxLength:"4096" example:"/orders" doc:"Only operations whose name contains this, ignoring case."`
	Buckets   int    `json:"buckets,omitempty" minimum:"1" maximum:"500" default:"24" example:"24" doc:"Maximum number of buckets. A bucket is a whole number of minutes; if the range is longer than two days or begins where retention kept only hourly sums, of hours."`
}

// SeriesResponse is the answer of series.
type SeriesResponse struct {
	query.Basis
	Buckets []SeriesBucket `json:"buckets" nullable:"false" doc:"The buckets by time, without gaps; they differ in length by at most a minute, or an hour. They begin at or before the range and end at or after it."`
	Count   uint64         `json:"count" example:"1402" doc:"The number of requests in all buckets."`
	Errors  uint64         `json:"errors" example:"14" doc:"The number of failed requests in all buckets."`
}

// SeriesBucket sums up the requests of a part of the range, of all operations together.
type SeriesBucket struct {
	From      time.Time `json:"from" example:"2026-11-20T12:00:00Z" doc:"Its beginning."`
	To        time.Time `json:"to" example:"2026-11-20T12:10:00Z" doc:"Its end, which is the beginning of the next."`
	Count     uint64    `json:"count" example:"120" doc:"The number of requests."`
	Errors    uint64    `json:"errors" example:"2" doc:"The number of failed requests."`
	ErrorRate float64   `json:"error_rate" example:"0.017" doc:"Errors as a fraction of all."`
	P50       int64     `json:"p50_ns" example:"1200000" doc:"The median duration in nanoseconds, accurate to 1 %; 0 if none is known."`
	P95       int64     `json:"p95_ns" example:"9100000" doc:"The 95th percentile of the duration in nanoseconds."`
	P99       int64     `json:"p99_ns" example:"21000000" doc:"The 99th percentile of the duration in nanoseconds."`
}

func (r SeriesRequest) check() error {
	if r.Buckets < 0 || r.Buckets > MaxBuckets {
		return &query.RequestError{Field: "buckets", Value: r.Buckets, Reason: fmt.Sprintf("want 1 to %d", MaxBuckets)}
	}
	return cmp.Or(r.Window.check(), query.CheckName("service", r.Service), query.CheckName("operation", r.Operation))
}

// SeriesOf sums up what services served by buckets of time, in one state.
func SeriesOf(ctx context.Context, s Sources, r SeriesRequest) (SeriesResponse, error) {
	resp := SeriesResponse{Buckets: []SeriesBucket{}}
	a, err := s.open(ctx, r)
	if err != nil {
		return resp, err
	}
	defer a.Close()
	bounds, err := a.buckets(cmp.Or(r.Buckets, DefaultBuckets))
	if err != nil {
		return resp, err
	}
	part := strings.ToLower(r.Operation)
	for i := range max(0, len(bounds)-1) {
		rows, err := a.view.ServerSums(ctx, observed.Range{From: bounds[i], To: bounds[i+1]}, r.Service)
		if err != nil {
			return resp, err
		}
		var sum observed.Sum
		for j := range rows {
			if strings.Contains(strings.ToLower(rows[j].Operation), part) {
				sum.Merge(&rows[j].Sum)
			}
		}
		m := measure(&sum, 0)
		resp.Buckets = append(resp.Buckets, SeriesBucket{
			From: time.Unix(0, bounds[i]).UTC(), To: time.Unix(0, bounds[i+1]).UTC(),
			Count: m.Count, Errors: m.Errors, ErrorRate: m.ErrorRate, P50: m.P50, P95: m.P95, P99: m.P99,
		})
		resp.Count, resp.Errors = resp.Count+m.Count, resp.Errors+m.Errors
	}
	a.Step(query.Step{Operator: "series", Counts: map[string]int64{"buckets": int64(len(resp.Buckets)), "requests": int64(resp.Count)}})
	a.RecordTime("series")
	hint := ""
	if resp.Count == 0 {
		if hint, err = a.nothingServed(0, r.Service); err != nil {
			return resp, err
		}
	}
	resp.Basis = a.basis(resp.Count == 0, hint, named("service", "eq", r.Service, "operation", "contains", r.Operation)...)
	return resp, nil
}

// buckets returns the bounds of at most n buckets that cover the range: n+1 times, each a whole
// minute or hour, so that no span is in two buckets.
func (a *session) buckets(n int) ([]int64, error) {
	first, last := a.view.Bounds()
	if last == 0 {
		return nil, nil
	}
	within := a.within
	if within == (observed.Range{}) {
		within = observed.Range{From: first, To: last + 1}
	}
	const room = int64(48 * time.Hour) // for rounding
	from, to := max(within.From, math.MinInt64+room), min(within.To, math.MaxInt64-room)
	if from >= to {
		return nil, nil
	}
	unit := int64(time.Minute)
	hourly, kept, err := a.view.Summed()
	if err != nil {
		return nil, err
	}
	// Differences are unsigned: wrong clocks can be further apart than an int64 holds.
	if uint64(to)-uint64(from) > uint64(48*time.Hour) || kept && from < hourly {
		unit = int64(time.Hour)
	}
	if over := from % unit; over < 0 {
		from -= unit + over
	} else {
		from -= over
	}
	units := (uint64(to)-uint64(from)-1)/uint64(unit) + 1
	buckets := min(uint64(n), units)
	bounds := make([]int64, buckets+1)
	for i := range bounds {
		bounds[i] = from + unit*int64(uint64(i)*units/buckets)
	}
	return bounds, nil
}
