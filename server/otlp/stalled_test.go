package otlp_test

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/recountdb/recount/server/otlp"
)

// TestStalledSendersGiveWay has senders that announce requests and send nothing of them, and so hold all
// memory: others wait for a moment, and not for as long as a request may take to arrive.
func TestStalledSendersGiveWay(t *testing.T) {
	d := open(t, func(o *otlp.Options) { o.MaxInFlight, o.Patience = maxRequest, 200*time.Millisecond })
	served := func(after string) {
		t.Helper()
		var err error
		for end := time.Now().Add(15 * time.Second); time.Now().Before(end); {
			if _, err = d.grpc.Export(t.Context(), export("cart", 0, 1)); err == nil {
				return
			}
		}
		t.Errorf("after %s: %v", after, err)
	}
	conn, err := net.Dial("tcp", strings.TrimPrefix(d.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\nx", protobuf, maxRequest)
	served("half a body")
	if answer, err := io.ReadAll(io.LimitReader(conn, 12)); err != nil || string(answer) != "HTTP/1.1 503" {
		t.Errorf("the stalled sender reads %q, %v", answer, err)
	}
	stream, err := d.conn.NewStream(t.Context(), &grpc.StreamDesc{ClientStreams: true}, "/opentelemetry.proto.collector.trace.v1.TraceService/Export")
	if err != nil {
		t.Fatal(err)
	}
	served("a stream without a message")
	_ = stream.CloseSend()
}
