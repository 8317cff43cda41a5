package wire

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/code"
	"github.com/recountdb/recount/query/commands"
	packing "github.com/recountdb/recount/query/context"
)

// Of returns the payload of an answer, which is a response or a pointer to one. name is that of the
// question ("callers"), since callers and callees have one type. ok is false if the answer is of a
// kind that has no payload.
func Of(name string, answer any) (p Payload, ok bool) {
	p = Payload{Question: name}
	switch a := answer.(type) {
	case code.CallsResponse:
		p.calls(a)
	case code.ImpactResponse:
		p.impact(a)
	case code.SymbolsResponse:
		p.symbols(a)
	case code.TestsResponse:
		p.tests(a)
	case code.FlowResponse:
		p.flow(a)
	case code.RoutesResponse:
		p.routes(a)
	case code.StaleResponse:
		p.stale(a)
	case code.OwnersResponse:
		p.owners(a)
	case code.GraphDiffResponse:
		p.graphDiff(a)
	case code.SnapshotResponse:
		p.snapshot(a)
	case code.Exported:
		p.exported(a)
	case packing.Response:
		p.context(a)
	case commands.FindResponse:
		p.find(a)
	case commands.WhyResponse:
		p.why(a)
	case commands.StitchResponse:
		p.stitch(a)
	case commands.ShowResponse:
		p.show(a)
	case commands.InsightsResponse:
		p.insights(a)
	default:
		return p, false
	}
	return p.finished(), true
}

// basis sets what every answer says of itself, except its proof and its watermark.
func (p *Payload) basis(b query.Basis) {
	if b.Status != query.StatusOK {
		p.Set("status", b.Status)
	}
	p.Set("hint", b.Hint)
}

// counts sets counts by name.
func (p *Payload) counts(all map[string]int) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		p.Set(name, count(all[name]))
	}
}

// count is a number that stands for none if it is 0.
func count[T int | int64 | uint64 | uint32](n T) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// number is a score or a confidence, with three digits at most.
func number(f float64) string {
	if f == 0 {
		return ""
	}
	return strconv.FormatFloat(f, 'g', 3, 64)
}

func flag(b bool) string {
	if b {
		return "yes"
	}
	return ""
}

func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05Z")
}
