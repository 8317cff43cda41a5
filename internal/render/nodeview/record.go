package nodeview

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
)

// Record prints one record of the log, with --json as one line.
func Record(term *render.Terminal, r schemas.LogRecord) error {
	t, err := api.NewStoredEvent(r)
	if err != nil {
		return err
	}
	if !term.JSON {
		typ, payload := t.Type, string(bytes.TrimSpace(append(t.Payload, t.PayloadBase64...)))
		if t.Erased != nil {
			payload = fmt.Sprintf("erased by %s; its SHA-256 was %s", t.Erased.By, t.Erased.SHA256)
		}
		if t.Error != "" {
			typ = "not an event: " + t.Error
		}
		if !utf8.ValidString(payload) {
			payload = strconv.QuoteToASCII(payload)
		}
		const widest = 2000
		if len(payload) > widest {
			payload = strings.ToValidUTF8(payload[:widest], "") + term.Paint(render.Dim, fmt.Sprintf(" … %d bytes in all", len(r.Value)))
		}
		_, werr := fmt.Fprintf(term.Out, "%s %s %s %s\n    %s\n", term.Paint(render.Yellow, r.Position.String()),
			r.Timestamp.Local().Format("2006-01-02 15:04:05.000"), term.Paint(render.Cyan, render.OneLine(typ)), term.Paint(render.Dim, render.OneLine(string(r.Key))), render.Indent(render.PlainText(payload), "    "))
		return werr
	}
	enc := render.JSON(term.Out)
	return enc.Encode(t)
}
