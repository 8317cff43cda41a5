package otlp_test

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"

	"github.com/recountdb/recount/server/otlp"
)

// TestStalledSendersGiveWay has senders that announce requests and send nothing of them, and so hold all
// memory: others wait for a moment, and not for as long as a request may take to arrive.
func TestStalledSendersGiveWay(t *testing.T) {
	const inFlight = "recount_otlp_in_flight_bytes"
	reg := prometheus.NewRegistry()
	d := open(t, func(o *otlp.Options) {
		o.MaxInFlight, o.Patience, o.ReceiveTimeout, o.Registry = maxRequest, 200*time.Millisecond, time.Hour, reg
	})
	served := func(after string) {
		t.Helper()
		var err error
		for end := time.Now().Add(time.Minute); time.Now().Before(end); {
			if _, err = d.grpc.Export(t.Context(), export("cart", 0, 1)); err == nil {
				return
			}
		}
		t.Errorf("after %s: %v", after, err)
	}
	conn := stall(t, d)
	positive(t, reg, inFlight)
	served("half a body")
	_ = conn.CloseWrite() // or the server reads on for a while before it answers
	if answer, err := io.ReadAll(io.LimitReader(conn, 12)); err != nil || string(answer) != "HTTP/1.1 503" {
		t.Errorf("the stalled sender reads %q, %v", answer, err)
	}
	stream, err := d.conn.NewStream(t.Context(), &grpc.StreamDesc{ClientStreams: true}, "/opentelemetry.proto.collector.trace.v1.TraceService/Export")
	if err != nil {
		t.Fatal(err)
	}
	positive(t, reg, inFlight)
	served("a stream without a message")
	_ = stream.CloseSend()
}

// TestLateArrival has a sender of half a request, and no other that waits: it is told that its time is over.
func TestLateArrival(t *testing.T) {
	reg := prometheus.NewRegistry()
	d := open(t, func(o *otlp.Options) { o.ReceiveTimeout, o.Registry = 100*time.Millisecond, reg })
	conn := stall(t, d)
	positive(t, reg, "recount_otlp_requests_total")
	_ = conn.CloseWrite()
	answer, err := io.ReadAll(conn)
	if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 504") || !strings.Contains(string(answer), "did not arrive within 100ms") {
		t.Errorf("the sender reads %q, %v", answer, err)
	}
}

// stall sends the first byte of a large request over HTTP.
func stall(t *testing.T, d *door) *net.TCPConn {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(d.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	fmt.Fprintf(conn, "POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\nx", protobuf, maxRequest)
	return conn.(*net.TCPConn)
}

// positive waits until a metric is above 0.
func positive(t *testing.T, reg *prometheus.Registry, name string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		families, err := reg.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			if m := f.GetMetric()[0]; f.GetName() == name && m.GetGauge().GetValue()+m.GetCounter().GetValue() > 0 {
				return
			}
		}
	}
	t.Fatalf("%s is 0", name)
}
