package runtimeview

import (
	"fmt"
	"time"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/internal/render/codeview"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/runtime"
)

// measured returns a measure in one line: count, errors and durations.
func measured(t *render.Terminal, m runtime.Measure) string {
	s := render.Thousands(int64(m.Count)) + "×"
	if m.Errors > 0 {
		s += "  " + t.Paint(render.Red, fmt.Sprintf("%s failed (%s)", render.Thousands(int64(m.Errors)), percent(m.ErrorRate)))
	}
	if m.P50 > 0 || m.P99 > 0 {
		s += fmt.Sprintf("  p50 %s p95 %s p99 %s", lasted(m.P50), lasted(m.P95), lasted(m.P99))
	}
	return s
}

// percent formats a share with two digits; it shows 100% only for exactly 1.
func percent(share float64) string {
	switch p := 100 * share; {
	case share < 1 && p >= 99.5:
		return "more than 99 %"
	case p >= 9.95:
		return fmt.Sprintf("%.0f %%", p)
	default:
		return fmt.Sprintf("%.2g %%", p)
	}
}

// lasted formats a duration with two or three digits.
func lasted(nanos int64) string {
	d := time.Duration(nanos)
	switch {
	case d >= 100*time.Millisecond:
		return query.Took(d.Round(10 * time.Millisecond))
	case d >= time.Millisecond:
		return d.Round(100 * time.Microsecond).String()
	}
	return query.Took(d)
}

// handled describes the code behind an operation in one line.
func handled(t *render.Terminal, j *runtime.Join) string {
	switch {
	case j == nil:
		return ""
	case !j.Resolved():
		return t.Paint(render.Dim, "code unknown: "+render.OneLine(j.Why)) + codeview.Sure(j.Confidence)
	}
	s := codeview.Symbol(t, *j.Symbol) + t.Paint(render.Dim, "  by "+j.Rule)
	if j.Others > 0 {
		s += t.Paint(render.Dim, fmt.Sprintf(", or %d others", j.Others))
	}
	return s + codeview.Sure(j.Confidence)
}

// lastSeen returns when something was last seen, and the confidence that it is still in use.
func lastSeen(t *render.Terminal, m runtime.Measure) string {
	return t.Paint(render.Dim, fmt.Sprintf("last %sZ, confidence %.2f", m.Last.UTC().Format(time.DateTime), m.Confidence))
}
