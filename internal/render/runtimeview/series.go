package runtimeview

import (
	"fmt"
	"strings"
	"time"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query/runtime"
)

// maxBar is the width of the bar of the bucket with the most requests.
const maxBar = 24

// Series prints traffic over time: a line for each bucket, with a bar whose end is what failed.
func Series(t *render.Terminal, r runtime.SeriesResponse) {
	most := uint64(0)
	for _, b := range r.Buckets {
		most = max(most, b.Count)
	}
	if most == 0 {
		return
	}
	for _, b := range r.Buckets {
		all := int((b.Count*maxBar + most - 1) / most)
		failed := int((b.Errors*maxBar + most - 1) / most)
		bar := t.Paint(render.Cyan, strings.Repeat("█", max(0, all-failed))) + t.Paint(render.Red, strings.Repeat("▒", min(all, failed)))
		line := fmt.Sprintf("%sZ  %s%s  %8s×", b.From.Format(time.DateTime), bar, strings.Repeat(" ", maxBar-all), render.Thousands(int64(b.Count)))
		if b.Errors > 0 {
			line += "  " + t.Paint(render.Red, fmt.Sprintf("%s failed (%s)", render.Thousands(int64(b.Errors)), percent(b.ErrorRate)))
		}
		if b.P50 > 0 || b.P99 > 0 {
			line += t.Paint(render.Dim, fmt.Sprintf("  p50 %s p95 %s p99 %s", lasted(b.P50), lasted(b.P95), lasted(b.P99)))
		}
		t.Printf("%s\n", line)
	}
}
