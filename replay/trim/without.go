package trim

import (
	"slices"

	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/schemas"
)

// why says why a step is left out that the evidence kept.
const why = "a trial without it, in a sandbox, came to the same end"

// Without returns a plan without some of its steps, which stand among those that are left out. What needed one of them
// stays behind what that one needed.
func Without(p *replay.Plan, steps map[int]bool) (*replay.Plan, error) {
	out := *p
	out.Steps, out.Inputs, out.Parameters, out.Environment = nil, nil, nil, nil
	out.Left = slices.Clone(p.Left)
	place := map[int]int{}
	for i := range p.Steps {
		if !steps[i] {
			place[i] = len(place)
		}
	}
	moved := func(i *int) *int {
		if i == nil {
			return nil
		}
		if at, ok := place[*i]; ok {
			return &at
		}
		return nil
	}
	for i := range p.Steps {
		s := p.Steps[i]
		if steps[i] {
			out.Left = append(out.Left, replay.Left{Intent: s.Intent, Position: s.Position, Command: s.Original, Kind: replay.LeftTried, Why: why, Evidence: []schemas.Position{s.Position}})
			continue
		}
		s.Index = place[i]
		s.Needs = needs(p, steps, place, i)
		s.EndedBy = moved(s.EndedBy)
		s.Post = slices.Clone(s.Post)
		for j := range s.Post {
			s.Post[j].ReplacedBy = moved(s.Post[j].ReplacedBy)
		}
		s.Settled = false // that is known of the whole plan
		out.Steps = append(out.Steps, s)
	}
	out.Settled = nil
	for _, in := range p.Inputs {
		if at, ok := place[in.Step]; ok {
			in.Step = at
			out.Inputs = append(out.Inputs, in)
		}
	}
	for _, d := range p.Environment {
		if at, ok := place[d.Step]; ok {
			d.Step = at
			out.Environment = append(out.Environment, d)
		}
	}
	for _, q := range p.Parameters {
		var in []int
		for _, s := range q.Steps {
			if at, ok := place[s]; ok {
				in = append(in, at)
			}
		}
		if q.Steps = in; len(in) > 0 || q.Given {
			out.Parameters = append(out.Parameters, q)
		}
	}
	return &out, out.Identify()
}

// needs returns what a step needs of those that stay, at their new places. In the place of a step that is left out come those
// that it needed, which the step still must not come before.
func needs(p *replay.Plan, without map[int]bool, place map[int]int, step int) []replay.Need {
	var all []replay.Need
	seen := map[int]bool{}
	var inherit func(of int)
	inherit = func(of int) {
		for _, n := range p.Steps[of].Needs {
			if without[n.On] {
				inherit(n.On)
				continue
			}
			if n.On = place[n.On]; of == step || !seen[n.On] {
				if seen[n.On] = true; of != step {
					n.Kind = replay.NeedOrder
				}
				all = append(all, n)
			}
		}
	}
	inherit(step)
	return all
}
