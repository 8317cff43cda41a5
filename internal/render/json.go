package render

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// JSON returns an encoder that writes one line a value, safe for a terminal: encoding/json escapes
// only some of the characters that control one.
func JSON(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(escaped{w})
	enc.SetEscapeHTML(false)
	return enc
}

// escaped escapes control characters in JSON. Outside of strings JSON has none but line breaks. An
// encoder writes a whole value at once.
type escaped struct{ io.Writer }

// Write writes the JSON, and reports all of p as written.
func (e escaped) Write(p []byte) (int, error) {
	if !strings.ContainsFunc(string(p), Controls) {
		return e.Writer.Write(p)
	}
	var b strings.Builder
	for _, r := range string(p) {
		if Controls(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	if _, err := io.WriteString(e.Writer, b.String()); err != nil {
		return 0, err
	}
	return len(p), nil
}
