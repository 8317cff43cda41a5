package statview

import (
	"strings"
	"time"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands/ask"
)

// row is one bar and what stands beside it.
type row struct {
	name string
	ask.Tally
}

const (
	maxBar  = 32
	minBar  = 6
	maxName = 44
)

// bars draws rows with a bar each, whose end, in another colour and shade, is what failed. Columns
// that do not fit are left out: the time first, then the failures.
func bars(d *render.Drawing, title, heading string, rows []row) {
	if len(rows) == 0 {
		return
	}
	table := [][]string{{heading, "RUNS", "FAILED", "TIME"}}
	most := int64(1)
	for _, r := range rows {
		failed, took := "", ""
		if rate, ok := r.FailureRate(); ok {
			failed = percent(rate)
		}
		if r.Duration > 0 {
			took = query.Took(time.Duration(r.Duration))
		}
		table = append(table, []string{r.name, render.Thousands(r.Runs), failed, took})
		most = max(most, r.Runs)
	}
	widths := make([]int, len(table[0]))
	for _, line := range table {
		for i, cell := range line {
			widths[i] = max(widths[i], render.Columns(cell))
		}
	}
	if d.Width > 0 {
		widths[0] = min(widths[0], maxName)
	}
	shown, bar := fit(d.Width, widths)

	d.Print("", d.Paint(render.Bold, title))
	for n, line := range table {
		lead := "  " + render.Pad(render.Cut(line[0], widths[0]), widths[0]) + "  "
		drawn := strings.Repeat(" ", bar)
		if n > 0 {
			drawn = barOf(d, rows[n-1].Tally, most, bar)
		}
		rest := ""
		for i, cell := range line[1:shown] {
			rest += "  " + strings.Repeat(" ", widths[i+1]-render.Columns(cell)) + cell
		}
		if n == 0 {
			d.Print(d.Paint(render.Dim, lead+drawn+rest))
		} else {
			d.Print(lead + drawn + rest)
		}
	}
}

// fit returns how many cells of a line are shown, and how wide the bar is. It shortens the name
// before it leaves out a cell.
func fit(width int, widths []int) (shown, bar int) {
	if width == 0 {
		return len(widths), maxBar
	}
	const name = 12
	for shown = len(widths); ; shown-- {
		room := width - 4
		for _, w := range widths[1:shown] {
			room -= w + 2
		}
		if room-minBar >= min(widths[0], name) || shown == 2 {
			widths[0] = max(min(widths[0], room-minBar), 1)
			if half := room / 2; widths[0] > half && half >= name {
				widths[0] = max(half, room-maxBar)
			}
			return shown, max(min(room-widths[0], maxBar), 1)
		}
	}
}

// barOf draws a bar of n columns for the most runs.
func barOf(d *render.Drawing, t ask.Tally, most int64, n int) string {
	eighths := int(t.Runs * int64(n) * 8 / most)
	if t.Runs > 0 {
		eighths = max(eighths, 1)
	}
	failed := 0
	if t.Runs > 0 {
		failed = int((t.Failed*int64(eighths)/t.Runs + 4) / 8) // whole columns
	}
	kept := eighths - 8*failed
	if kept < 0 {
		kept = 0
	}
	good := strings.Repeat("█", kept/8)
	if rest := kept % 8; rest > 0 {
		if failed > 0 { // no gap in the middle of a bar
			good += "█"
		} else {
			good += []string{"▏", "▎", "▍", "▌", "▋", "▊", "▉"}[rest-1]
		}
	}
	bad := strings.Repeat("▒", min(failed, n-len([]rune(good))))
	return d.Paint(render.Cyan, good) + d.Paint(render.Red, bad) + strings.Repeat(" ", n-len([]rune(good))-len([]rune(bad)))
}
