package connect_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/datadir"
	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/server/node"
)

// TestAQuestionWaitsForAServerThatCatchesUp checks that a server that has just started is not asked
// before its projections have the commands that were on its log: a command that was recorded before a
// restart would be missing. Verbs that append do not wait.
func TestAQuestionWaitsForAServerThatCatchesUp(t *testing.T) {
	dir := t.TempDir()
	var applied, asked atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/v1/find" {
			asked.Store(applied.Load())
			_, _ = io.WriteString(rw, "{}")
			return
		}
		// More arrives as fast as it is applied: what came later is not waited for.
		n := applied.Add(1)
		fmt.Fprintf(rw, `{"data_id":"d","log":{"ends":"recount.commands/0:%d"},"projections":[
			{"name":"code","partitions":[{"topic":"recount.commits","partition":0,"next":0,"end":9}]},
			{"name":"lexical","partitions":[{"topic":"recount.commands","partition":0,"next":%d,"end":%d}]}]}`, n+3, n, n+3)
	}))
	defer srv.Close()
	lock, err := datadir.Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	b, err := json.Marshal(datadir.Endpoints{DataID: "d", HTTP: srv.URL})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, datadir.EndpointsFile), b, 0o600); err != nil {
		t.Fatal(err)
	}
	var says bytes.Buffer
	con := &connect.Connector{Terminal: &render.Terminal{Out: io.Discard, Err: &says, Silence: time.Hour}, Getenv: func(string) string { return "" }, DataDir: dir}
	find := func(b *connect.Backend) error {
		_, err := commands.FindQuestion.Ask(t.Context(), b, commands.FindRequest{Limit: 1})
		return err
	}
	if err := con.WithBackend(t.Context(), find); err != nil {
		t.Fatal(err)
	}
	if asked.Load() != 4 {
		t.Errorf("asked when %d of 4 commands were applied", asked.Load())
	}
	applied.Store(0)
	keep := func(cfg node.Config) (node.Config, func() error, error) { return cfg, func() error { return nil }, nil }
	if err := con.WithBackendFor(t.Context(), keep, find); err != nil {
		t.Fatal(err)
	}
	if asked.Load() != 1 {
		t.Errorf("without need it waited until %d were applied", asked.Load())
	}
	if says.Len() > 0 {
		t.Errorf("it said %q", says.String())
	}
}
