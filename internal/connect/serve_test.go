package connect_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/datadir"
	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/server/node"
)

// held names the data directory that this process, started by TestUpWaitsForAVerb, holds until its
// standard input ends.
const held = "RECOUNT_TEST_HELD"

func TestMain(m *testing.M) {
	dir := os.Getenv(held)
	if dir == "" {
		os.Exit(m.Run())
	}
	lock, err := datadir.Lock(dir)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("held")
	_, _ = io.Copy(io.Discard, os.Stdin)
	_ = lock.Close()
}

// said is what a program reports, for a goroutine that waits for it.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
	seen chan struct{} // closed with the first report
}

func (s *said) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.text.Len() == 0 {
		close(s.seen)
	}
	return s.text.Write(b)
}

// TestUpWaitsForAVerb checks that a server waits while another process, such as a search, has the data
// directory open, says so, and starts when that lets go; and that it does not wait for ever.
func TestUpWaitsForAVerb(t *testing.T) {
	dir := t.TempDir()
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), held+"="+dir)
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatalf("%q %v", line, err)
	}
	says := &said{seen: make(chan struct{})}
	con := &connect.Connector{Terminal: &render.Terminal{Out: io.Discard, Err: says}, Getenv: func(string) string { return "" }}
	cfg := node.Config{DataDir: dir, Version: "test"}
	cfg.HTTP.Listen, cfg.Kafka.Listen, cfg.OTLP.GRPC, cfg.OTLP.HTTP = "127.0.0.1:0", "none", "none", "none"

	var busy *node.InUseError
	if _, err := con.OpenServer(t.Context(), cfg, 0); !errors.As(err, &busy) {
		t.Fatalf("without patience: %v", err)
	}
	type opened struct {
		n   *node.Node
		err error
	}
	done := make(chan opened, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		n, err := con.OpenServer(ctx, cfg, time.Hour)
		done <- opened{n, err}
	}()
	<-says.seen
	if err := errors.Join(in.Close(), child.Wait()); err != nil {
		t.Fatal(err)
	}
	o := <-done
	if o.err != nil {
		t.Fatal(o.err)
	}
	if says := says.text.String(); strings.Count(says, "\n") != 1 || !strings.Contains(says, "waiting for "+dir) {
		t.Errorf("it says %q", says)
	}
	// For a server it does not wait: its end is not near.
	run, stop := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- o.n.Run(run) }()
	if _, err := con.OpenServer(t.Context(), cfg, time.Hour); !errors.As(err, &busy) || busy.HTTP == "" {
		t.Errorf("beside a server: %v", err)
	}
	stop()
	if err := errors.Join(<-ran, o.n.Close()); err != nil {
		t.Error(err)
	}
}
