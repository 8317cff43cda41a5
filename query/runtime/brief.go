package runtime

import (
	"context"
	"slices"
	"time"

	"github.com/recountdb/recount/schemas"
)

// TraceSummary is a summary of a trace. For a trace of many events it covers the first maxBriefEvents.
type TraceSummary struct {
	Trace    string
	Services []string
	// Top is the name of the first span.
	Top           string
	Start         time.Time
	Spans, Failed int
	// More reports that the trace has events that were not read.
	More bool
	// Position is that of the event with the first span.
	Position schemas.Position
}

// maxBriefEvents is the maximum number of events of a trace that are read for its summary.
const maxBriefEvents = 32

// Briefs returns summaries of traces by id. It reads only events for which visible returns true.
// Traces without visible spans, and strings that are not trace ids, are omitted. The watermark is
// that of the answer.
func Briefs(ctx context.Context, s Sources, traces []string, visible func(schemas.Position) bool) (map[string]TraceSummary, schemas.Watermark, error) {
	a, err := s.open(ctx, Window{})
	if err != nil {
		return nil, nil, err
	}
	defer a.Close()
	found := map[string]TraceSummary{}
	for _, name := range traces {
		id, err := parseTrace(name)
		if err != nil {
			continue
		}
		positions, err := a.view.Trace(ctx, id)
		if err != nil {
			return nil, nil, err
		}
		positions = slices.DeleteFunc(positions, func(p schemas.Position) bool { return !visible(p) })
		type identity struct {
			id      spanID
			service string
		}
		known := map[identity]bool{}
		b := TraceSummary{Trace: id.String(), Services: []string{}, More: len(positions) > maxBriefEvents}
		for _, p := range positions[:min(len(positions), maxBriefEvents)] {
			spans, err := a.spansAt(p, id)
			if err != nil {
				return nil, nil, err
			}
			for i := range spans {
				if k := (identity{spans[i].id, spans[i].service}); !known[k] {
					known[k] = true
					b.take(&spans[i])
				}
			}
		}
		if slices.Sort(b.Services); b.Spans > 0 {
			found[name] = b
		}
	}
	return found, a.Visible, nil
}

// take adds a span of the trace.
func (b *TraceSummary) take(s *span) {
	start := time.Unix(0, s.seen.StartUnixNano).UTC()
	if b.Spans == 0 || start.Before(b.Start) {
		b.Start, b.Top, b.Position = start, s.raw.GetName(), s.at
	}
	b.Spans++
	if s.failed() {
		b.Failed++
	}
	if !slices.Contains(b.Services, s.service) {
		b.Services = append(b.Services, s.service)
	}
}
