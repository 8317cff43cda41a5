package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/recountdb/recount/query/evidence"
	"github.com/recountdb/recount/server/access"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/httpapi"
)

// exporting is a backend whose exports write what the test chooses.
type exporting struct {
	fake
	write func(ctx context.Context, w io.Writer) error
}

func (e *exporting) Objects(ctx context.Context, _ evidence.ExportRequest, w io.Writer) error {
	return e.write(ctx, w)
}

func (e *exporting) Scan(ctx context.Context, _ api.ScanRequest, w io.Writer) error {
	return e.write(ctx, w)
}

// TestExportsRenewTheirDeadline checks that each piece of an export has its own deadline and that a
// client that reads nothing is disconnected.
func TestExportsRenewTheirDeadline(t *testing.T) {
	for _, path := range []string{"/v1/objects", "/v1/intents"} {
		w := &writeDeadlines{ResponseRecorder: httptest.NewRecorder()}
		h := httpapi.New(&exporting{write: func(_ context.Context, w io.Writer) error {
			n, err := w.Write([]byte(strings.Repeat("x", 1<<20)))
			if n != 1<<20 {
				t.Errorf("%s: %d bytes written", path, n)
			}
			return err
		}}, httpapi.Options{})
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil))
		if w.Code != http.StatusOK || w.Body.Len() != 1<<20 || len(w.set) < 16 {
			t.Errorf("%s: %d, %d bytes, %d deadlines", path, w.Code, w.Body.Len(), len(w.set))
		}
		for _, d := range w.set {
			if d.IsZero() || time.Until(d) > 10*time.Second {
				t.Errorf("%s: a deadline at %s", path, d)
			}
		}
		w = &writeDeadlines{ResponseRecorder: httptest.NewRecorder(), failAfter: 3}
		func() {
			defer func() {
				if p := recover(); !errors.Is(p.(error), http.ErrAbortHandler) {
					t.Errorf("%s: %v", path, p)
				}
			}()
			httpapi.New(&exporting{write: func(_ context.Context, w io.Writer) error {
				_, err := w.Write(make([]byte, 1<<20))
				return err
			}}, httpapi.Options{}).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil))
			t.Errorf("%s: an answer that was cut short ended as a whole one", path)
		}()
	}
}

// TestExportsAtOnceAreBounded checks that surplus exports get Retry-After and that one token cannot
// take all places.
func TestExportsAtOnceAreBounded(t *testing.T) {
	var entries []access.Entry
	tokens := make([]string, 3)
	for i := range tokens {
		tokens[i] = access.NewToken()
		entries = append(entries, access.Entry{SHA256: access.Hash(tokens[i]), Agent: fmt.Sprint("agent", i), Workspaces: []string{"*"}})
	}
	gate := gateOf(t, entries...)
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		h := httpapi.New(&exporting{write: func(_ context.Context, w io.Writer) error {
			<-free
			_, err := io.WriteString(w, "{}\n")
			return err
		}}, httpapi.Options{Gate: gate})
		ask := func(token string) *httptest.ResponseRecorder {
			w := httptest.NewRecorder()
			r := httptest.NewRequest(http.MethodGet, "http://localhost/v1/objects", nil)
			r.Header.Set("Authorization", "Bearer "+token)
			h.ServeHTTP(w, r)
			return w
		}
		ended := make(chan int, 8)
		under := func(n int, token string) {
			for range n {
				go func() { ended <- ask(token).Code }()
			}
			synctest.Wait()
		}
		refused := func(token string) {
			t.Helper()
			if w := ask(token); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != "5" || !strings.Contains(w.Body.String(), "try again later") {
				t.Errorf("%d, Retry-After %q: %s", w.Code, w.Header().Get("Retry-After"), w.Body)
			}
		}
		under(4, tokens[0])
		refused(tokens[0])
		under(4, tokens[1])
		refused(tokens[2])
		close(free)
		for range 8 {
			if code := <-ended; code != http.StatusOK {
				t.Errorf("ended with %d", code)
			}
		}
		if w := ask(tokens[2]); w.Code != http.StatusOK {
			t.Errorf("afterwards: %d", w.Code)
		}
	})
}

func gateOf(t *testing.T, entries ...access.Entry) *access.Gate {
	t.Helper()
	text := "tokens:\n"
	for _, e := range entries {
		s, err := access.Format(e)
		if err != nil {
			t.Fatal(err)
		}
		text += s
	}
	path := filepath.Join(t.TempDir(), "tokens.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := access.OpenFile(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return access.NewGate("s3cret", f)
}
