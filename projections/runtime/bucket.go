package runtime

import (
	"math"
	"time"
)

// levels are the lengths of the time buckets in which sums are kept. A range is answered from few
// long buckets in its middle and short ones at its ends.
var levels = [...]int64{int64(time.Minute), int64(10 * time.Minute), int64(time.Hour), int64(24 * time.Hour)}

// bucketOf returns the number of the bucket of a level that contains t. Bucket 0 begins in 1970.
func bucketOf(level int, t int64) int32 { return int32(floorDiv(t, levels[level])) }

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// coarser returns the bucket of a level that contains a minute.
func coarser(minute int32, level int) int32 {
	return int32(floorDiv(int64(minute), levels[level]/levels[0]))
}

// run is a range of buckets of one level, both ends included.
type run struct {
	level    uint8
	from, to int32
}

// within clips a range to the days of the first and the last span. The result contains the same
// spans in fewer rows.
func (r Range) within(seen times) Range {
	day := levels[len(levels)-1]
	if r.From >= r.To || seen.first < math.MinInt64+day || seen.last > math.MaxInt64-day {
		return r
	}
	if r.From <= seen.first {
		r.From = floorDiv(seen.first, day) * day
	}
	if r.To > seen.last {
		r.To = (floorDiv(seen.last, day) + 1) * day
	}
	return r
}

// cover returns the minimum number of runs of buckets that cover the range, widened to minutes,
// without overlap.
func cover(r Range) []run {
	if r == (Range{}) {
		return []run{{uint8(len(levels) - 1), math.MinInt32, math.MaxInt32}}
	}
	if r.From >= r.To {
		return nil
	}
	return coverLevel(0, floorDiv(r.From, levels[0]), floorDiv(r.To-1, levels[0]))
}

// coverLevel covers buckets of a level, both ends included, with those and longer ones.
func coverLevel(level int, from, to int64) []run {
	here := func(from, to int64) run { return run{uint8(level), int32(from), int32(to)} }
	if level == len(levels)-1 {
		return []run{here(from, to)}
	}
	times := levels[level+1] / levels[level]
	// first to last are the longer buckets that are completely in the range.
	first, last := -floorDiv(-from, times), floorDiv(to+1, times)-1
	if first > last {
		return []run{here(from, to)}
	}
	var runs []run
	if from < first*times {
		runs = append(runs, here(from, first*times-1))
	}
	runs = append(runs, coverLevel(level+1, first, last)...)
	if to >= (last+1)*times {
		runs = append(runs, here((last+1)*times, to))
	}
	return runs
}
