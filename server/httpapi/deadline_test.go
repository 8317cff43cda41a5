package httpapi_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/server/httpapi"
)

// deadlines is a connection that only records its read deadline.
type deadlines struct {
	*httptest.ResponseRecorder
	last time.Time
}

func (d *deadlines) SetReadDeadline(t time.Time) error { d.last = t; return nil }

// TestDeadlineIsLiftedOnceTheRequestIsRead is a regression test: a read deadline that expired while
// a request was answered cancelled the request's context, so that questions waiting for at_least,
// rebuilds and scans were cut off after five seconds or a minute.
func TestDeadlineIsLiftedOnceTheRequestIsRead(t *testing.T) {
	asked := false
	var w *deadlines
	f := &fake{find: func(commands.FindRequest) (commands.FindResponse, error) {
		asked = true
		if !w.last.IsZero() {
			t.Errorf("answering with %s left to read a request that has been read", time.Until(w.last))
		}
		return commands.FindResponse{}, nil
	}}
	h := httpapi.New(f, httpapi.Options{})
	w = &deadlines{ResponseRecorder: httptest.NewRecorder(), last: time.Now().Add(time.Minute)}
	r := httptest.NewRequest(http.MethodPost, "http://localhost/v1/find", io.NopCloser(strings.NewReader(`{"text":"x"}`)))
	r.Header.Set("Content-Type", "application/json")
	h.ServeHTTP(w, r)
	if !asked || w.Code != http.StatusOK {
		t.Fatalf("answered %d: %s", w.Code, w.Body)
	}
	for _, r := range []*http.Request{
		httptest.NewRequest(http.MethodGet, "http://localhost/v1/intents", nil),
		httptest.NewRequest(http.MethodPost, "http://localhost/v1/events", strings.NewReader(`{"command":"ls"}`)),
	} {
		w := &deadlines{ResponseRecorder: httptest.NewRecorder(), last: time.Now().Add(time.Minute)}
		h.ServeHTTP(w, r)
		if w.Code != http.StatusOK || !w.last.IsZero() {
			t.Errorf("%s: answered %d with the deadline at %s", r.URL.Path, w.Code, w.last)
		}
	}
}
