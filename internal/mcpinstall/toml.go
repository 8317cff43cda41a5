package mcpinstall

import (
	"encoding/json"
	"errors"
	"regexp"
	"strings"
)

var (
	// header is the header of Recount's table, or of one below it.
	header = regexp.MustCompile(`^\s*\[\s*mcp_servers\s*\.\s*"?recount"?\s*(\.[^\]]*)?\]\s*(#.*)?$`)
	// anyHeader is the header of any table.
	anyHeader = regexp.MustCompile(`^\s*\[`)
	// inline is the table in a form that is not edited here.
	inline = regexp.MustCompile(`(?m)^\s*(mcp_servers\s*=|mcp_servers\s*\.\s*"?recount"?\s*[.=])`)
)

// errInline reports a table that was written in a form that is not edited.
var errInline = errors.New("mcp_servers is not written as tables [mcp_servers.NAME]")

// installTOML replaces Recount's table, or adds it at the end.
func installTOML(settings []byte, command string, args []string) ([]byte, bool, error) {
	if inline.Match(settings) {
		return nil, false, errInline
	}
	var quoted []string
	for _, a := range args {
		quoted = append(quoted, basic(a))
	}
	table := "[mcp_servers.recount]\ncommand = " + basic(command) + "\nargs = [" + strings.Join(quoted, ", ") + "]\n"
	before, ours, after := split(string(settings))
	if strings.TrimSpace(ours) == strings.TrimSpace(table) {
		return settings, false, nil
	}
	if ours == "" && before != "" {
		before = strings.TrimRight(before, "\n") + "\n\n"
	}
	if after != "" {
		table += "\n"
	}
	return []byte(before + table + after), true, nil
}

// uninstallTOML removes Recount's table.
func uninstallTOML(settings []byte) ([]byte, bool, error) {
	if inline.Match(settings) {
		return nil, false, errInline
	}
	before, ours, after := split(string(settings))
	if ours == "" {
		return settings, false, nil
	}
	if after == "" {
		before = strings.TrimRight(before, "\n")
		if before != "" {
			before += "\n"
		}
	}
	return []byte(before + after), true, nil
}

// split cuts a file before and after Recount's table and those below it. Comments right above the
// next table belong to that one.
func split(s string) (before, ours, after string) {
	lines := strings.SplitAfter(s, "\n")
	start, end := -1, len(lines)
	for i, line := range lines {
		switch {
		case header.MatchString(strings.TrimRight(line, "\r\n")):
			if start < 0 {
				start = i
			}
			end = len(lines)
		case anyHeader.MatchString(line) && start >= 0 && end == len(lines):
			end = i
			for end > start+1 && strings.HasPrefix(strings.TrimSpace(lines[end-1]), "#") {
				end--
			}
		}
	}
	if start < 0 {
		return s, "", ""
	}
	return strings.Join(lines[:start], ""), strings.Join(lines[start:end], ""), strings.Join(lines[end:], "")
}

// basic returns a basic string of TOML. JSON's escapes are a part of TOML's.
func basic(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string can always be encoded
	}
	return string(b)
}
