package storage

import (
	"log/slog"
	"strconv"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// memLog opens a log in memory, with defaults for what o leaves out.
func memLog(t testing.TB, o Options) *Log {
	t.Helper()
	o.FS = vfs.NewMem()
	return testLog(t, "/log", o)
}

// testLog opens a log in dir until the test ends.
func testLog(t testing.TB, dir string, o Options) *Log {
	t.Helper()
	o.DefaultPartitions, o.MaxPartitions, o.MaxBatchBytes = 4, 10_000, 1_048_588
	o.ProducerExpiry, o.SegmentBytes = time.Hour, 256<<20
	if o.BulkBytes == 0 {
		o.BulkBytes = 256 << 10
	}
	o.Logger = slog.New(slog.DiscardHandler)
	o.ParseConfigs = parseMaxMessageBytes
	l, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	l.Start()
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// parseMaxMessageBytes knows the only setting that the tests here use.
func parseMaxMessageBytes(set map[string]string) (*TopicConfigs, error) {
	c := &TopicConfigs{Set: set}
	if v, ok := set["max.message.bytes"]; ok {
		n, err := strconv.Atoi(v)
		if err != nil {
			return nil, err
		}
		c.MaxMessageBytes = n
	}
	return c, nil
}
