package httpapi_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/recountdb/recount/server/access"
	"github.com/recountdb/recount/server/httpapi"
)

// TestRefusedBodiesAreDrained checks that a client that sends its whole body before it reads, as
// Python's http.client does, gets the status instead of a connection reset.
func TestRefusedBodiesAreDrained(t *testing.T) {
	srv := httptest.NewServer(httpapi.New(&fake{}, httpapi.Options{MaxBody: 1 << 20, Gate: access.NewGate("s3cret", nil)}))
	t.Cleanup(srv.Close)
	for _, c := range []struct {
		name, path, token string
		chunked           bool
		size, want        int
	}{
		{"larger than may be", "/v1/events", "s3cret", false, 17 << 20, 413},
		{"larger, of unknown length", "/v1/events", "s3cret", true, 17 << 20, 413},
		{"much larger", "/v1/events", "s3cret", false, 64_000_000, 413},
		{"without a token", "/v1/events", "", false, 17 << 20, 401},
		{"a question", "/v1/find", "s3cret", false, 17 << 20, 413},
		{"nothing there", "/v1/nothing", "s3cret", false, 17 << 20, 404},
	} {
		conn, err := net.Dial("tcp", srv.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(time.Minute))
		length := fmt.Sprintf("Content-Length: %d", c.size)
		if c.chunked {
			length = "Transfer-Encoding: chunked"
		}
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAuthorization: Bearer %s\r\n%s\r\n\r\n", c.path, c.token, length)
		var body io.Writer = conn
		if c.chunked {
			fmt.Fprintf(conn, "%x\r\n", c.size)
		}
		piece := bytes.Repeat([]byte("x"), 1<<16)
		left := c.size
		for left > 0 && err == nil {
			var n int
			n, err = body.Write(piece[:min(left, len(piece))])
			left -= n
		}
		if c.chunked && err == nil {
			_, err = io.WriteString(conn, "\r\n0\r\n\r\n")
		}
		if err != nil {
			t.Errorf("%s: sending, with %d bytes left: %v", c.name, left, err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if resp.StatusCode != c.want {
			b, _ := io.ReadAll(resp.Body)
			t.Errorf("%s: %d, want %d: %.200s", c.name, resp.StatusCode, c.want, b)
		}
		conn.Close()
	}
	// A client that asks first is refused at once and sends nothing.
	conn, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	fmt.Fprintf(conn, "POST /v1/events HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAuthorization: Bearer s3cret\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n", 17<<20)
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil || !strings.Contains(line, " 413 ") {
		t.Errorf("who expects 100-continue is told %q %v", line, err)
	}
}
