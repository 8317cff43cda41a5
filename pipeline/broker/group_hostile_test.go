package broker

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recountdb/recount/pipeline/broker/groups/grouptest"
	"github.com/recountdb/recount/pipeline/broker/sasl"
)

// patience is the maximum wait of a test. It stops a test that hangs and measures nothing, since a
// machine may be very slow.
const patience = 2 * time.Minute

// rawClient is a client that sends arbitrary frames.
type rawClient struct {
	t testing.TB
	net.Conn
}

func memBroker(t testing.TB, o Options) *Broker {
	t.Helper()
	o.FS = vfs.NewMem()
	o.MinFreeBytes = -1
	b, err := Open("/log", o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func dialRaw(t testing.TB, b *Broker) *rawClient {
	t.Helper()
	c, server := memPipe()
	// If clients authenticate, serve it like a client in the network.
	if !b.serve(server, !b.authRequired()) {
		t.Fatal("no room for a connection")
	}
	t.Cleanup(func() { c.Close() })
	return &rawClient{t, c}
}

func requestFrame(req kmsg.Request) []byte {
	return kmsg.NewRequestFormatter(kmsg.FormatterClientID("wire")).AppendRequest(nil, req, 7)
}

func (w *rawClient) send(req kmsg.Request) {
	w.t.Helper()
	if _, err := w.Write(requestFrame(req)); err != nil {
		w.t.Fatal(err)
	}
}

// frame reads one frame; io.EOF if the broker has closed the connection.
func (w *rawClient) frame(within time.Duration) ([]byte, error) {
	if err := w.SetReadDeadline(time.Now().Add(within)); err != nil {
		return nil, err
	}
	var size [4]byte
	if _, err := io.ReadFull(w, size[:]); err != nil {
		return nil, err
	}
	body := make([]byte, binary.BigEndian.Uint32(size[:]))
	_, err := io.ReadFull(w, body)
	return body, err
}

// ask sends a request and returns its answer.
func (w *rawClient) ask(req kmsg.Request) kmsg.Response {
	w.t.Helper()
	w.send(req)
	body, err := w.frame(patience)
	if err != nil {
		w.t.Fatalf("%s: %v", kmsg.NameForKey(req.Key()), err)
	}
	resp := req.ResponseKind()
	skip := 4
	if resp.IsFlexible() && resp.Key() != kmsg.ApiVersions.Int16() {
		skip++
	}
	if err := resp.ReadFrom(body[skip:]); err != nil {
		w.t.Fatalf("%s: %v", kmsg.NameForKey(req.Key()), err)
	}
	return resp
}

// closed expects the broker to have closed the connection without another answer.
func (w *rawClient) closed(what string) {
	w.t.Helper()
	if body, err := w.frame(patience); !errors.Is(err, io.EOF) && !errors.Is(err, syscall.EPIPE) {
		w.t.Errorf("%s: the connection is open: %d bytes, %v", what, len(body), err)
	}
}

// TestJoinStorm lets many clients join one group, none of which continues, and then vanish. The
// member of another group must not notice, and nothing may be left behind.
func TestJoinStorm(t *testing.T) {
	b := memBroker(t, Options{Groups: GroupOptions{MaxMembers: 50, InitialRebalanceDelay: -1}})
	good := dialRaw(t, b)
	j := good.ask(grouptest.Join(3, "", grouptest.InGroup("good"), grouptest.Session(30*time.Minute))).(*kmsg.JoinGroupResponse)
	assigned := grouptest.Sync(j, j.MemberID, "x")
	assigned.Group = "good"
	grouptest.WantCode(t, "sync", good.ask(assigned).(*kmsg.SyncGroupResponse).ErrorCode, nil)

	var crowd []*rawClient
	refused := make(chan bool, 300)
	for i := range 300 {
		w := dialRaw(t, b)
		w.send(grouptest.Join(int16(i%2)+3, "", grouptest.Session(30*time.Minute))) // half of them only ask for an id
		crowd = append(crowd, w)
	}
	var reading sync.WaitGroup
	for _, w := range crowd {
		// The first is alone in a generation; the others wait for it for ever.
		reading.Go(func() {
			if body, err := w.frame(patience); err == nil && int16(binary.BigEndian.Uint16(body[8:])) == kerr.GroupMaxSizeReached.Code {
				refused <- true
			}
		})
	}
	for n := range 100 {
		select {
		case <-refused:
		case <-time.After(patience):
			t.Fatalf("%d of 300 were refused, with room for 50", n)
		}
	}
	beat := kmsg.NewPtrHeartbeatRequest()
	beat.Version = 4
	beat.Group, beat.MemberID, beat.Generation = "good", j.MemberID, 1
	grouptest.WantCode(t, "heartbeat of the other group", good.ask(beat).(*kmsg.HeartbeatResponse).ErrorCode, nil)
	if err := b.groups.CheckInvariants(); err != nil {
		t.Error(err)
	}

	for _, w := range crowd {
		w.Close()
	}
	reading.Wait()
	// Clients that never received an id disappear with their connections; the assigned ids expire,
	// and the session of the one real member ends, in time.
	describe := kmsg.NewPtrDescribeGroupsRequest()
	describe.Groups = []string{"g"}
	waiting := func() int {
		return len(good.ask(describe).(*kmsg.DescribeGroupsResponse).Groups[0].Members) - 1
	}
	for end := time.Now().Add(patience); waiting() > 0; {
		if time.Now().After(end) {
			t.Fatalf("%d still wait in the name of clients that are gone", waiting())
		}
		time.Sleep(time.Millisecond)
	}
	if err := b.groups.CheckInvariants(); err != nil {
		t.Error(err)
	}
}

func saslMemBroker(t testing.TB, o Options) *Broker {
	t.Helper()
	c, err := NewCredential("secret")
	if err != nil {
		t.Fatal(err)
	}
	o.SASL.Users = map[string]Credential{"ann": c}
	return memBroker(t, o)
}

func handshake(version int16, mechanism string) *kmsg.SASLHandshakeRequest {
	r := kmsg.NewPtrSASLHandshakeRequest()
	r.Version, r.Mechanism = version, mechanism
	return r
}

func authenticate(token string) *kmsg.SASLAuthenticateRequest {
	r := kmsg.NewPtrSASLAuthenticateRequest()
	r.Version, r.SASLAuthBytes = 2, []byte(token)
	return r
}

func TestSASLConnection(t *testing.T) {
	b := saslMemBroker(t, Options{})
	list := kmsg.NewPtrListGroupsRequest()
	versions := kmsg.NewPtrApiVersionsRequest()

	t.Run("only three requests before", func(t *testing.T) {
		w := dialRaw(t, b)
		if r := w.ask(versions).(*kmsg.ApiVersionsResponse); len(r.ApiKeys) == 0 {
			t.Error("no versions")
		}
		w.send(list)
		w.closed("ListGroups before authentication")
	})
	t.Run("nothing slips in behind a handshake", func(t *testing.T) {
		w := dialRaw(t, b)
		w.Write(append(requestFrame(handshake(1, "PLAIN")), requestFrame(list)...))
		if _, err := w.frame(patience); err != nil {
			t.Fatal(err)
		}
		w.closed("ListGroups in the same packet as the handshake")
	})
	t.Run("PLAIN", func(t *testing.T) {
		w := dialRaw(t, b)
		grouptest.WantCode(t, "handshake", w.ask(handshake(1, "PLAIN")).(*kmsg.SASLHandshakeResponse).ErrorCode, nil)
		grouptest.WantCode(t, "authenticate", w.ask(authenticate("\x00ann\x00secret")).(*kmsg.SASLAuthenticateResponse).ErrorCode, nil)
		grouptest.WantCode(t, "list", w.ask(list).(*kmsg.ListGroupsResponse).ErrorCode, nil)
		grouptest.WantCode(t, "handshake again", w.ask(handshake(1, "PLAIN")).(*kmsg.SASLHandshakeResponse).ErrorCode, kerr.IllegalSaslState)
		grouptest.WantCode(t, "list after that", w.ask(list).(*kmsg.ListGroupsResponse).ErrorCode, nil)
	})
	t.Run("another try at the mechanism, none at the password", func(t *testing.T) {
		w := dialRaw(t, b)
		r := w.ask(handshake(1, "GSSAPI")).(*kmsg.SASLHandshakeResponse)
		grouptest.WantCode(t, "handshake", r.ErrorCode, kerr.UnsupportedSaslMechanism)
		if len(r.SupportedMechanisms) != 3 {
			t.Errorf("mechanisms %v", r.SupportedMechanisms)
		}
		grouptest.WantCode(t, "authenticate without a mechanism", w.ask(authenticate("x")).(*kmsg.SASLAuthenticateResponse).ErrorCode, kerr.IllegalSaslState)
		grouptest.WantCode(t, "handshake", w.ask(handshake(1, "PLAIN")).(*kmsg.SASLHandshakeResponse).ErrorCode, nil)
		got := w.ask(authenticate("\x00ann\x00guess")).(*kmsg.SASLAuthenticateResponse)
		grouptest.WantCode(t, "authenticate", got.ErrorCode, kerr.SaslAuthenticationFailed)
		if got.ErrorMessage == nil || *got.ErrorMessage != sasl.ErrAuth.Error() {
			t.Errorf("message %v", got.ErrorMessage)
		}
		w.closed("a wrong password")
	})
	t.Run("bare tokens", func(t *testing.T) {
		w := dialRaw(t, b)
		grouptest.WantCode(t, "handshake", w.ask(handshake(0, "PLAIN")).(*kmsg.SASLHandshakeResponse).ErrorCode, nil)
		w.Write([]byte("\x00\x00\x00\x0b\x00ann\x00secret"))
		if body, err := w.frame(patience); err != nil || len(body) != 0 {
			t.Fatalf("token's answer: %q, %v", body, err)
		}
		grouptest.WantCode(t, "list", w.ask(list).(*kmsg.ListGroupsResponse).ErrorCode, nil)
	})
	for name, token := range map[string]string{"wrong": "\x00\x00\x00\x0a\x00ann\x00guess", "short": "\x00\x00\x00\x01x", "empty": "\x00\x00\x00\x00"} {
		t.Run("a bare token that is "+name, func(t *testing.T) {
			w := dialRaw(t, b)
			w.ask(handshake(0, "PLAIN"))
			w.Write([]byte(token))
			w.closed("the token")
		})
	}
	t.Run("a frame larger than a token can be", func(t *testing.T) {
		w := dialRaw(t, b)
		w.Write([]byte{0, 0x10, 0, 0, 0, 17, 0, 0})
		w.closed("a megabyte before authentication")
	})
}

func TestSASLIsOverInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const within = 50 * time.Millisecond
		b := saslMemBroker(t, Options{FrameTimeout: within, IdleTimeout: time.Hour})
		w := dialRaw(t, b)
		w.ask(handshake(1, "PLAIN"))
		w.closed("a client that never sends its password")

		// An authenticated client may be silent for longer than that.
		in := dialRaw(t, b)
		in.ask(handshake(1, "PLAIN"))
		in.ask(authenticate("\x00ann\x00secret"))
		if _, err := in.frame(4 * within); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("a client that has authenticated was closed: %v", err)
		}
	})
}

func TestSASLWithoutUsers(t *testing.T) {
	w := dialRaw(t, memBroker(t, Options{}))
	grouptest.WantCode(t, "handshake", w.ask(handshake(1, "PLAIN")).(*kmsg.SASLHandshakeResponse).ErrorCode, kerr.IllegalSaslState)
	grouptest.WantCode(t, "authenticate", w.ask(authenticate("\x00a\x00b")).(*kmsg.SASLAuthenticateResponse).ErrorCode, kerr.IllegalSaslState)
}

// FuzzGroupRequests sends a broker fuzzed group requests, two on a connection, and checks the
// invariants of groups after each pair.
func FuzzGroupRequests(f *testing.F) {
	seeds := []kmsg.Request{
		grouptest.Join(3, ""), grouptest.Join(4, ""), grouptest.Join(9, "", grouptest.Instance("i")), grouptest.Join(6, "made-up", grouptest.Session(time.Hour)),
		grouptest.Sync(&kmsg.JoinGroupResponse{MemberID: "m", Generation: 1}, "m", "assignment"),
		func() kmsg.Request { r := kmsg.NewPtrHeartbeatRequest(); r.Group = "g"; return r }(),
		func() kmsg.Request {
			r := kmsg.NewPtrLeaveGroupRequest()
			r.Version, r.Group, r.Members = 5, "g", []kmsg.LeaveGroupRequestMember{{MemberID: "m"}}
			return r
		}(),
		func() kmsg.Request {
			r := kmsg.NewPtrOffsetCommitRequest()
			r.Version, r.Group, r.Generation = 8, "g", -1
			r.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: "t", Partitions: []kmsg.OffsetCommitRequestTopicPartition{{Offset: 3}}}}
			return r
		}(),
		func() kmsg.Request {
			r := kmsg.NewPtrOffsetFetchRequest()
			r.Version, r.Groups = 9, []kmsg.OffsetFetchRequestGroup{{Group: "g"}}
			return r
		}(),
		func() kmsg.Request { r := kmsg.NewPtrOffsetFetchRequest(); r.Group = "g"; return r }(),
		func() kmsg.Request { r := kmsg.NewPtrDescribeGroupsRequest(); r.Groups = []string{"g"}; return r }(),
		func() kmsg.Request { r := kmsg.NewPtrDeleteGroupsRequest(); r.Groups = []string{"g"}; return r }(),
		func() kmsg.Request { r := kmsg.NewPtrListGroupsRequest(); r.Version = 5; return r }(),
		func() kmsg.Request {
			r := kmsg.NewPtrFindCoordinatorRequest()
			r.Version, r.CoordinatorKeys = 4, []string{"g"}
			return r
		}(),
		func() kmsg.Request { r := kmsg.NewPtrOffsetDeleteRequest(); r.Group = "g"; return r }(),
		handshake(0, "PLAIN"), handshake(1, "SCRAM-SHA-256"), authenticate("\x00ann\x00secret"),
	}
	for i, r := range seeds {
		f.Add(requestFrame(r)[4:], requestFrame(seeds[(i+1)%len(seeds)])[4:])
	}
	b := memBroker(f, Options{Groups: GroupOptions{InitialRebalanceDelay: -1, MaxMembers: 20, MaxGroups: 20, MaxBytes: 1 << 20}})
	if _, r := b.data.CreateTopic(context.Background(), "t", 1, nil, false); r != nil {
		f.Fatal(r)
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		c, err := b.Dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		w := &rawClient{t, c}
		for _, frame := range [][]byte{first, second} {
			w.Write(binary.BigEndian.AppendUint32(nil, uint32(len(frame))))
			w.Write(frame)
		}
		w.frame(10 * time.Millisecond)
		c.Close()
		if err := b.groups.CheckInvariants(); err != nil {
			t.Error(err)
		}

		// The next client is served.
		next, err := b.Dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer next.Close()
		(&rawClient{t, next}).ask(kmsg.NewPtrApiVersionsRequest())
	})
}
