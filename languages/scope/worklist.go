package scope

import (
	"context"
)

// flow is one way for values to go: it is followed again when what it read has
// more.
type flow struct {
	run    func(*flow)
	reads  map[*variable]bool
	queued bool
	visits int
}

func (p *program) wake(f *flow) {
	if !f.queued && f.visits < maxVisits {
		f.queued = true
		p.queue = append(p.queue, f)
	}
}

func (p *program) addFlow(run func(*flow)) *flow {
	f := &flow{run: run}
	p.wake(f)
	return f
}

func (p *program) drain(ctx context.Context) error {
	for i := 0; i < len(p.queue); i++ {
		if i&0x3ff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		f := p.queue[i]
		f.queued = false
		f.visits++
		f.run(f)
	}
	p.queue = p.queue[:0]
	return nil
}
