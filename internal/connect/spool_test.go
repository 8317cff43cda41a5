package connect_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/internal/spool"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/node"
)

// TestWhatAServerDoesNotTake checks that an event goes into the spool if the server's log takes nothing
// now, as with a disk that is nearly full, or if the server does not understand what this program does, and not if it is
// refused for good. exec lost such commands.
func TestWhatAServerDoesNotTake(t *testing.T) {
	for name, c := range map[string]struct {
		status  int
		event   string
		spooled bool
	}{
		"nearly full":        {http.StatusServiceUnavailable, `{"command":"make"}`, true},
		"not allowed":        {http.StatusForbidden, `{"command":"make"}`, false},
		"an older server":    {http.StatusUnprocessableEntity, `{"command":"make","changes":{"below":"/src","looked_at":"2026-01-02T12:00:00Z"}}`, true},
		"understood by none": {http.StatusUnprocessableEntity, `{"command":"make","colour":"red"}`, false},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(c.status) }))
		dir := t.TempDir()
		con := &connect.Connector{Terminal: &render.Terminal{Out: io.Discard, Err: io.Discard}, Getenv: func(string) string { return "" }, DataDir: dir, Server: server.URL}
		e := schemas.Event{Type: schemas.TypeCommandExecuted, Source: "test", Key: []byte("/src"), ContentType: schemas.ContentJSON, Payload: []byte(c.event)}
		done, err := con.Append(t.Context(), node.Config{DataDir: dir}, e, false)
		if empty := spool.Empty(spool.RemoteDir(dir, server.URL)); done.Spooled != c.spooled || empty == c.spooled || (err == nil) != c.spooled {
			t.Errorf("%s: spooled %v, spool empty %v, %v; want spooled %v", name, done.Spooled, empty, err, c.spooled)
		}
		server.Close()
	}
}
