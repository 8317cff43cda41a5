package broker

import (
	"context"
	"encoding/binary"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recountdb/recount/pipeline/broker/wire"
)

// seedFrames returns one empty request of each API in its lowest and highest version, without the
// size prefix.
func seedFrames(b *Broker) [][]byte {
	var seeds [][]byte
	for k := int16(0); k <= kmsg.MaxKey; k++ {
		req := kmsg.RequestForKey(k)
		if req == nil {
			continue
		}
		versions := []int16{0, req.MaxVersion()}
		if h, ok := b.table[k]; ok {
			versions = append(versions, h.min, h.max)
		}
		for _, v := range versions {
			req := kmsg.RequestForKey(k)
			req.SetVersion(v)
			seeds = append(seeds, kmsg.NewRequestFormatter().AppendRequest(nil, req, 1)[4:])
		}
	}
	// And a request with content.
	produce := kmsg.NewPtrProduceRequest()
	produce.Acks, produce.Version = -1, 9
	rt := kmsg.NewProduceRequestTopic()
	rt.Topic = "fuzz"
	rp := kmsg.NewProduceRequestTopicPartition()
	rp.Records = wire.EncodeBatch(nil, []Record{{Value: []byte("v"), Headers: []Header{{Key: "h"}}}})
	rt.Partitions = append(rt.Partitions, rp)
	produce.Topics = append(produce.Topics, rt)
	return append(seeds, kmsg.NewRequestFormatter().AppendRequest(nil, produce, 1)[4:])
}

// FuzzDecodeRequest checks that decoding any frame is quick and does not panic, and that the result
// can be encoded again.
func FuzzDecodeRequest(f *testing.F) {
	for _, s := range seedFrames(&Broker{table: (&Broker{}).apis()}) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		if len(frame) > 1<<16 {
			return
		}
		_, req, err := wire.DecodeRequest(frame)
		if err == nil && req != nil {
			req.AppendTo(nil)
		}
	})
}

// FuzzDispatch checks that the broker answers or closes the connection, whatever a client sends,
// and serves the next client.
func FuzzDispatch(f *testing.F) {
	b, err := Open("fuzz", Options{FS: vfs.NewMem(), AutoCreateTopics: true, MaxPartitions: 100})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { b.Close() })
	if _, r := b.data.CreateTopic(context.Background(), "fuzz", 1, nil, false); r != nil {
		f.Fatal(r)
	}
	for _, s := range seedFrames(b) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		if len(frame) > 1<<16 {
			return
		}
		c, err := b.Dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		c.SetDeadline(time.Now().Add(5 * time.Millisecond))
		msg := append(binary.BigEndian.AppendUint32(nil, uint32(len(frame))), frame...)
		if _, err := c.Write(msg); err != nil {
			return
		}
		c.Read(make([]byte, 1<<16)) // an answer, or not
		if err := b.Err(); err != nil {
			t.Fatalf("the store failed: %v", err)
		}
	})
}
