package wire

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestProduceOfTooManyPartitions checks that the limit on partitions applies to all topics of a
// produce together: each partition takes twenty times its bytes once it is decoded.
func TestProduceOfTooManyPartitions(t *testing.T) {
	frame := func(topics, partitions int) []byte {
		req := kmsg.NewPtrProduceRequest()
		req.Version = 8
		for range topics {
			rt := kmsg.NewProduceRequestTopic()
			rt.Partitions = make([]kmsg.ProduceRequestTopicPartition, partitions)
			req.Topics = append(req.Topics, rt)
		}
		return kmsg.NewRequestFormatter().AppendRequest(nil, req, 1)[4:]
	}
	if _, req, err := DecodeRequest(frame(10, maxProducePartitions/10)); err != nil || req == nil {
		t.Errorf("as many as may be: %v", err)
	}
	if _, _, err := DecodeRequest(frame(11, maxProducePartitions/10)); err == nil {
		t.Error("a tenth more than may be are decoded")
	}
}
