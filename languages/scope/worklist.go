package scope

import (
	"context"
)

// Flow moves values from some variables to others. It runs again when a variable that it read
// gets more values.
type Flow struct {
	run    func(*Flow)
	reads  map[*Variable]bool
	queued bool
	Visits int
}

// Wake queues a flow, unless it is queued already or ran MaxVisits times.
func (p *Program) Wake(f *Flow) {
	if !f.queued && f.Visits < maxVisits {
		f.queued = true
		p.queue = append(p.queue, f)
	}
}

// AddFlow adds a flow and queues it.
func (p *Program) AddFlow(run func(*Flow)) *Flow {
	f := &Flow{run: run}
	p.Wake(f)
	return f
}

// Drain runs the queued flows until none is left.
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
