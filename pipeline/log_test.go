package pipeline_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/recountdb/recount/pipeline"
	"github.com/recountdb/recount/pipeline/broker"
	"github.com/recountdb/recount/pipeline/logtest"
	"github.com/recountdb/recount/schemas"
)

// outside starts a foreign implementation of Kafka (kfake).
func outside(t testing.TB, opts ...kfake.Opt) *kfake.Cluster {
	t.Helper()
	c, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(1)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// testLog returns a logger that writes to the test's log.
func testLog(t testing.TB) *slog.Logger {
	return slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
}

func openLog(t testing.TB, cfg pipeline.Config) *pipeline.Log {
	t.Helper()
	cfg.Logger = testLog(t)
	l, err := pipeline.Open(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func TestLogOutside(t *testing.T) {
	logtest.Run(t, func(t *testing.T, change func(*pipeline.Config)) *pipeline.Log {
		cfg := pipeline.Config{Brokers: outside(t).ListenAddrs()}
		change(&cfg)
		return openLog(t, cfg)
	})
}

func TestLogEmbedded(t *testing.T) {
	logtest.Run(t, func(t *testing.T, change func(*pipeline.Config)) *pipeline.Log {
		cfg := pipeline.Config{DataDir: t.TempDir()}
		change(&cfg)
		return openLog(t, cfg)
	})
}

// TestLogEmbeddedTCP runs the suite as another process would: over TCP, with a password.
func TestLogEmbeddedTCP(t *testing.T) {
	sasl := pipeline.SASL{Mechanism: "SCRAM-SHA-256", User: "alice", Password: "wonderland"}
	logtest.Run(t, func(t *testing.T, change func(*pipeline.Config)) *pipeline.Log {
		cfg := pipeline.Config{DataDir: t.TempDir(), Listen: "127.0.0.1:0", SASL: sasl}
		change(&cfg)
		server := openLog(t, cfg)
		client := pipeline.Config{Brokers: []string{server.Addr()}, SASL: sasl}
		change(&client)
		return openLog(t, client)
	})
}

func TestSASL(t *testing.T) {
	server := openLog(t, pipeline.Config{
		DataDir: t.TempDir(), Listen: "127.0.0.1:0",
		SASL: pipeline.SASL{Mechanism: "PLAIN", User: "alice", Password: "wonderland"},
	})
	for name, sasl := range map[string]pipeline.SASL{
		"wrong password": {Mechanism: "PLAIN", User: "alice", Password: "x"},
		"none":           {},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		l, err := pipeline.Open(ctx, pipeline.Config{Brokers: []string{server.Addr()}, SASL: sasl})
		if err == nil {
			t.Errorf("%s: let in", name)
			l.Close()
		}
		cancel()
	}
}

// TestOpenTwice checks that a second process cannot open the same data directory, and reports why.
func TestOpenTwice(t *testing.T) {
	dir := t.TempDir()
	openLog(t, pipeline.Config{DataDir: dir})
	_, err := pipeline.Open(t.Context(), pipeline.Config{DataDir: dir})
	if !errors.Is(err, schemas.ErrFatal) || !errors.Is(err, broker.ErrLocked) {
		t.Errorf("got %v", err)
	}
}

// TestReopen checks that the log is unchanged after a restart and continues at its end.
func TestReopen(t *testing.T) {
	ctx, dir := testContext(t), t.TempDir()
	var want schemas.Watermark
	for round := range 3 {
		l, err := pipeline.Open(ctx, pipeline.Config{DataDir: dir})
		if err != nil {
			t.Fatal(err)
		}
		if got := ends(ctx, t, l, schemas.TopicCommands); round > 0 && got.String() != want.String() {
			t.Errorf("reopened at %s, closed at %s", got, want)
		}
		appendCommands(ctx, t, l, round*20, 20)
		want = ends(ctx, t, l, schemas.TopicCommands)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestOutage checks that an append during an outage is transient, reports that its fate is unknown,
// and ends in time.
func TestOutage(t *testing.T) {
	c := outside(t)
	l := openLog(t, pipeline.Config{Brokers: c.ListenAddrs(), AppendTimeout: 200 * time.Millisecond})
	c.Close()
	at, err := l.Append(testContext(t), schemas.TopicCommands, schemas.Event{Payload: []byte(`{"command":"ls"}`)})
	if !errors.Is(err, schemas.ErrTransient) || len(at) != 1 || at[0] != pipeline.NotAppended {
		t.Errorf("got %v, %v", at, err)
	}
}

// TestDiskFull checks that an append refused for lack of space fails at once and is known not to be
// appended. Before, its fate was unknown after half a minute.
func TestDiskFull(t *testing.T) {
	ctx := testContext(t)
	l := openLog(t, pipeline.Config{DataDir: t.TempDir(), AppendTimeout: time.Hour, Broker: broker.Options{MinFreeBytes: 1 << 62}})
	at, err := l.Append(ctx, schemas.TopicCommands, schemas.Event{Payload: []byte(`{"command":"ls"}`)})
	if !errors.Is(err, schemas.ErrTransient) || !contains(err.Error(), "nothing appended", "nearly full") || at[0] != pipeline.NotAppended {
		t.Errorf("got %v, %v", at, err)
	}
}

func TestConfigValidate(t *testing.T) {
	for _, tc := range []struct {
		name string
		cfg  pipeline.Config
		want string
	}{
		{"neither directory nor brokers", pipeline.Config{}, `data_dir: ""`},
		{"broker without a port", pipeline.Config{Brokers: []string{"kafka"}}, `brokers: "kafka"`},
		{"prefix with a slash", pipeline.Config{DataDir: "d", Prefix: "a/"}, `prefix: "a/"`},
		{"too many partitions", pipeline.Config{DataDir: "d", Partitions: 5000}, "partitions: 5000"},
		{"event limit too small", pipeline.Config{DataDir: "d", MaxEventBytes: 1}, "max_event_bytes: 1"},
		{"listen with brokers", pipeline.Config{Brokers: []string{"k:1"}, Listen: ":0"}, `listen: ":0"`},
		{"listen without a port", pipeline.Config{DataDir: "d", Listen: "localhost"}, `listen: "localhost"`},
		{"unknown mechanism", pipeline.Config{DataDir: "d", SASL: pipeline.SASL{Mechanism: "GSSAPI", User: "u", Password: "p"}}, `sasl.mechanism: "GSSAPI"`},
		{"mechanism without a user", pipeline.Config{DataDir: "d", SASL: pipeline.SASL{Mechanism: "PLAIN"}}, `sasl.user: ""`},
		{"user without a mechanism", pipeline.Config{DataDir: "d", SASL: pipeline.SASL{User: "u"}}, `sasl.mechanism: ""`},
		{"half a certificate", pipeline.Config{Brokers: []string{"k:1"}, TLS: pipeline.TLS{Enabled: true, CertFile: "c"}}, `tls.cert_file: "c"`},
		{"TLS with the embedded broker", pipeline.Config{DataDir: "d", TLS: pipeline.TLS{Enabled: true}}, "tls.enabled: true"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := tc.cfg.Validate()
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
	if err := (pipeline.Config{DataDir: "d"}).Validate(); err != nil {
		t.Errorf("the defaults: %v", err)
	}
}

// linesTo returns a logger whose lines are sent to a channel; lines that do not fit are dropped.
func linesTo(lines chan<- string) *slog.Logger {
	return slog.New(slog.NewTextHandler(lineWriter(lines), nil))
}

type lineWriter chan<- string

func (w lineWriter) Write(b []byte) (int, error) {
	select {
	case w <- string(b):
	default:
	}
	return len(b), nil
}

func contains(s string, all ...string) bool {
	for _, part := range all {
		if !strings.Contains(s, part) {
			return false
		}
	}
	return true
}

// TestCloseIsQuiet checks that connections that end because the log is closed are not logged.
func TestCloseIsQuiet(t *testing.T) {
	lines := make(chan string, 1000)
	l, err := pipeline.Open(t.Context(), pipeline.Config{DataDir: t.TempDir(), Logger: linesTo(lines)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	following := make(chan error, 1)
	go func() {
		following <- l.Follow(ctx, pipeline.FollowOptions{}, func(context.Context, schemas.TopicPartition, []schemas.LogRecord, int64) error { return nil })
	}()
	time.Sleep(100 * time.Millisecond) // until fetches wait at the broker
	cancel()
	if err := errors.Join(<-following, l.Close()); err != nil {
		t.Error(err)
	}
	for len(lines) > 0 {
		if line := <-lines; contains(line, "client connection closed") {
			t.Error(line)
		}
	}
}
