package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime/pprof"
	"slices"
	"time"

	snapshots "github.com/recountdb/recount/projections/code"
	"github.com/recountdb/recount/projections/prolly"
	"github.com/recountdb/recount/query/code"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// look measures an existing projection: the size of its snapshots' chunks, and the time of the
// first query to old snapshots.
func look(ctx context.Context, dir string, asked int, profile string) error {
	set, graph, err := open(dir)
	if err != nil {
		return err
	}
	all, err := byPosition(graph)
	if err == nil {
		err = storage(ctx, graph, all)
	}
	if err = errors.Join(err, set.Close()); err != nil {
		return err
	}
	if profile != "" {
		f, err := os.Create(profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	if err := questions(ctx, dir, all, asked); err != nil {
		return err
	}
	return wander(ctx, dir, all, asked)
}

// byPosition returns the commits with a graph, in the order of their events.
func byPosition(graph *snapshots.Code) (all []*recountv1.CodeSnapshot, err error) {
	v, err := graph.View()
	if err != nil {
		return nil, err
	}
	defer v.Close()
	repo, err := v.Repository(name)
	if err != nil {
		return nil, err
	}
	err = v.Commits(repo, func(s *recountv1.CodeSnapshot) error {
		if s.Maps != nil {
			all = append(all, s)
		}
		return nil
	})
	slices.SortFunc(all, func(a, b *recountv1.CodeSnapshot) int {
		return cmp.Compare(a.Position.Offset, b.Position.Offset)
	})
	return all, err
}

// maps lists the maps of a snapshot by name.
var maps = []struct {
	name string
	of   func(*snapshots.Snapshot) (*prolly.Map, error)
}{
	{"files", (*snapshots.Snapshot).Files},
	{"nodes", (*snapshots.Snapshot).Nodes},
	{"out", (*snapshots.Snapshot).Out},
	{"in", (*snapshots.Snapshot).In},
	{"externals", (*snapshots.Snapshot).Externals},
	{"users", (*snapshots.Snapshot).Users},
	{"unresolved", (*snapshots.Snapshot).Unresolved},
	{"lines", (*snapshots.Snapshot).Lines},
}

// taken is the size of some chunks: entries, number, bytes, and bytes of the first and last
// snapshot.
type taken struct{ entries, chunks, bytes, first, last int64 }

// storage prints the size of each map's chunks before compression, in the first snapshot, in the
// last and in all, and the size of all chunks on disk.
func storage(ctx context.Context, graph *snapshots.Code, all []*recountv1.CodeSnapshot) error {
	v, err := graph.View()
	if err != nil {
		return err
	}
	defer v.Close()
	repo, err := v.Repository(name)
	if err != nil {
		return err
	}
	chunks := map[snapshots.Which]map[prolly.Hash]int64{}
	err = v.Chunks(repo, func(w snapshots.Which, h prolly.Hash, stored int) error {
		if chunks[w] == nil {
			chunks[w] = map[prolly.Hash]int64{}
		}
		chunks[w][h] = int64(stored)
		return nil
	})
	if err != nil {
		return err
	}
	var sum taken
	fmt.Printf("| map | entries of the last | chunks of all | KiB of the first | of the last | of all | times the last |\n|---|---|---|---|---|---|---|\n")
	row := func(name string, t taken) {
		fmt.Printf("| %s | %d | %d | %d | %d | %d | %.2f |\n", name, t.entries, t.chunks, t.first>>10, t.last>>10, t.bytes>>10, float64(t.bytes)/float64(t.last))
	}
	for _, m := range maps {
		var t taken
		which := snapshots.Which(m.name)
		db := v.Maps(repo, which)
		every := db.Marks()
		for i, c := range all {
			s, err := v.Open(c)
			if err != nil {
				return err
			}
			of, err := m.of(s)
			if err != nil {
				return err
			}
			if err := every.Add(ctx, of.Root()); err != nil {
				return err
			}
			if i > 0 && i < len(all)-1 {
				continue
			}
			alone := db.Marks()
			if err := alone.Add(ctx, of.Root()); err != nil {
				return err
			}
			one := int64(0)
			for h, size := range chunks[which] {
				if alone.Has(h) {
					one += size
				}
			}
			if i == 0 {
				t.first = one
			}
			t.last, t.entries = one, int64(of.Len())
		}
		for h, size := range chunks[which] {
			if every.Has(h) {
				t.chunks, t.bytes = t.chunks+1, t.bytes+size
			}
		}
		row(m.name, t)
		sum = taken{sum.entries + t.entries, sum.chunks + t.chunks, sum.bytes + t.bytes, sum.first + t.first, sum.last + t.last}
	}
	row("all", sum)
	disk, err := graph.ChunkBytes()
	if err != nil {
		return err
	}
	fmt.Printf("%d snapshots, whose chunks take %d KiB on disk\n", len(all), disk>>10)
	return nil
}

// questions measures queries to old snapshots, each in a node that was just opened and has answered
// one query to HEAD: callers or impact, then impact again.
func questions(ctx context.Context, dir string, all []*recountv1.CodeSnapshot, asked int) error {
	var head, callers, impact, again, used []time.Duration
	timed := func(to *[]time.Duration, do func() error) error {
		began := time.Now()
		err := do()
		*to = append(*to, time.Since(began))
		return err
	}
	for i := range asked {
		old := all[i*(len(all)-1)/asked]
		set, _, err := open(dir)
		if err != nil {
			return err
		}
		s := code.Sources{Set: set, Graphs: code.NewCache(0)}
		ask := func(at string) func() error {
			return func() error {
				_, err := code.Callers(ctx, s, code.CallsRequest{Scope: code.Scope{At: at}, Symbol: symbol, Depth: 3})
				return err
			}
		}
		reach := func() error {
			_, err := code.Impact(ctx, s, code.ImpactRequest{Scope: code.Scope{At: old.Commit}, Symbol: symbol})
			return err
		}
		first := &callers
		if i%2 == 1 {
			first = &impact
		}
		err = timed(&head, ask(all[len(all)-1].Commit))
		before := cpu()
		if err == nil && first == &impact {
			err = timed(&impact, reach)
		} else if err == nil {
			err = timed(&callers, ask(old.Commit))
		}
		used = append(used, cpu()-before)
		if err == nil {
			err = timed(&again, reach)
		}
		if err = errors.Join(err, set.Close()); err != nil {
			return err
		}
	}
	fmt.Printf("first question of all, to the last snapshot: %s\n", spread(head))
	fmt.Printf("then the first to an old one: callers, depth 3: %s\n", spread(callers))
	fmt.Printf("… or impact: %s\n", spread(impact))
	fmt.Printf("… user CPU of these first ones: %s\n", spread(used))
	fmt.Printf("impact again: %s\n", spread(again))
	return nil
}

// wander measures the first query to each of a number of old snapshots, in random order, in one
// node that stays open.
func wander(ctx context.Context, dir string, all []*recountv1.CodeSnapshot, asked int) error {
	set, _, err := open(dir)
	if err != nil {
		return err
	}
	s := code.Sources{Set: set, Graphs: code.NewCache(0)}
	rng := rand.New(rand.NewPCG(1, 1))
	var took [2][]time.Duration
	for i, n := range rng.Perm(len(all) - 1)[:min(asked, len(all)-1)] {
		sc := code.Scope{At: all[n].Commit}
		began := time.Now()
		if i%2 == 0 {
			_, err = code.Callers(ctx, s, code.CallsRequest{Scope: sc, Symbol: symbol, Depth: 3})
		} else {
			_, err = code.Impact(ctx, s, code.ImpactRequest{Scope: sc, Symbol: symbol})
		}
		if err != nil {
			return errors.Join(err, set.Close())
		}
		took[i%2] = append(took[i%2], time.Since(began))
	}
	fmt.Printf("one node asked of old ones in no order, of each for the first time: callers, depth 3: %s\n", spread(took[0]))
	fmt.Printf("… or impact: %s\n", spread(took[1]))
	return set.Close()
}

// symbol is the subject of the queries. Every snapshot of the measured history has it.
const symbol = "kgo.Client.Produce"

func spread(all []time.Duration) string {
	slices.Sort(all)
	if len(all) == 0 {
		return "not asked"
	}
	ms := func(d time.Duration) string { return fmt.Sprintf("%.1f", float64(d.Microseconds())/1000) }
	return fmt.Sprintf("p50 %s ms, least %s, most %s", ms(all[len(all)/2]), ms(all[0]), ms(all[len(all)-1]))
}
