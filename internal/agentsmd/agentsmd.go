// Package agentsmd puts a text of ours into AGENTS.md, a file that belongs to people: between two
// markers, with everything else kept byte for byte. Putting the same text twice changes nothing.
package agentsmd

import (
	"bytes"
	"errors"
	"strings"
)

// These lines enclose the text. Markdown shows neither.
const (
	Begin = "<!-- recount brief: begin (written by recount brief --agents-md) -->"
	End   = "<!-- recount brief: end -->"
)

// Put returns a file with the text between the markers, which it adds at the end if the file has
// none. The error says what is wrong with the markers that are there; the file must be fixed by
// hand then, since it is not known what is ours.
func Put(file []byte, text string) ([]byte, error) {
	newline := "\n"
	if bytes.Contains(file, []byte("\r\n")) {
		newline = "\r\n"
	}
	text = strings.ReplaceAll(strings.ReplaceAll(strings.TrimSpace(text), Begin, ""), End, "")
	block := strings.ReplaceAll(Begin+"\n"+text+"\n"+End, "\n", newline)
	begins, ends := bytes.Count(file, []byte(Begin)), bytes.Count(file, []byte(End))
	at, end := bytes.Index(file, []byte(Begin)), bytes.Index(file, []byte(End))
	switch {
	case begins == 0 && ends == 0:
		s := string(file)
		switch {
		case s == "":
		case strings.HasSuffix(s, newline+newline):
		case strings.HasSuffix(s, newline):
			s += newline
		default:
			s += newline + newline
		}
		return []byte(s + block + newline), nil
	case begins != 1 || ends != 1 || end < at:
		return nil, errors.New("the markers of recount brief are not one pair: remove them (" + Begin + " and " + End + ") and what is between, and write the brief again")
	}
	return []byte(string(file[:at]) + block + string(file[end+len(End):])), nil
}
