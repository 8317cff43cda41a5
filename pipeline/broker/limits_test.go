package broker_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recountdb/recount/pipeline/broker"
)

// dialRaw connects without a client.
func dialRaw(t testing.TB, b *broker.Broker) net.Conn {
	t.Helper()
	var c net.Conn
	var err error
	if b.Addr() != "" {
		c, err = net.Dial("tcp", b.Addr())
	} else {
		c, err = b.Dial(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(patience))
	return c
}

// frame returns a request's bytes.
func frame(req kmsg.Request, version int16) []byte {
	req.SetVersion(version)
	return kmsg.NewRequestFormatter(kmsg.FormatterClientID("test")).AppendRequest(nil, req, 7)
}

// ask sends a request and reads its answer.
func ask(t testing.TB, c net.Conn, req kmsg.Request, version int16) kmsg.Response {
	t.Helper()
	if _, err := c.Write(frame(req, version)); err != nil {
		t.Fatal(err)
	}
	body, err := readAnswer(c)
	if err != nil {
		t.Fatalf("%s: %v", kmsg.NameForKey(req.Key()), err)
	}
	resp := req.ResponseKind()
	resp.SetVersion(version)
	body = body[4:]
	if resp.IsFlexible() && resp.Key() != kmsg.ApiVersions.Int16() {
		body = body[1:]
	}
	if err := resp.ReadFrom(body); err != nil {
		t.Fatal(err)
	}
	return resp
}

func readAnswer(c net.Conn) ([]byte, error) {
	var size [4]byte
	if _, err := io.ReadFull(c, size[:]); err != nil {
		return nil, err
	}
	body := make([]byte, binary.BigEndian.Uint32(size[:]))
	_, err := io.ReadFull(c, body)
	return body, err
}

// closes reports whether the broker closes c without an answer before the test's deadline.
func closes(c net.Conn) bool {
	_, err := readAnswer(c)
	var ne net.Error
	return err != nil && !(errors.As(err, &ne) && ne.Timeout())
}

// alive fails the test if the broker no longer serves others. It retries if the broker's timeouts
// were too short for this machine.
func alive(t testing.TB, b *broker.Broker) {
	t.Helper()
	for start := time.Now(); ; {
		c := dialRaw(t, b)
		_, err := c.Write(frame(kmsg.NewPtrApiVersionsRequest(), 0))
		var body []byte
		if err == nil {
			body, err = readAnswer(c)
		}
		if err != nil && time.Since(start) < patience {
			continue
		}
		resp := kmsg.NewPtrApiVersionsResponse()
		if err == nil {
			err = resp.ReadFrom(body[4:])
		}
		if err != nil || resp.ErrorCode != 0 || len(resp.ApiKeys) < 20 {
			t.Errorf("api versions: %v, error %d, %d keys", err, resp.ErrorCode, len(resp.ApiKeys))
		}
		return
	}
}

// TestHostileBytes checks that hostile input closes its own connection, and no other.
func TestHostileBytes(t *testing.T) {
	b := open(t, t.TempDir(), broker.Options{})
	other := dialRaw(t, b)
	produce := func(version int16, topics int) []byte {
		req := kmsg.NewPtrProduceRequest()
		req.Acks = -1
		f := frame(req, version)
		// The array of topics is at the end and empty: claim more elements.
		if version >= 9 {
			return binary.AppendUvarint(f[:len(f)-2], uint64(topics)+1)
		}
		binary.BigEndian.PutUint32(f[len(f)-4:], uint32(topics))
		return f
	}
	sized := func(f []byte) []byte {
		binary.BigEndian.PutUint32(f, uint32(len(f)-4))
		return f
	}
	for _, tc := range []struct {
		name string
		send []byte
	}{
		{"size 0", []byte{0, 0, 0, 0, 0, 0}},
		{"size -1", []byte{0xff, 0xff, 0xff, 0xff, 0, 0}},
		{"size 2 GiB", []byte{0x7f, 0xff, 0xff, 0xff, 0, 0}},
		{"a produce of 1 GiB", []byte{0x40, 0, 0, 0, 0, 0}},
		{"a fetch of 3 MiB", []byte{0, 0x30, 0, 0, 0, 1}},
		{"an unknown api in 14 bytes", []byte{0, 0, 0, 10, 0x7f, 0xff, 0, 0, 0, 0, 0, 1, 0xff, 0xff}},
		{"an api below zero", []byte{0, 0, 0, 10, 0xff, 0xff, 0, 0, 0, 0, 0, 1, 0xff, 0xff}},
		{"a client id longer than the frame", []byte{0, 0, 0, 10, 0, 3, 0, 0, 0, 0, 0, 1, 0x7f, 0xff}},
		{"HTTP", []byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")},
		{"TLS", []byte{0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3}},
		{"a produce that claims a million topics", sized(append(produce(8, 1_000_000), make([]byte, 1_000_000)...))},
		{"a compact produce that claims a million topics", sized(append(produce(11, 1_000_000), make([]byte, 1_000_000)...))},
		{"a metadata request that ends early", sized(frame(kmsg.NewPtrMetadataRequest(), 9)[:15])},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := dialRaw(t, b)
			if _, err := c.Write(tc.send); err != nil {
				t.Fatal(err)
			}
			if !closes(c) {
				t.Error("the connection stays open")
			}
			alive(t, b)
		})
	}
	if resp := ask(t, other, kmsg.NewPtrApiVersionsRequest(), 3); resp.(*kmsg.ApiVersionsResponse).ErrorCode != 0 {
		t.Error("the connection that was open all the time does not work")
	}
}

// TestUnsupportedVersions checks that an unknown version is answered with version 0 and the
// supported ones (KIP-511).
func TestUnsupportedVersions(t *testing.T) {
	b := open(t, t.TempDir(), broker.Options{})
	c := dialRaw(t, b)
	if _, err := c.Write([]byte{0, 0, 0, 10, 0, 18, 0, 99, 0, 0, 0, 1, 0xff, 0xff}); err != nil {
		t.Fatal(err)
	}
	body, err := readAnswer(c)
	if err != nil {
		t.Fatal(err)
	}
	resp := kmsg.NewPtrApiVersionsResponse()
	if err := resp.ReadFrom(body[4:]); err != nil || resp.ErrorCode != kerr.UnsupportedVersion.Code || len(resp.ApiKeys) < 20 {
		t.Errorf("%v, error %d, %d keys", err, resp.ErrorCode, len(resp.ApiKeys))
	}
	// An unsupported API whose answer has a field for an error keeps its connection.
	end := ask(t, c, kmsg.NewPtrEndTxnRequest(), 3).(*kmsg.EndTxnResponse)
	if end.ErrorCode != kerr.UnsupportedVersion.Code {
		t.Errorf("EndTxn: error %d", end.ErrorCode)
	}
	ask(t, c, kmsg.NewPtrApiVersionsRequest(), 0)
}

func TestSlowClients(t *testing.T) {
	for _, listen := range [][]string{nil, {"127.0.0.1:0"}} {
		b := open(t, t.TempDir(), broker.Options{Listen: listen, FrameTimeout: 100 * time.Millisecond, IdleTimeout: 200 * time.Millisecond})
		whole := frame(kmsg.NewPtrApiVersionsRequest(), 0)
		for name, send := range map[string][]byte{
			"silent": nil, "half a size": whole[:2], "half a frame": whole[:10], "a size alone": {0, 1, 0, 0, 0, 0, 0, 3},
		} {
			c := dialRaw(t, b)
			// On a slow machine the connection may be closed before this.
			if _, err := c.Write(send); err == nil && !closes(c) {
				t.Errorf("%s: the connection stays open", name)
			}
		}
		alive(t, b)
	}
}

func fetchRequest(topic string, offset int64) *kmsg.FetchRequest {
	req := kmsg.NewPtrFetchRequest()
	req.MinBytes, req.MaxBytes, req.MaxWaitMillis = 1, 50<<20, 5000
	rt := kmsg.NewFetchRequestTopic()
	rt.Topic = topic
	rp := kmsg.NewFetchRequestTopicPartition()
	rp.FetchOffset, rp.PartitionMaxBytes = offset, 50<<20
	rt.Partitions = append(rt.Partitions, rp)
	req.Topics = append(req.Topics, rt)
	return req
}

// TestClientThatDoesNotRead checks that a client that does not read its answers is disconnected.
func TestClientThatDoesNotRead(t *testing.T) {
	b := open(t, t.TempDir(), broker.Options{FrameTimeout: 100 * time.Millisecond})
	createTopic(t, b, "log", 1)
	for range 4 { // more than the connection buffers
		if _, err := b.Append(testContext(t), "log", 0, broker.Record{Value: make([]byte, 1_000_000)}); err != nil {
			t.Fatal(err)
		}
	}
	c := dialRaw(t, b)
	f := frame(fetchRequest("log", 0), 11)
	for start := time.Now(); time.Since(start) < patience; { // until the broker closes the connection
		if _, err := c.Write(f); err != nil {
			alive(t, b)
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Error("the broker still takes requests of a client that reads no answers")
}

// TestHalfClosed checks that a client that has closed its sending side still gets its answer.
func TestHalfClosed(t *testing.T) {
	b := open(t, t.TempDir(), broker.Options{Listen: []string{"127.0.0.1:0"}})
	createTopic(t, b, "log", 1)
	c := dialRaw(t, b)
	if _, err := c.Write(frame(kmsg.NewPtrMetadataRequest(), 5)); err != nil {
		t.Fatal(err)
	}
	if err := c.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if _, err := readAnswer(c); err != nil {
		t.Errorf("no answer: %v", err)
	}
	if !closes(c) {
		t.Error("the connection stays open")
	}
}

func TestThousandConnections(t *testing.T) {
	const n = 1000
	b := open(t, t.TempDir(), broker.Options{Listen: []string{"127.0.0.1:0"}, MaxConnections: n, MaxConnectionsPerAddress: n})
	createTopic(t, b, "log", 4)
	conns := make([]net.Conn, n)
	for i := range conns {
		conns[i] = dialRaw(t, b)
	}
	// The client that created the topic may still be connected, so allow for it.
	req := fetchRequest("log", 0)
	req.MaxWaitMillis = 2 * int32(patience/time.Millisecond) // each is answered because of the append, or not at all
	f := frame(req, 11)
	waiting := 0
	for _, c := range conns {
		if _, err := c.Write(f); err == nil {
			waiting++
		}
	}
	if _, err := b.Append(testContext(t), "log", 0, broker.Record{Value: []byte("hello")}); err != nil {
		t.Fatal(err)
	}
	answered := 0
	for _, c := range conns {
		if body, err := readAnswer(c); err == nil && strings.Contains(string(body), "hello") {
			answered++
		}
	}
	if answered < n {
		t.Errorf("%d of %d connections were answered", answered, n)
	}
	over := 0
	for range 10 {
		c := dialRaw(t, b)
		c.Write(f)
		if closes(c) {
			over++
		}
	}
	if over < 10 {
		t.Errorf("%d of 10 connections above the limit were closed", over)
	}
	if st := b.Stats(); st.Connections > n+2 { // those of the test, in memory

		t.Errorf("%d connections, at most %d", st.Connections, n)
	}
}

// TestSilentConnections checks that silent connections exclude nobody: neither the process's own
// readers, nor clients from the same address, nor those from another.
func TestSilentConnections(t *testing.T) {
	b := open(t, t.TempDir(), broker.Options{Listen: []string{"127.0.0.1:0"}})
	createTopic(t, b, "log", 1)
	silent := func(from string, n int) {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
		for range n {
			c, err := d.DialContext(t.Context(), "tcp", b.Addr())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { c.Close() })
		}
	}
	silent("127.0.0.1", 1050)
	silent("127.0.0.2", 1050)
	if _, err := b.Append(testContext(t), "log", 0, broker.Record{Value: []byte("hello")}); err != nil {
		t.Fatal(err)
	}
	if got := drain(t, b, "log"); len(got) != 1 {
		t.Errorf("in memory: %d records", len(got))
	}
	if err := franz(t, b).Ping(testContext(t)); err != nil {
		t.Errorf("from the same address: %v", err)
	}
	if st := b.Stats(); st.Connections > 2000+20 { // some of the test, in memory
		t.Errorf("%d connections", st.Connections)
	}
}

// TestConnectionsByAddress checks that working connections stay, and that an address gets only its
// share.
func TestConnectionsByAddress(t *testing.T) {
	b := open(t, t.TempDir(), broker.Options{Listen: []string{"127.0.0.1:0"}, MaxConnections: 20})
	use := func(from string) bool {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
		c, err := d.DialContext(t.Context(), "tcp", b.Addr())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		c.SetDeadline(time.Now().Add(patience))
		if _, err := c.Write(frame(kmsg.NewPtrApiVersionsRequest(), 0)); err != nil {
			return false
		}
		_, err = readAnswer(c)
		return err == nil
	}
	for i := range 15 {
		if served := use("127.0.0.1"); served != (i < 10) {
			t.Errorf("connection %d of one address: served %v", i, served)
		}
	}
	if !use("127.0.0.2") {
		t.Error("another address was kept out")
	}
}

// scarce is a file system with as much free space as the test sets.
type scarce struct {
	vfs.FS
	free func() uint64
}

func (s scarce) GetDiskUsage(string) (vfs.DiskUsage, error) {
	return vfs.DiskUsage{AvailBytes: s.free()}, nil
}

func TestDiskNearlyFull(t *testing.T) {
	free := make(chan uint64, 1)
	current := uint64(1 << 40)
	fs := scarce{vfs.NewMem(), func() uint64 {
		select {
		case current = <-free:
		default:
		}
		return current
	}}
	b := open(t, "log", broker.Options{FS: fs, MinFreeBytes: 1 << 30})
	createTopic(t, b, "log", 1)
	ctx := testContext(t)
	if _, err := b.Append(ctx, "log", 0, broker.Record{Value: []byte("before")}); err != nil {
		t.Fatal(err)
	}
	free <- 1 << 20
	for {
		_, err := b.Append(ctx, "log", 0, broker.Record{Value: []byte("before")})
		if err == nil {
			time.Sleep(20 * time.Millisecond)
			continue
		}
		if !errors.Is(err, kerr.KafkaStorageError) || !kerr.IsRetriable(kerr.KafkaStorageError) || !strings.Contains(err.Error(), "nearly full") {
			t.Fatalf("on a full disk: %v", err)
		}
		break
	}
	held := len(drain(t, b, "log")) // reads continue

	// A producer waits, and is served when there is space again.
	c := crashClient(t, b.Dial)
	done := make(chan error, 1)
	c.Produce(ctx, &kgo.Record{Topic: "log", Value: []byte("after")}, func(_ *kgo.Record, err error) { done <- err })
	select {
	case err := <-done:
		t.Fatalf("produce on a full disk: %v", err)
	case <-time.After(200 * time.Millisecond):
	}
	free <- 1 << 40
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got := drain(t, b, "log"); len(got) != held+1 || string(got[held].Value) != "after" {
		t.Errorf("%d records, want %d", len(got), held+1)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for _, tc := range []struct {
		opts broker.Options
		says string
	}{
		{broker.Options{DefaultPartitions: -1}, "DefaultPartitions is -1"},
		{broker.Options{MaxFrameBytes: 1}, "MaxFrameBytes is 1"},
		{broker.Options{MaxConnections: -5}, "MaxConnections is -5"},
		{broker.Options{AdvertisedAddr: "nowhere"}, "AdvertisedAddr"},
		{broker.Options{FrameTimeout: -1}, "FrameTimeout"},
		{broker.Options{ProducerExpiry: -1}, "ProducerExpiry is -1ns"},
	} {
		if _, err := broker.Open(t.TempDir(), tc.opts); err == nil || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%+v: %v, want %q", fmt.Sprint(tc.says), err, tc.says)
		}
	}
}
