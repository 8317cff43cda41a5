package scope

import (
	"context"
)

// Flow is one way for values to go: it is followed again when what it read has
// more.
type Flow struct {
	run    func(*Flow)
	reads  map[*Variable]bool
	queued bool
	Visits int
}

func (p *Program) Wake(f *Flow) {
	if !f.queued && f.Visits < maxVisits {
		f.queued = true
		p.queue = append(p.queue, f)
	}
}

func (p *Program) AddFlow(run func(*Flow)) *Flow {
	f := &Flow{run: run}
	p.Wake(f)
	return f
}

func (p *Program) Drain(ctx context.Context) error {
	for i := 0; i < len(p.queue); i++ {
		if i&0x3ff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		f := p.queue[i]
		f.queued = false
		f.Visits++
		f.run(f)
	}
	p.queue = p.queue[:0]
	return nil
}
