package runtime

import (
	"context"
	"time"

	observed "github.com/recountdb/recount/projections/runtime"
)

// The confidence that something happens now is computed by the query, from the times of events and
// the moment that counts as now, so that no stored state depends on a clock.
//
//	seen last          seen in the last 7 days    confidence
//	≤ 30 days before   more than 1,000            0.95
//	                   100 to 1,000               0.85
//	                   10 to 99                   0.7
//	                   1 to 9                     0.5
//	                   none                       0.2
//	31 to 90 days                                 0.2
//	more than 90 days                             0
//
// Something last seen after that moment counts as seen at it, since the clocks of services differ.
const (
	recentDays = 7
	staleDays  = 30
	goneDays   = 90

	day = 24 * time.Hour
)

func confidenceOf(recent uint64, last, at time.Time) float64 {
	switch age := at.Sub(last); {
	case age > goneDays*day:
		return 0
	case age > staleDays*day:
		return 0.2
	}
	switch {
	case recent > 1000:
		return 0.95
	case recent >= 100:
		return 0.85
	case recent >= 10:
		return 0.7
	case recent > 0:
		return 0.5
	}
	return 0.2
}

// recent returns the range whose counts determine confidence. It includes the moment itself.
func (a *session) recent() observed.Range {
	return observed.Range{From: a.at.Add(-recentDays * day).UnixNano(), To: a.at.UnixNano() + 1}
}

// confident returns a function that gives each row of an aggregate its confidence. read reads the
// aggregate from a view for a range, and key identifies rows.
func confident[R any, K comparable](ctx context.Context, a *session, read func(context.Context, *observed.View, observed.Range, string) ([]R, error), service string, key func(*R) K, sum func(*R) *observed.Sum) (func(*R) float64, error) {
	counts := a.view.Counts()
	seen := map[K]uint64{}
	recent, err := read(ctx, counts, a.recent(), service)
	if err != nil {
		return nil, err
	}
	for i := range recent {
		seen[key(&recent[i])] += sum(&recent[i]).Count
	}
	last := map[K]int64{}
	if a.within != (observed.Range{}) {
		all, err := read(ctx, counts, observed.Range{}, service)
		if err != nil {
			return nil, err
		}
		for i := range all {
			last[key(&all[i])] = max(last[key(&all[i])], sum(&all[i]).Last)
		}
	}
	return func(r *R) float64 {
		k := key(r)
		return confidenceOf(seen[k], time.Unix(0, max(last[k], sum(r).Last)), a.at)
	}, nil
}
