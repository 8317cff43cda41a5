package agentlog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// Accepted lists for a message whose files can be read.
func Accepted() string {
	var all []string
	for _, f := range Formats {
		if agent, _, ok := strings.Cut(f.Files, ": "); ok && !slices.Contains(all, agent) {
			all = append(all, agent)
		}
	}
	return strings.Join(all, ", ") + ", messages of Anthropic's and OpenAI's APIs, and events one a line (recount import agents --help names their files)"
}

// look describes a JSON value for somebody who has given the wrong file.
func look(raw []byte) string {
	const most = 8
	var items list
	if json.Unmarshal(raw, &items) == nil && items != nil {
		if len(items) == 0 {
			return "an empty list"
		}
		first := "a list" // lists in lists may be thousands
		if items[0][0] != '[' {
			first = look(items[0])
		}
		return fmt.Sprintf("a list of %d, the first of them %s", len(items), first)
	}
	f := object(raw)
	if f == nil {
		return "the JSON value " + headOf(string(raw), 40)
	}
	names := slices.Sorted(maps.Keys(f))
	more := ""
	if len(names) > most {
		more = fmt.Sprintf(" and %d more", len(names)-most)
		names = names[:most]
	}
	for i, n := range names {
		names[i] = headOf(n, 40)
	}
	text := "an object with the fields " + strings.Join(names, ", ") + more
	if len(names) == 0 {
		text = "an empty object"
	}
	if t := f.text("type"); t != "" {
		text += fmt.Sprintf(" (type %q)", headOf(t, 40))
	}
	return text
}

// foreign are beginnings of files that are not JSON but belong to agents or are given by mistake.
var foreign = []struct{ head, what string }{
	{"SQLite format 3\x00", "a SQLite database; of OpenCode, give the output of: opencode export SESSION"},
	{"PK\x03\x04", "a zip archive; extract it first"},
	{"<!DOCTYPE html", "a page of HTML"},
	{"<html", "a page of HTML"},
	{"%PDF", "a PDF document"},
	{"# aider chat started", "a chat history of aider in Markdown, which has no calls or results"},
}

// lookText describes a file that is not JSON by its first line; "" means that it begins as JSON does.
func lookText(line []byte) string {
	for _, x := range foreign {
		if bytes.HasPrefix(bytes.TrimSpace(line), []byte(x.head)) {
			return x.what
		}
	}
	if bytes.HasPrefix(bytes.TrimSpace(line), []byte("#")) {
		return "text, perhaps Markdown"
	}
	switch begins := bytes.TrimSpace(line); {
	case len(begins) == 0 || begins[0] == '{' || begins[0] == '[':
		return ""
	case !utf8.Valid(begins) || bytes.IndexByte(begins, 0) >= 0:
		return "a binary file"
	default:
		return fmt.Sprintf("text that begins with %q", headOf(string(begins), 40))
	}
}
