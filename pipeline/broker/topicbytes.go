package broker

// TopicBytes is about how long the batches of a topic are together that can be read, by
// how long all of them were that it ever had; 0 where there is no such topic.
func (b *Broker) TopicBytes(name string) (total int64) {
	t := b.topics.named(name)
	if t == nil {
		return 0
	}
	for _, p := range *t.parts.Load() {
		if v := p.now(); v.end > v.start {
			total += int64(float64(v.bytes) * float64(v.end-v.start) / float64(v.end))
		}
	}
	return total
}
