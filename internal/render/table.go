package render

import (
	"fmt"
	"io"
	"strings"
)

// Table draws rows under a title; the first row holds the headings. The column at index elastic is
// cut so that a row fits into the line.
func (d *Drawing) Table(title string, rows [][]string, elastic int) {
	widths := make([]int, len(rows[0]))
	for _, r := range rows {
		for i, c := range r {
			widths[i] = max(widths[i], Columns(c))
		}
	}
	if d.Width > 0 {
		others := 2
		for i, w := range widths {
			if i != elastic {
				others += min(w, MaxWide/2) + 2
				widths[i] = min(w, MaxWide/2)
			}
		}
		widths[elastic] = min(widths[elastic], max(d.Width-others, Narrowest))
	}
	if title != "" {
		d.Print("", d.Paint(Bold, title))
	}
	for n, r := range rows {
		var b strings.Builder
		for i, c := range r {
			b.WriteString("  ")
			if c = Cut(c, widths[i]); i < len(r)-1 {
				c = Pad(c, widths[i])
			}
			b.WriteString(c)
		}
		if n == 0 {
			d.Print(d.Paint(Dim, b.String()))
		} else {
			d.Print(b.String())
		}
	}
}

// Table prints rows in aligned columns.
func Table(w io.Writer, rows [][]string) {
	var width []int
	for _, r := range rows {
		for i, c := range r {
			if i == len(width) {
				width = append(width, 0)
			}
			width[i] = max(width[i], Columns(c))
		}
	}
	for _, r := range rows {
		var b strings.Builder
		for i, c := range r {
			b.WriteString(c)
			if i < len(r)-1 {
				b.WriteString(strings.Repeat(" ", width[i]-Columns(c)+2))
			}
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
}
