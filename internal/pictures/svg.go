package main

import (
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/rivo/uniseg"
)

// The measures of a picture in pixels: a cell's width and height, where text stands in a cell, and
// the margin.
const (
	cellWidth, cellHeight = 8.4, 18.0
	baseline              = 13.5
	margin                = 14.0
)

// look is the style sheet: the 16 colours of a terminal for light and for dark paper.
const look = `svg{--paper:#fbfbfa;--ink:#24292f;--edge:#d0d7de;
--c0:#24292f;--c1:#b3261e;--c2:#1a7f37;--c3:#8a5a00;--c4:#0b57d0;--c5:#8250df;--c6:#0a6b78;--c7:#6e7781;
--c8:#57606a;--c9:#cf222e;--c10:#2da44e;--c11:#9a6700;--c12:#218bff;--c13:#a475f9;--c14:#1b7c83;--c15:#8c959f}
@media (prefers-color-scheme:dark){svg{--paper:#14181d;--ink:#d7dce2;--edge:#30363d;
--c0:#484f58;--c1:#ff7b72;--c2:#56d364;--c3:#e3b341;--c4:#79c0ff;--c5:#d2a8ff;--c6:#56d4dd;--c7:#b1bac4;
--c8:#6e7681;--c9:#ffa198;--c10:#7ee787;--c11:#f2cc60;--c12:#a5d6ff;--c13:#e2c5ff;--c14:#b3f0ff;--c15:#f0f6fc}}
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:var(--ink);white-space:pre}
.b{font-weight:700}.f{opacity:.62}.i{font-style:italic}.u{text-decoration:underline}`

// draw writes the rows as an SVG picture. Each run of cells has a place and a length of its own, so
// that the columns stand below each other in every font.
func draw(w io.Writer, rows [][]span, columns int, title string) {
	width, height := 2*margin+cellWidth*float64(columns), 2*margin+cellHeight*float64(len(rows))
	fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" role="img">`, width, height, width, height)
	if title != "" {
		fmt.Fprintf(w, "<title>%s</title>", html.EscapeString(title))
	}
	fmt.Fprintf(w, "<style>%s</style>\n", look)
	fmt.Fprintf(w, `<rect x=".5" y=".5" width="%.0f" height="%.0f" rx="6" fill="var(--paper)" stroke="var(--edge)"/>`+"\n", width-1, height-1)
	for i, row := range rows {
		drawRow(w, row, margin+cellHeight*float64(i))
	}
	fmt.Fprintln(w, "</svg>")
}

// drawRow draws one row with its upper edge at y.
func drawRow(w io.Writer, row []span, y float64) {
	column := 0
	for _, s := range row {
		cells := uniseg.StringWidth(s.text)
		x, length := margin+cellWidth*float64(column), cellWidth*float64(cells)
		foreground, background := s.foreground, s.background
		if s.reverse {
			foreground, background = or(background, "var(--paper)"), or(foreground, "var(--ink)")
		}
		if background != "" {
			fmt.Fprintf(w, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.0f" fill="%s"/>`, x, y, length, cellHeight, background)
		}
		if strings.TrimSpace(s.text) != "" {
			fmt.Fprintf(w, `<text x="%.1f" y="%.1f" textLength="%.1f"%s%s xml:space="preserve">%s</text>`,
				x, y+baseline, length, classes(s.style), fill(foreground), html.EscapeString(s.text))
		}
		column += cells
	}
	fmt.Fprintln(w)
}

func or(colour, otherwise string) string {
	if colour == "" {
		return otherwise
	}
	return colour
}

// fill returns the attribute of a colour, if it is not the default.
func fill(colour string) string {
	if colour == "" {
		return ""
	}
	return fmt.Sprintf(` style="fill:%s"`, colour)
}

// classes returns the attribute for what a style has besides colours.
func classes(s style) string {
	var names []string
	for _, c := range []struct {
		name string
		on   bool
	}{{"b", s.bold}, {"f", s.faint}, {"i", s.italic}, {"u", s.under}} {
		if c.on {
			names = append(names, c.name)
		}
	}
	if names == nil {
		return ""
	}
	return fmt.Sprintf(` class="%s"`, strings.Join(names, " "))
}
