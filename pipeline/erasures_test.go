package pipeline_test

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/recountdb/recount/pipeline"
	"github.com/recountdb/recount/schemas"
)

// TestABadErasureIsToldWhenItArrives checks that a record of topic erasures that is no erasure is told of by
// the process that sees it arrive, and not by each that opens the log later.
func TestABadErasureIsToldWhenItArrives(t *testing.T) {
	dir, lines := t.TempDir(), make(chan string, 10)
	told := func() (n int) {
		for len(lines) > 0 {
			if strings.Contains(<-lines, "not an erasure") {
				n++
			}
		}
		return n
	}
	for _, want := range []int{1, 0} {
		l, err := pipeline.Open(t.Context(), pipeline.Config{DataDir: dir, Logger: linesTo(lines)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.ReadErasures(t.Context()); err != nil {
			t.Fatal(err)
		}
		if want > 0 {
			bad := schemas.Event{ID: schemas.EventID{1}, Type: schemas.TypeErased, Source: "test", Time: time.Unix(1, 0), ContentType: schemas.ContentJSON, Payload: []byte(`[]`)}
			if _, err := l.Append(t.Context(), schemas.TopicErasures, bad); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := l.ReadErasures(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := told(); got != want {
			t.Errorf("told of %d, want %d", got, want)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRefusedConnectionsAreToldSparingly checks that clients beyond the limit of connections do not fill the log.
func TestRefusedConnectionsAreToldSparingly(t *testing.T) {
	lines := make(chan string, 1000)
	cfg := pipeline.Config{DataDir: t.TempDir(), Listen: "127.0.0.1:0", Logger: linesTo(lines)}
	cfg.Broker.MaxConnectionsPerAddress = 1
	l, err := pipeline.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	keep := dial(t, l.Addr())
	defer keep.Close()
	// A request for the versions of APIs: a connection that has asked nothing yet would be closed for another.
	fmt.Fprint(keep, "\x00\x00\x00\x0a\x00\x12\x00\x00\x00\x00\x00\x01\xff\xff")
	if _, err := keep.Read(make([]byte, 4)); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		c := dial(t, l.Addr())
		fmt.Fprint(c, "x")
		_, _ = c.Read(make([]byte, 1)) // until it is closed
		c.Close()
	}
	n := 0
	for len(lines) > 0 {
		if strings.Contains(<-lines, "too many connections") {
			n++
		}
	}
	if n == 0 || n > 10 {
		t.Errorf("%d lines for 100 refusals, want a few", n)
	}
}

func dial(t *testing.T, addr string) net.Conn {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
