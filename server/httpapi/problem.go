package httpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"github.com/recountdb/recount/projections/lexical/spelling"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/code"
	"github.com/recountdb/recount/replay/sandbox"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
)

// nameLocation is the location of the details of a problem about an ambiguous name of code.
const nameLocation = "name"

// fail converts a backend's error into a problem. Errors that the client cannot fix are logged with
// the request's id.
func (s *server) fail(ctx context.Context, err error) huma.StatusError {
	var (
		re   *query.RequestError
		nf   *query.NotFoundError
		er   *query.ErasedError
		am   *query.AmbiguousError
		sa   *code.AmbiguousNameError
		nv   *query.NotVisibleError
		be   *bodyError
		ee   *api.EventError
		he   huma.StatusError
		tooL *http.MaxBytesError
		rf   *sandbox.RefusedError
		co   *sandbox.ConflictError
		ua   *sandbox.UnavailableError
	)
	switch {
	case errors.As(err, &rf), errors.As(err, &co), errors.As(err, &ua):
		return typed("", http.StatusConflict, err.Error())
	case errors.As(err, &he):
		return he
	case errors.As(err, &re):
		return typed(api.TypeInvalid, http.StatusUnprocessableEntity, "the request cannot be answered",
			&huma.ErrorDetail{Location: "body." + re.Field, Message: re.Reason, Value: re.Value})
	case errors.As(err, &be):
		return typed(api.TypeInvalid, be.status, "the events were not appended", &huma.ErrorDetail{Location: be.location, Message: be.reason})
	case errors.As(err, &ee) && errors.Is(err, schemas.ErrPoison):
		return typed(api.TypeInvalid, http.StatusUnprocessableEntity, "the events were not appended", &huma.ErrorDetail{Location: locationOf(ee.Index, ee.Of), Message: ee.Err.Error()})
	case errors.As(err, &tooL):
		return typed(api.TypeInvalid, http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is larger than %d bytes; nothing was appended; send smaller batches, and only the tail of a command's output", tooL.Limit))
	case errors.As(err, &nf):
		p := typed(api.TypeNotFound, http.StatusNotFound, nf.Error(), &huma.ErrorDetail{Location: cmp.Or(string(nf.Kind), "id"), Message: nf.Hint, Value: nf.Ref})
		if nf.Unread > 0 {
			return passing{p}
		}
		return p
	case errors.As(err, &er):
		return typed(api.TypeErased, http.StatusGone, er.Error(), &huma.ErrorDetail{Location: "id", Message: "erased", Value: er})
	case errors.As(err, &am):
		var details []*huma.ErrorDetail
		for _, c := range am.Matches {
			details = append(details, &huma.ErrorDetail{Location: "id", Message: "may mean " + c.Time.UTC().Format(time.RFC3339) + " " + c.Command, Value: c})
		}
		return typed(api.TypeAmbiguous, http.StatusConflict, am.Error(), append(details, &huma.ErrorDetail{Location: "id", Message: "the reference", Value: am.Prefix})...)
	case errors.As(err, &sa):
		var details []*huma.ErrorDetail
		for _, c := range sa.Candidates {
			details = append(details, &huma.ErrorDetail{Location: nameLocation, Message: strings.TrimSpace("may mean " + c.Name + "  " + c.Is), Value: c})
		}
		return typed(api.TypeAmbiguous, http.StatusConflict, sa.Error(), append(details, &huma.ErrorDetail{Location: nameLocation, Message: "the reference", Value: sa})...)
	case errors.As(err, &nv):
		return typed(api.TypeNotVisible, http.StatusGatewayTimeout, nv.Error(),
			&huma.ErrorDetail{Location: "body.at_least", Message: "visible is " + nv.Have.String(), Value: nv.Want.String()})
	case errors.Is(err, schemas.ErrPoison):
		return typed(api.TypeInvalid, http.StatusUnprocessableEntity, err.Error())
	case errors.Is(err, context.Canceled):
		return huma.NewError(499, "the client disconnected")
	case errors.Is(err, api.ErrBusy):
		return typed(api.TypeBusy, http.StatusConflict, err.Error())
	case errors.Is(err, api.ErrReused):
		return typed(api.TypeReused, http.StatusConflict, err.Error())
	case errors.Is(err, api.ErrUnavailable), errors.Is(err, schemas.ErrTransient), errors.Is(err, context.DeadlineExceeded):
		s.o.Log.Warn("http request unavailable", "request", RequestID(ctx), "err", err)
		return typed(api.TypeUnavailable, http.StatusServiceUnavailable, err.Error())
	}
	s.o.Log.Error("http request failed", "request", RequestID(ctx), "err", err)
	return huma.Error500InternalServerError(err.Error())
}

// typed returns a problem of one of api's types.
func typed(problem string, status int, detail string, errs ...*huma.ErrorDetail) *huma.ErrorModel {
	return &huma.ErrorModel{Type: problem, Title: http.StatusText(status), Status: status, Detail: detail, Errors: errs}
}

// passing is a problem that passes by itself: Retry-After says when to ask again.
type passing struct{ *huma.ErrorModel }

// GetHeaders returns the header with the seconds.
func (passing) GetHeaders() http.Header { return http.Header{"Retry-After": {"2"}} }

// model returns the problem that is sent for an error.
func model(err huma.StatusError) *huma.ErrorModel {
	switch m := err.(type) {
	case *huma.ErrorModel:
		return m
	case passing:
		return m.ErrorModel
	}
	return &huma.ErrorModel{Title: http.StatusText(err.GetStatus()), Status: err.GetStatus(), Detail: err.Error()}
}

// problem writes a problem without one of api's types.
func problem(w http.ResponseWriter, status int, detail string, errs ...*huma.ErrorDetail) {
	writeProblem(w, &huma.ErrorModel{Title: http.StatusText(status), Status: status, Detail: detail, Errors: errs})
}

func writeProblem(w http.ResponseWriter, err huma.StatusError) {
	m := model(err)
	w.Header().Set("Content-Type", mediaProblem)
	w.WriteHeader(m.Status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(m) // the client may have disconnected
}

// nameFields adds the fields that a request may have to the details about a field that it may not have.
func nameFields(schemas huma.Registry, op *huma.Operation, m *huma.ErrorModel) {
	for _, d := range m.Errors {
		path := strings.Split(d.Location, ".")
		if d.Message != validation.MsgUnexpectedProperty || path[0] != "body" || op.RequestBody == nil || op.RequestBody.Content[mediaJSON] == nil {
			continue
		}
		var known []string
		at := op.RequestBody.Content[mediaJSON].Schema
		for _, name := range path[1:] {
			for at != nil && at.Ref != "" {
				at = schemas.SchemaFromRef(at.Ref)
			}
			if at == nil {
				break
			}
			known = slices.Sorted(maps.Keys(at.Properties))
			at = at.Properties[name]
		}
		if len(known) == 0 {
			continue
		}
		typed, near := path[len(path)-1], ""
		for _, name := range known {
			if strings.HasPrefix(typed, name) || strings.HasPrefix(name, typed) || spelling.Distance(typed, name, len(typed)/3) <= len(typed)/3 {
				near = name
				break
			}
		}
		if near != "" {
			d.Message += fmt.Sprintf("; did you mean %s?", near)
		} else {
			d.Message += "; want " + strings.Join(known, ", ")
		}
	}
}
