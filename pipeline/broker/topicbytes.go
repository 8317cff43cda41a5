package broker

// TopicBytes estimates the size of a topic's readable batches from the average size of all batches
// it ever had; 0 if there is no such topic.
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
