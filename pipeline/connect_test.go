package pipeline_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/recountdb/recount/pipeline"
	"github.com/recountdb/recount/pipeline/streams"
	"github.com/recountdb/recount/processors/adapter"
	"github.com/recountdb/recount/schemas"
)

// produced appends n records to each of two partitions, one second apart from 2026-11-20 on, and
// returns the log and its address.
func produced(t *testing.T, n int) (l *pipeline.Log, seed string) {
	t.Helper()
	seed = outside(t).ListenAddrs()[0]
	l = openLog(t, pipeline.Config{Brokers: []string{seed}})
	var recs []schemas.LogRecord
	for i := range n {
		for p := range int32(2) {
			recs = append(recs, schemas.LogRecord{
				Position:  schemas.Position{Topic: schemas.TopicCommands, Partition: p},
				Timestamp: time.Date(2026, 11, 20, 12, 0, i, 0, time.UTC), Value: fmt.Appendf(nil, "%d-%d", p, i),
			})
		}
	}
	if _, err := l.Produce(testContext(t), recs...); err != nil {
		t.Fatal(err)
	}
	return l, seed
}

// read runs an input into a topic of its own and returns what arrived, in order.
func read(t *testing.T, l *pipeline.Log, seed, input, to, value string, want int) []string {
	t.Helper()
	ctx := testContext(t)
	if err := l.CreateTopic(ctx, to); err != nil {
		t.Fatal(err)
	}
	stream := runStream(t, streams.Options{YAML: fmt.Sprintf(`
input: %s
pipeline: { processors: [ { mapping: 'root = %s' } ] }
output: { redpanda: { seed_brokers: [ %s ], topic: %s } }
`, input, value, seed, to)})
	var got []string
	for len(got) < want {
		got = nil
		if err := l.Tail(ctx, pipeline.TailOptions{Topics: []string{to}, Last: -1}, func(r schemas.LogRecord) error {
			got = append(got, string(r.Value))
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	stream.end()
	slices.Sort(got)
	return got
}

// TestStartFrom checks that recount_log starts at given offsets or at a time, and that partitions
// without an offset start at their beginning.
func TestStartFrom(t *testing.T) {
	t.Parallel()
	l, seed := produced(t, 5)
	for i, c := range []struct {
		from string
		want string
	}{
		{"recount.commands/0:3", "0-3 0-4 1-0 1-1 1-2 1-3 1-4"},
		{"recount.commands:0:5,recount.commands:1:4", "1-4"},
		{"2026-11-20T12:00:03Z", "0-3 0-4 1-3 1-4"},
		{"2026-11-20 12:00:04", "0-4 1-4"},
		{"earliest", "0-0 0-1 0-2 0-3 0-4 1-0 1-1 1-2 1-3 1-4"},
	} {
		t.Run(c.from, func(t *testing.T) {
			t.Parallel()
			input := fmt.Sprintf(`{ recount_log: { seed_brokers: [ %s ], topics: [ recount.commands ], start_from: "%s" } }`, seed, c.from)
			want := strings.Fields(c.want)
			if got := read(t, l, seed, input, fmt.Sprintf("got%d", i), "content()", len(want)); !slices.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
	for from, want := range map[string]string{
		"yesterday": "want projections", "recount.commits/0:1": "not one of the topics", "recount.commands/0:99": "the log ends there at 5",
	} {
		ctx, cancel := context.WithCancel(t.Context())
		err := streams.Run(ctx, streams.Options{YAML: fmt.Sprintf(
			"input: { recount_log: { seed_brokers: [ %s ], topics: [ recount.commands ], start_from: '%s' } }\noutput: { drop: {} }\n", seed, from)})
		cancel()
		if err == nil || !contains(err.Error(), want) {
			t.Errorf("%s: %v", from, err)
		}
	}
}

// TestConnectConfigs checks that configs in the style of Redpanda Connect's documentation for Kafka
// run here, with the metadata and headers that they expect.
func TestConnectConfigs(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"kafka_franz", "redpanda"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := testContext(t)
			l, seed := produced(t, 3)
			if err := l.CreateTopic(ctx, "to"); err != nil {
				t.Fatal(err)
			}
			reg := prometheus.NewRegistry()
			stream := runStream(t, streams.Options{Metrics: reg, YAML: fmt.Sprintf(`
input:
  %[1]s:
    seed_brokers: [ "%[2]s" ]
    topics: [ recount.commands ]
    consumer_group: copy
    start_offset: earliest
    checkpoint_limit: 1024
    auto_replay_nacks: true
    fetch_max_wait: 5s
    tls: { enabled: false }
    batching: { count: 2 }
pipeline:
  processors:
    - mapping: |
        meta at = @kafka_timestamp_unix.string()
        root = content().string() + "/" + @kafka_offset.string()
output:
  %[1]s:
    seed_brokers: [ "%[2]s" ]
    topic: to
    key: ${! @kafka_partition }
    partitioner: murmur2_hash
    idempotent_write: true
    compression: zstd
    metadata: { include_prefixes: [ at ] }
    timestamp_ms: ${! @kafka_timestamp_ms }
    max_in_flight: 10
    batching: { count: 4, period: 10ms }
`, name, seed)})
			got := map[string]schemas.LogRecord{}
			for len(got) < 6 {
				if err := l.Tail(ctx, pipeline.TailOptions{Topics: []string{"to"}, Last: -1}, func(r schemas.LogRecord) error {
					got[string(r.Value)] = r
					return nil
				}); err != nil {
					t.Fatal(err)
				}
			}
			stream.end()
			r, ok := got["1-2/2"]
			at := time.Date(2026, 11, 20, 12, 0, 2, 0, time.UTC)
			if !ok || string(r.Key) != "1" || !r.Timestamp.Equal(at) || len(r.Headers) != 1 || r.Headers[0].Key != "at" || string(r.Headers[0].Value) != fmt.Sprint(at.Unix()) {
				t.Errorf("got %+v of %d", r, len(got))
			}
		})
	}
}

// TestConnectRefuses checks that unsupported settings are refused with an alternative, by lint as
// well. It is not parallel: CLI registers in Benthos' global environment.
func TestConnectRefuses(t *testing.T) {
	for config, want := range map[string]string{
		"input: { kafka_franz: { seed_brokers: [], topics: [ a ] } }\noutput: { drop: {} }":                                                    "use recount_log without seed_brokers",
		"input: { kafka_franz: { seed_brokers: [ 'a:1' ], topics: [ '^a' ], regexp_topics: true } }\noutput: { drop: {} }":                     "name the topics",
		"input: { kafka_franz: { seed_brokers: [ 'a:1' ], topics: [ 'a:0' ] } }\noutput: { drop: {} }":                                         "start_from",
		"input: { redpanda: { seed_brokers: [ 'a:1' ], topics: [ a ], tls: { skip_cert_verify: true } } }\noutput: { drop: {} }":               "root_cas_file",
		"input: { generate: { mapping: 'root = 1' } }\noutput: { redpanda: { seed_brokers: [ 'a:1' ], topic: a, partitioner: least_backup } }": "murmur2_hash",
		"input: { kafka: { addresses: [ 'a:1' ], topics: [ a ] } }\noutput: { drop: {} }":                                                      "kafka is not available here; use kafka_franz",
		"input: { generate: { mapping: 'root = 1' } }\noutput: { aws_s3: { bucket: b } }":                                                      "aws_s3 is not available here",
	} {
		ctx, cancel := context.WithCancel(t.Context())
		err := streams.Run(ctx, streams.Options{YAML: config})
		cancel()
		if err == nil || !contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", config, err, want)
		}
	}
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	lint := func(path string) (int, error) {
		return streams.CLI(t.Context(), []string{"lint", path}, streams.CLIOptions{Processors: adapter.Register})
	}
	good := file("good.yaml", "metrics: { prometheus: { add_go_metrics: true } }\ninput: { redpanda: { seed_brokers: [ 'a:1' ], topics: [ a ], sasl: [ { mechanism: PLAIN, username: u, password: p } ] } }\noutput: { recount_log: { topic: b } }\n")
	if code, err := lint(good); code != 0 || err != nil {
		t.Errorf("exit %d, %v", code, err)
	}
	if code, err := lint(file("kafka.yaml", "input: { kafka: { addresses: [ 'a:1' ], topics: [ a ] } }\noutput: { drop: {} }\n")); code == 0 || err == nil || !contains(err.Error(), "kafka.yaml: kafka is not available here; use kafka_franz") {
		t.Errorf("exit %d, %v", code, err)
	}
	if code, err := lint(file("start.yaml", "input: { recount_log: { topics: [ a ], start_from: yesterday } }\noutput: { drop: {} }\n")); code == 0 && err == nil {
		t.Error("start_from: yesterday passed")
	}
}
