package broker_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/recountdb/recount/pipeline/broker"
)

// TestAppend checks that a Kafka client reads what Append writes.
func TestAppend(t *testing.T) {
	b := open(t, t.TempDir(), broker.Options{})
	createTopic(t, b, "log", 1)
	at := time.UnixMilli(1_700_000_000_123)
	base, err := b.Append(testContext(t), "log", 0,
		broker.Record{Key: []byte("k"), Value: []byte("v"), Timestamp: at, Headers: []broker.Header{{Key: "h", Value: []byte("1")}, {Key: "null"}}},
		broker.Record{Timestamp: at.Add(-time.Hour)},
		broker.Record{Value: make([]byte, 100_000), Timestamp: at.Add(time.Hour)},
	)
	if err != nil || base != 0 {
		t.Fatalf("append: %d, %v", base, err)
	}
	got := consume(t, b, "log", 3)
	if diff := cmp.Diff([]kgo.RecordHeader{{Key: "h", Value: []byte("1")}, {Key: "null"}}, got[0].Headers); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
	if string(got[0].Key) != "k" || string(got[0].Value) != "v" || !got[0].Timestamp.Equal(at) {
		t.Errorf("first record: %q %q %s", got[0].Key, got[0].Value, got[0].Timestamp)
	}
	if got[1].Key != nil || got[1].Value != nil || !got[1].Timestamp.Equal(at.Add(-time.Hour)) {
		t.Errorf("null record: %v %v %s", got[1].Key, got[1].Value, got[1].Timestamp)
	}
	if len(got[2].Value) != 100_000 || got[2].Offset != 2 {
		t.Errorf("long record: %d bytes at %d", len(got[2].Value), got[2].Offset)
	}
}

func TestAppendRefused(t *testing.T) {
	b := open(t, t.TempDir(), broker.Options{MaxBatchBytes: 1000})
	createTopic(t, b, "log", 1)
	for _, tc := range []struct {
		topic     string
		partition int32
		value     int
		want      error
	}{
		{"nowhere", 0, 1, kerr.UnknownTopicOrPartition},
		{"log", 1, 1, kerr.UnknownTopicOrPartition},
		{"log", -1, 1, kerr.UnknownTopicOrPartition},
		{"log", 0, 1000, kerr.MessageTooLarge},
	} {
		_, err := b.Append(testContext(t), tc.topic, tc.partition, broker.Record{Value: make([]byte, tc.value)})
		if !errors.Is(err, tc.want) {
			t.Errorf("append %d bytes to %s/%d: %v, want %v", tc.value, tc.topic, tc.partition, err, tc.want)
		}
	}
}

func TestAppendFromMany(t *testing.T) {
	b := open(t, t.TempDir(), broker.Options{})
	createTopic(t, b, "log", 3)
	const writers, each = 20, 30
	var wg sync.WaitGroup
	var mu sync.Mutex
	at := map[string]place{}
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				v := fmt.Sprintf("%d/%d", w, i)
				p := int32(w % 3)
				base, err := b.Append(t.Context(), "log", p, broker.Record{Value: []byte(v)})
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				at[v] = place{p, base}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	for _, r := range consume(t, b, "log", writers*each) {
		if want := at[string(r.Value)]; want != (place{r.Partition, r.Offset}) {
			t.Errorf("%q is at %d/%d, was said to be at %v", r.Value, r.Partition, r.Offset, want)
		}
	}
}
