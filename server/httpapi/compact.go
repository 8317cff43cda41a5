package httpapi

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recountdb/recount/query/wire"
	"github.com/recountdb/recount/server/api"
)

// The media types of answers in the codecs of package wire: what an answer says, without its proof.
const (
	mediaForm          = "application/x-www-form-urlencoded"
	mediaText          = "text/plain"
	mediaCompactBinary = "application/vnd.recount.compact"
	mediaCompactJSON   = "application/vnd.recount.compact+json"
)

var (
	codecs = wire.Builtin()
	// compactMedia has the codec of each media type.
	compactMedia = map[string]string{mediaText: wire.Text, mediaCompactBinary: wire.Binary, mediaCompactJSON: wire.JSON}
)

// compactFormats returns huma's formats with those of package wire. Requests may write whole numbers as 5.0.
func compactFormats() map[string]huma.Format {
	all := maps.Clone(huma.DefaultFormats)
	for media, codec := range compactMedia {
		all[media] = huma.Format{
			Marshal:   func(w io.Writer, v any) error { return writeCompact(w, codec, v) },
			Unmarshal: func([]byte, any) error { return huma.ErrUnknownContentType }, // no request is in it
		}
	}
	for _, media := range []string{mediaJSON, "json"} {
		f := all[media]
		f.Unmarshal = api.Unmarshal
		all[media] = f
	}
	form := all[mediaJSON]
	form.Unmarshal = func([]byte, any) error {
		return fmt.Errorf("%w: %s, which curl sends if it is not told another: want content-type: application/json", huma.ErrUnknownContentType, mediaForm)
	}
	all[mediaForm] = form
	return all
}

// compactContent describes the answers of a question.
func compactContent() map[string]*huma.MediaType {
	return map[string]*huma.MediaType{
		mediaJSON:          {},
		mediaText:          {Schema: &huma.Schema{Type: "string", Description: "The answer without its proof as compact text, in which a model reads it with few tokens."}},
		mediaCompactBinary: {Schema: &huma.Schema{Type: "string", Format: "binary", Description: "The same as bytes."}},
		mediaCompactJSON:   {Schema: &huma.Schema{Type: "object", Description: "The same as lists of rows."}},
	}
}

// answered is an answer with the name of its question.
type answered struct {
	question string
	answer   any
}

// MarshalJSON returns the answer's own JSON.
func (a answered) MarshalJSON() ([]byte, error) { return json.Marshal(a.answer) }

// nameAnswer returns a transformer: it tells the codecs which question an answer belongs to. A problem is
// JSON whatever the client accepts, and one that huma found in the request is invalid as others are;
// an unknown field is answered with the one that was probably meant, or with all that there are.
func nameAnswer(schemas huma.Registry) huma.Transformer {
	return func(hc huma.Context, _ string, v any) (any, error) {
		if _, failed := v.(error); failed {
			hc.SetHeader("Content-Type", mediaProblem)
			if p, ok := v.(*huma.ErrorModel); ok && p.Status == http.StatusUnprocessableEntity && p.Type == "" {
				p.Type = api.TypeInvalid
				nameFields(schemas, hc.Operation(), p)
			}
			return v, nil
		}
		if accept := hc.Header("Accept"); !strings.Contains(accept, mediaText) && !strings.Contains(accept, mediaCompactBinary) {
			return v, nil
		}
		path := hc.Operation().Path
		return answered{path[strings.LastIndexByte(path, '/')+1:], v}, nil
	}
}

// writeCompact writes an answer, or a problem as JSON.
func writeCompact(w io.Writer, codec string, v any) error {
	a, ok := v.(answered)
	if !ok {
		return huma.DefaultJSONFormat.Marshal(w, v)
	}
	b, err := codecs.EncodeWith(codec, wire.OfAny(a.question, a.answer))
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}
