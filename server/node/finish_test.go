package node_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/httpapi"
	"github.com/recountdb/recount/server/node"
)

// stuckWriter is a client that does not read: until it is released it blocks an export, and so
// keeps the state that the export reads.
type stuckWriter struct {
	once         *sync.Once
	begun, letGo chan struct{}
}

func (w stuckWriter) Write(b []byte) (int, error) {
	w.once.Do(func() { close(w.begun) })
	<-w.letGo
	return len(b), nil
}

// TestForgetGoesOnBehindTheRequest checks that a request to forget returns before the projections
// are rebuilt and reports what remains. Meanwhile no answer shows the erased events, the log's
// files no longer hold them, and more can be erased. The server continues even if the client has
// disconnected.
func TestForgetGoesOnBehindTheRequest(t *testing.T) {
	cfg := config(t.TempDir())
	node.ForgetWait(&cfg, time.Millisecond)
	r := start(t, cfg)
	r.append(t, many(40)...)
	first := r.append(t, "login "+secret+" one")[0]
	second := r.append(t, "login "+secret+" two")[0]
	ends, err := r.Log().Ends(t.Context(), "recount.commands")
	if err != nil {
		t.Fatal(err)
	}
	r.waitFor(t, ends)
	stuck := stuckWriter{new(sync.Once), make(chan struct{}), make(chan struct{})}
	letGo := sync.OnceFunc(func() { close(stuck.letGo) })
	defer letGo() // before the node is closed, because Close waits for the export
	read := make(chan error, 1)
	go func() {
		read <- r.Node.Scan(context.Background(), api.ScanRequest{Format: api.FormatArrow}, stuck)
	}()
	<-stuck.begun

	done, err := r.Client.Forget(t.Context(), api.ForgetRequest{Events: []string{first.ID.String()}}, nil)
	if err != nil || done.Events != 1 || len(done.Erasures) != 1 || !slices.Contains(done.Remaining, "segment") || len(done.Rebuilt) != 0 || done.Explanation == "" {
		t.Fatalf("the first: %+v %v", done, err)
	}
	st, err := r.Client.Status(t.Context(), api.StatusRequest{})
	if err != nil || st.Erasing == nil || st.Erasing.Events != 1 {
		t.Errorf("status while it is done: %+v %v", st.Erasing, err)
	}
	// The log's files are rewritten for the first before its projections are rebuilt.
	for began := time.Now(); st.Erasing == nil || !slices.Contains([]string{"replay", "catch up", "switched"}, st.Erasing.Phase); time.Sleep(5 * time.Millisecond) {
		if st, err = r.Client.Status(t.Context(), api.StatusRequest{}); err != nil || time.Since(began) > patience {
			t.Fatalf("status until the first is out of the log: %+v %v", st.Erasing, err)
		}
	}
	if len(holdingCompressed(t, filepath.Join(cfg.DataDir, "log"))) == 0 {
		t.Fatal("the second secret is in no file of the log to begin with")
	}
	soon, cancel := context.WithTimeout(t.Context(), patience)
	done, err = r.Client.Forget(soon, api.ForgetRequest{Events: []string{second.ID.String()}}, nil)
	cancel()
	if err != nil || done.Log != "rewritten" || !slices.Contains(done.Remaining, "segment") {
		t.Fatalf("a second one meanwhile: %+v %v", done, err)
	}
	if found := holdingCompressed(t, filepath.Join(cfg.DataDir, "log")); len(found) > 0 {
		t.Errorf("the log's files still hold it: %v", found)
	}
	third := r.append(t, "login "+secret+" three")[0]
	// A client that waits for everything disconnects once the log no longer gives the event.
	gone, cancel := context.WithCancel(t.Context())
	waited := make(chan error, 1)
	go func() {
		_, err := r.Node.Forget(gone, api.ForgetRequest{Events: []string{third.ID.String()}, Wait: true}, nil)
		waited <- err
	}()
	for began := time.Now(); time.Since(began) < patience; time.Sleep(5 * time.Millisecond) {
		if lr, err := r.Log().Read(t.Context(), third.Position); err != nil || len(lr.Value) == 0 {
			break
		}
	}
	cancel()
	if err := <-waited; !errors.Is(err, context.Canceled) {
		t.Errorf("a third one that waits: %v", err)
	}
	for _, gone := range []api.Appended{first, second, third} {
		if lr, err := r.Log().Read(t.Context(), gone.Position); err != nil || len(lr.Value) > 0 {
			t.Errorf("the log still gives %s: %v", gone.Position, err)
		}
	}
	var refused *httpapi.APIError
	if hits, err := commands.FindQuestion.Ask(t.Context(), r.Client, commands.FindRequest{Text: "login"}); len(hits.Hits) > 0 || err != nil && (!errors.As(err, &refused) || refused.Status != 503) {
		t.Errorf("find meanwhile: %v %v", commandsOf(hits), err)
	}
	if _, err := r.Client.Verify(t.Context(), api.VerifyRequest{}, nil); err == nil {
		t.Error("a verify of what is being rebuilt was not refused")
	}

	letGo()
	<-read
	for began := time.Now(); ; { // until the erasure is finished
		if _, err := commands.InsightsQuestion.Ask(t.Context(), r.Client, commands.InsightsRequest{}); err == nil && len(holding(t, cfg.DataDir)) == 0 {
			break
		}
		if time.Since(began) > patience {
			t.Fatalf("still in %v", holding(t, cfg.DataDir))
		}
		time.Sleep(20 * time.Millisecond)
	}
	if hits := r.find(t, commands.FindRequest{Text: "login"}); len(hits.Hits) != 0 {
		t.Errorf("find afterwards: %v", commandsOf(hits))
	}
	r.stop()
	n, err := node.OpenLocal(t.Context(), cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	verified(t, n)
}

// TestForgetGoesOnAfterRestart checks that a node that stops during an erasure finishes it when it
// is opened again.
func TestForgetGoesOnAfterRestart(t *testing.T) {
	cfg := config(t.TempDir())
	node.ForgetWait(&cfg, time.Millisecond)
	r := start(t, cfg)
	r.append(t, many(40)...)
	out := r.append(t, "login "+secret)[0]
	stuck := stuckWriter{new(sync.Once), make(chan struct{}), make(chan struct{})}
	ends, err := r.Log().Ends(t.Context(), "recount.commands")
	if err != nil {
		t.Fatal(err)
	}
	r.waitFor(t, ends)
	read := make(chan error, 1)
	go func() {
		read <- r.Node.Scan(context.Background(), api.ScanRequest{Format: api.FormatArrow}, stuck)
	}()
	<-stuck.begun
	if done, err := r.Client.Forget(t.Context(), api.ForgetRequest{Events: []string{out.ID.String()}}, nil); err != nil || len(done.Remaining) == 0 {
		t.Fatalf("%+v %v", done, err)
	}
	close(stuck.letGo)
	<-read
	r.stop()
	n, err := node.OpenLocal(t.Context(), cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	if found := holding(t, cfg.DataDir); len(found) > 0 {
		t.Errorf("the secret is still in %v", found)
	}
	verified(t, n)
}
