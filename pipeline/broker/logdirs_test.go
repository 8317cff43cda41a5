package broker_test

import (
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recountdb/recount/pipeline/broker"
)

func TestDescribeLogDirs(t *testing.T) {
	b := open(t, t.TempDir(), broker.Options{})
	createTopic(t, b, "log", 2)
	ctx := testContext(t)
	adm := kadm.NewClient(client(t, b))
	size := func() int64 {
		t.Helper()
		dirs, err := adm.DescribeAllLogDirs(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		total := int64(-1)
		dirs.Each(func(d kadm.DescribedLogDir) {
			if d.Err != nil {
				t.Fatal(d.Err)
			}
			p, ok := d.Topics.Lookup("log", 0)
			if other, has := d.Topics.Lookup("log", 1); !ok || !has || other.Size != 0 {
				t.Fatalf("partitions %+v", d.Topics)
			}
			total = p.Size
		})
		return total
	}
	if got := size(); got != 0 {
		t.Errorf("an empty partition has %d bytes", got)
	}
	add := func() {
		t.Helper()
		if _, err := b.Append(ctx, "log", 0, broker.Record{Value: make([]byte, 10_000)}); err != nil {
			t.Fatal(err)
		}
	}
	add()
	one := size()
	if one < 10_000 || one > 10_200 {
		t.Errorf("a record of 10,000 bytes takes %d", one)
	}
	add()
	add()
	offsets := kadm.Offsets{}
	offsets.Add(kadm.Offset{Topic: "log", Partition: 0, At: 1})
	if _, err := adm.DeleteRecords(ctx, offsets); err != nil {
		t.Fatal(err)
	}
	if got := size(); got != 2*one {
		t.Errorf("two of three records take %d, want %d", got, 2*one)
	}
	add()
	if got := size(); got != 3*one {
		t.Errorf("with one more %d, want %d", got, 3*one)
	}
}

// TestInertTopicSettings checks that settings without effect are accepted, kept over a restart and
// shown as not in effect, and that settings that would promise something unsupported are refused.
func TestInertTopicSettings(t *testing.T) {
	dir := t.TempDir()
	b, err := broker.Open(dir, broker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx := testContext(t)
	value := func(s string) *string { return &s }
	r, err := kadm.NewClient(client(t, b)).CreateTopic(ctx, 1, 1, map[string]*string{
		"segment.bytes": value("52428800"), "retention.ms": value("-1"), "cleanup.policy": value("delete"),
		"message.timestamp.type": value("CreateTime"), // those before are sent by Kafka Streams
		"min.insync.replicas":    value("2"), "compression.type": value("lz4"), "unclean.leader.election.enable": value("true"),
		"flush.messages": value("1000"), "index.interval.bytes": value("1024"), "min.cleanable.dirty.ratio": value("0.1"),
	}, "log")
	if err != nil || r.Err != nil {
		t.Fatal(err, r.Err, r.ErrMessage)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	b = open(t, dir, broker.Options{})
	req := kmsg.NewPtrDescribeConfigsRequest()
	req.IncludeDocumentation = true
	req.Resources = append(req.Resources, kmsg.DescribeConfigsRequestResource{ResourceType: kmsg.ConfigResourceTypeTopic, ResourceName: "log"})
	resp, err := req.RequestWith(ctx, client(t, b))
	if err != nil || len(resp.Resources) != 1 {
		t.Fatal(err, resp)
	}
	shown := map[string]string{}
	for _, c := range resp.Resources[0].Configs {
		shown[c.Name] = *c.Value
		inert := strings.Contains(*c.Documentation, "without effect")
		if c.Name == "segment.bytes" && (!inert || c.Source != kmsg.ConfigSourceDynamicTopicConfig) {
			t.Errorf("segment.bytes: %+v", c)
		}
		if c.Name == "retention.ms" && inert {
			t.Errorf("retention.ms: %+v", c)
		}
	}
	if shown["segment.bytes"] != "52428800" || shown["compression.type"] != "lz4" || shown["min.insync.replicas"] != "2" || shown["segment.ms"] != "604800000" {
		t.Errorf("shown: %v", shown)
	}
	adm := kadm.NewClient(client(t, b))
	for _, tc := range []struct{ name, value, says string }{
		{"segment.bytes", "large", "want a number"},
		{"preallocate", "maybe", "want one of true, false"},
		{"compression.type", "brotli", "want one of"},
		{"cleanup.policy", "compact", "never compacted"},
		{"segment.byte", "1", "unknown topic config"},
	} {
		r, err := adm.AlterTopicConfigs(ctx, []kadm.AlterConfig{{Op: kadm.SetConfig, Name: tc.name, Value: &tc.value}}, "log")
		if err != nil || len(r) != 1 || r[0].Err != kerr.InvalidConfig || !strings.Contains(r[0].ErrMessage, tc.says) {
			t.Errorf("%s=%s: %v %+v", tc.name, tc.value, err, r)
		}
	}
}

// TestTransactionsAreRefusedForGood checks that all requests of transactions fail with an error
// after which clients stop.
func TestTransactionsAreRefusedForGood(t *testing.T) {
	b := open(t, t.TempDir(), broker.Options{})
	for _, version := range []int16{2, 4} {
		req := kmsg.NewPtrFindCoordinatorRequest()
		req.CoordinatorType, req.CoordinatorKey, req.CoordinatorKeys = 1, "tx", []string{"tx"}
		resp := ask(t, dialRaw(t, b), req, version).(*kmsg.FindCoordinatorResponse)
		got := resp.ErrorCode
		if version >= 4 {
			got = resp.Coordinators[0].ErrorCode
		}
		if got != kerr.TransactionalIDAuthorizationFailed.Code {
			t.Errorf("version %d: %v", version, kerr.ErrorForCode(got))
		}
	}
	req := kmsg.NewPtrInitProducerIDRequest()
	req.TransactionalID = kmsg.StringPtr("tx")
	if resp := ask(t, dialRaw(t, b), req, 4).(*kmsg.InitProducerIDResponse); resp.ErrorCode != kerr.TransactionalIDAuthorizationFailed.Code {
		t.Errorf("init producer id: %v", kerr.ErrorForCode(resp.ErrorCode))
	}
}
