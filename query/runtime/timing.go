package runtime

import (
	"fmt"
	"math"
	"time"

	observed "github.com/recountdb/recount/projections/runtime"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// rate counts the requests and failures of an operation. For a slow span, a failure is a request
// that took as long.
type rate struct{ count, errors uint64 }

func (r rate) share() float64 {
	if r.count == 0 {
		return 0
	}
	return float64(r.errors) / float64(r.count)
}

func (r rate) minus(o rate) rate {
	return rate{r.count - min(o.count, r.count), r.errors - min(o.errors, r.errors)}
}

// served returns the requests that did not fail.
func (r rate) served() uint64 { return r.count - min(r.errors, r.count) }

// rate returns the requests and failures of the subject from the beginning of the searched days up
// to a time.
func (c *causes) rate(until time.Time) (rate, error) {
	minute := until.Truncate(time.Minute).UnixNano()
	if r, ok := c.rates[minute]; ok {
		return r, nil
	}
	var r rate
	if from := c.from.Truncate(time.Minute).UnixNano(); minute > from {
		view := c.j.a.view
		if c.slow == nil {
			view = view.Counts()
		}
		rows, err := view.ServerSums(c.j.a.Ctx, observed.Range{From: from, To: minute}, c.of.Service)
		if err != nil {
			return r, err
		}
		for i := range rows {
			if rows[i].Kind != c.kind || rows[i].Operation != c.of.Operation {
				continue
			}
			r.count += rows[i].Count
			if c.slow != nil {
				r.errors += rows[i].Longer(c.slow.limit)
			} else {
				r.errors += rows[i].Errors
			}
		}
	}
	c.rates[minute] = r
	return r, nil
}

// end is the end of the counted time: the minute of the span is included.
func (c *causes) end() time.Time { return c.until.Add(time.Minute) }

// firstFailure returns the minute of the first failure beyond a number of failures. The number of
// failures up to a time never decreases, so a binary search finds it.
func (c *causes) firstFailure(beyond uint64) (time.Time, error) {
	if t, ok := c.onsets[beyond]; ok {
		return t, nil
	}
	lo, hi := int64(0), int64(c.end().Sub(c.from)/time.Minute)+1
	for lo < hi {
		mid := (lo + hi) / 2
		r, err := c.rate(c.from.Add(time.Duration(mid) * time.Minute))
		if err != nil {
			return time.Time{}, err
		}
		if r.errors > beyond {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	t := c.from.Add(time.Duration(lo-1) * time.Minute).Truncate(time.Minute)
	c.onsets[beyond] = t
	return t, nil
}

// These limit what the times of failures say about one suspect.
const (
	bestTiming  = 3.0
	worstTiming = -6.0
	// farRarer is the factor by which failures before a suspect must have been rarer for them to
	// be others.
	farRarer = 5
)

// timing adds what the requests before and after a suspect took effect say about it: the logarithm
// of how much more probable these answers are if it broke the operation than if something unknown
// did at some other time. picky is the probability that what it broke depends on the request, so
// that requests may still succeed.
func (c *causes) timing(x *suspect, picky float64) error {
	if c.of == nil {
		return nil
	}
	whole, err := c.rate(c.end())
	if err != nil || whole.errors == 0 {
		return err
	}
	before, err := c.rate(x.live)
	if err != nil {
		return err
	}
	after := whole.minus(before)
	verb := "failed"
	if c.slow != nil {
		verb = "were as slow"
	}
	if before.errors > 0 {
		if after.share() < farRarer*before.share() {
			weight := -3.0
			if after.share() >= 2*before.share() {
				weight = -1
			}
			x.add("failed already", weight, fmt.Sprintf("%d of %d requests %s before it, %d of %d after it", before.errors, before.count, verb, after.errors, after.count))
			return nil
		}
		x.add("fails more", -0.5, fmt.Sprintf("%.0f %% of the requests %s before it, %.0f %% after it", 100*before.share(), verb, 100*after.share()))
	}
	onset, err := c.firstFailure(before.errors)
	if err != nil {
		return err
	}
	until, err := c.rate(onset)
	if err != nil {
		return err
	}
	since := whole.minus(until)
	fine := float64(until.minus(before).served())
	p := (float64(since.errors) + 0.5) / (float64(since.count) + 1)
	likely := (1-picky)*math.Pow(1-p, fine) + 2*picky/((fine+1)*(fine+2))
	weight := math.Log(likely) + math.Log(float64(until.served())+1)
	weight = min(bestTiming, max(worstTiming, weight))
	switch {
	case before.count == 0 && fine == 0:
	case fine == 0:
		x.add("first failing", weight, fmt.Sprintf("%s was asked for %d times in the days before it, and %d %s; after it %d of %d %s", c.of.Operation, before.count, before.errors, verb, after.errors, after.count, verb))
	default:
		x.add("answered since", weight, fmt.Sprintf("%d requests succeeded after it, before the first that did not; %d of %d since then %s", int(fine), since.errors, since.count, verb))
	}
	if x.live.Before(onset) {
		// The closer to the first failure, the less probable is it to be there by chance.
		near := 0.3 * math.Log(float64(c.days)/float64(max(time.Minute, onset.Sub(x.live))))
		x.add("recent", max(0, min(1.5, near-0.5)), ago(onset.Sub(x.live))+" before the first failure")
	}
	return nil
}

// slowness describes a span that took longer than its operation usually does.
type slowness struct {
	// usual and limit are durations in nanoseconds; a request counts as slow beyond limit.
	usual, limit int64
}

// unusual compares a duration with those of an operation's requests. It returns nil if it is usual.
func unusual(duration int64, sum *observed.Sum) *slowness {
	if sum == nil {
		return nil
	}
	for _, try := range []struct{ quantile, times float64 }{{0.5, 2}, {0.25, 3}} {
		if usual, ok := sum.Quantile(try.quantile); ok && usual > 0 && float64(duration) > try.times*usual {
			return &slowness{int64(usual), int64(math.Sqrt(usual * float64(duration)))}
		}
	}
	return nil
}

// usualSums are the requests of all services in a range, as one side saw them.
type usualSums struct {
	in  observed.Range
	all map[usualKey]*observed.Sum
}

type usualKey struct {
	service, peer, operation string
	kind                     recountv1.RuntimeKind
}

// read reads the sums.
func (u *usualSums) read(a *session, side recountv1.Side) error {
	add := func(k usualKey, s *observed.Sum) {
		if u.all[k] == nil { // of several systems the first
			u.all[k] = s
		}
	}
	if side == recountv1.Side_SIDE_CALLED {
		rows, err := a.view.ServerSums(a.Ctx, u.in, "")
		for i := range rows {
			add(usualKey{service: rows[i].Service, kind: rows[i].Kind, operation: rows[i].Operation}, &rows[i].Sum)
		}
		return err
	}
	rows, err := a.view.ClientSums(a.Ctx, u.in, "")
	for i := range rows {
		add(usualKey{service: rows[i].Service, peer: rows[i].Peer, kind: rows[i].Kind, operation: rows[i].Operation}, &rows[i].Sum)
	}
	return err
}

// typicalOf returns the durations of a span's operation in a range: what its service served, or what
// it asked of its peer. It returns nil for work inside a service, of which no sums are kept. The spans
// of a trace, which may be tens of thousands, mostly began in the same minute, so the sums of their
// range are read once.
func (a *session) typicalOf(s *span, in observed.Range) (*observed.Sum, error) {
	side := s.seen.Side
	if side != recountv1.Side_SIDE_CALLED && side != recountv1.Side_SIDE_CALLER {
		return nil, nil
	}
	in = observed.Range{From: minuteOf(in.From), To: minuteOf(in.To-1) + int64(time.Minute)} // as the view widens it
	u := a.usual[side]
	if u == nil || u.in != in {
		u = &usualSums{in, map[usualKey]*observed.Sum{}}
		if err := u.read(a, side); err != nil {
			return nil, err
		}
		if a.usual == nil {
			a.usual = map[recountv1.Side]*usualSums{}
		}
		a.usual[side] = u
	}
	k := usualKey{service: s.service, kind: s.seen.Kind, operation: s.seen.Operation}
	if side == recountv1.Side_SIDE_CALLER {
		k.peer = s.seen.Peer
	}
	return u.all[k], nil
}

// minuteOf returns the beginning of a time's minute.
func minuteOf(at int64) int64 {
	within := at % int64(time.Minute)
	if within < 0 {
		within += int64(time.Minute)
	}
	return at - within
}

// slowest finds the span that makes a trace slow: from the earliest request that took longer than
// its operation usually does, down to what explains at least half of the excess. It returns -1 if
// nothing took longer than usual.
func (a *session) slowest(all []span, order []int, days time.Duration) (at int, slow *slowness, err error) {
	at = -1
	var excess int64
	try := func(i int) (*slowness, error) {
		s := &all[i]
		in := observed.Range{From: s.seen.StartUnixNano - int64(days), To: s.seen.StartUnixNano + int64(time.Minute)}
		sum, err := a.typicalOf(s, in)
		if err != nil || sum == nil {
			return nil, err
		}
		return unusual(s.seen.DurationNano, sum), nil
	}
	for _, i := range order {
		if all[i].seen.Side != recountv1.Side_SIDE_CALLED {
			continue
		}
		if slow, err = try(i); err != nil || slow != nil {
			at = i
			break
		}
	}
	if err != nil || slow == nil {
		return -1, nil, err
	}
	excess = all[at].seen.DurationNano - slow.usual
	for down := []int{at}; len(down) > 0; {
		i := down[0]
		down = down[1:]
		for _, b := range all[i].below {
			s := &all[b]
			if s.seen.Side != recountv1.Side_SIDE_CALLED && s.seen.Side != recountv1.Side_SIDE_CALLER {
				down = append(down, b) // work inside a service
				continue
			}
			found, err := try(b)
			if err != nil {
				return -1, nil, err
			}
			if found != nil && 2*(s.seen.DurationNano-found.usual) >= excess {
				at, slow, excess = b, found, s.seen.DurationNano-found.usual
				down = []int{b}
				break
			}
		}
	}
	return at, slow, nil
}
