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

// TestAFullLogLeavesTheSpool checks that an event goes into the spool if the server's log takes nothing
// now, as with a disk that is nearly full, and not if it is refused for good. exec lost such commands.
func TestAFullLogLeavesTheSpool(t *testing.T) {
	for status, spooled := range map[int]bool{http.StatusServiceUnavailable: true, http.StatusForbidden: false} {
		server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(status) }))
		dir := t.TempDir()
		con := &connect.Connector{Terminal: &render.Terminal{Out: io.Discard, Err: io.Discard}, Getenv: func(string) string { return "" }, DataDir: dir, Server: server.URL}
		e := schemas.Event{Type: schemas.TypeCommandExecuted, Source: "test", Key: []byte("/src"), ContentType: schemas.ContentJSON, Payload: []byte(`{"command":"make"}`)}
		done, err := con.Append(t.Context(), node.Config{DataDir: dir}, e, false)
		if empty := spool.Empty(spool.RemoteDir(dir, server.URL)); done.Spooled != spooled || empty == spooled || (err == nil) != spooled {
			t.Errorf("%d: spooled %v, spool empty %v, %v; want spooled %v", status, done.Spooled, empty, err, spooled)
		}
		server.Close()
	}
}
