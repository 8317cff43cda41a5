package redact

import (
	"encoding/json"
	"strings"
)

// jsonStrings returns a JSON text whose string values are what by makes of them, with the name of
// the field or, within an array, of the array's field. Everything else stays as it is, to the
// byte. A text that is no JSON is treated as one string without a name.
func jsonStrings(text string, by func(name, val string) string) string {
	if !json.Valid([]byte(text)) {
		return by("", text)
	}
	var b strings.Builder
	name := ""
	for {
		start := strings.IndexByte(text, '"')
		if start < 0 {
			b.WriteString(text)
			return b.String()
		}
		b.WriteString(text[:start])
		text = text[start:]
		end := 1
		for text[end] != '"' {
			if text[end] == '\\' {
				end++
			}
			end++
		}
		literal := text[:end+1]
		text = text[end+1:]
		var val string
		_ = json.Unmarshal([]byte(literal), &val) // the text is valid
		if strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), ":") {
			name = val
			b.WriteString(literal)
			continue
		}
		if out := by(name, val); out != val {
			quoted, _ := json.Marshal(out) // a string always can be
			literal = string(quoted)
		}
		b.WriteString(literal)
	}
}
