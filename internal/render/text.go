package render

import (
	"strings"

	"github.com/recountdb/recount/schemas"
)

// PlainText makes text of several lines safe for a terminal; use oneLine for names.
func PlainText(s string) string { return schemas.PlainText(s) }

// Indent puts prefix before each line of s but the first.
func Indent(s, prefix string) string { return strings.ReplaceAll(s, "\n", "\n"+prefix) }

// Controls reports whether a character controls a terminal.
func Controls(r rune) bool { return schemas.Controls(r) }

// OneLine makes text from other sources safe for one line of a terminal.
func OneLine(s string) string { return schemas.OneLine(s) }
