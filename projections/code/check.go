package code

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/recountdb/recount/projections/prolly"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Checked counts what a check has read.
type Checked struct {
	Repositories, Commits, Snapshots int
	// Edges are those of the newest graphs, whose ends were checked.
	Edges   uint64
	Entries uint64
	Chunks  int
	Bytes   int64
	// Unused are chunks that no snapshot uses.
	Unused int
}

// Fault is an invariant that is violated.
type Fault struct {
	Repository string
	// Commit is the commit whose snapshot has the fault; empty if no single one has.
	Commit string
	// Map is the map of the snapshot that has the fault; empty if no single one has.
	Map Which
	// Chunk is the damaged chunk's hash; nil if no chunk is damaged.
	Chunk *prolly.Hash
	What  string
}

func (f Fault) String() string {
	s := f.Repository
	if f.Commit != "" {
		s += fmt.Sprintf(", commit %.12s", f.Commit)
	}
	if f.Map != "" {
		s += ", map " + string(f.Map)
	}
	return s + ": " + f.What
}

// MaxFaults is the number of faults after which a check stops.
const MaxFaults = 100

// Check verifies everything that the projection stores. Every chunk of every snapshot has the hash
// that it is stored under and the shape that package prolly specifies. The hash of every snapshot
// is that of its commit and maps. In the newest graph of each repository every edge is present in
// both directions and both its ends are nodes, its files have their facts, and its nodes their
// lines. Damage is reported once, where it is met first; Check stops after MaxFaults. progress may
// be nil; otherwise it is called for each snapshot. An error is that of ctx or of the store, and
// means that the check is incomplete.
func (v *View) Check(ctx context.Context, progress func(done, total int)) (Checked, []Fault, error) {
	c := check{ctx: ctx, v: v, progress: progress, chunks: map[schemas.TopicPartition]*checkers{}}
	err := c.all()
	for _, close := range c.closing {
		close()
	}
	for _, maps := range c.chunks {
		for _, of := range maps {
			did := of.Checked()
			c.done.Entries, c.done.Chunks, c.done.Bytes = c.done.Entries+did.Entries, c.done.Chunks+did.Chunks, c.done.Bytes+did.Bytes
		}
	}
	if errors.Is(err, errTooMany) {
		err = nil
	}
	return c.done, c.faults, err
}

var errTooMany = errors.New("too many faults")

type check struct {
	ctx      context.Context
	v        *View
	progress func(done, total int)
	total    int
	done     Checked
	faults   []Fault
	// chunks has the checkers of each partition; the repositories of a partition share chunks.
	chunks map[schemas.TopicPartition]*checkers
	// closing has the functions that close the passes of the checkers.
	closing []func()
}

// checkers has one checker per map, in the order of allMaps.
type checkers [len(allMaps)]*prolly.Checker

func (c *check) fault(f Fault) error {
	if len(c.faults) == MaxFaults {
		return errTooMany
	}
	c.faults = append(c.faults, f)
	return nil
}

func (c *check) all() error {
	repos, err := c.v.Repositories()
	if err != nil {
		return err
	}
	for _, r := range repos {
		if err := c.v.Commits(r, func(s *recountv1.CodeSnapshot) error { c.total++; return c.ctx.Err() }); err != nil {
			return err
		}
	}
	for _, r := range repos {
		if err := c.repository(r); err != nil {
			return err
		}
	}
	for tp, of := range c.chunks {
		err := c.v.Chunks(RepoID{TP: tp}, func(w Which, h prolly.Hash, _ int) error {
			if !of[w.space()-1].Has(h) {
				c.done.Unused++
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *check) repository(r RepoID) error {
	c.done.Repositories++
	if c.chunks[r.TP] == nil {
		c.chunks[r.TP] = &checkers{}
		for i, w := range allMaps {
			db, close, err := c.v.pass(r, w)
			if err != nil {
				return err
			}
			c.closing = append(c.closing, close)
			c.chunks[r.TP][i] = db.Checker()
		}
	}
	var newest *Snapshot
	one := func(s *recountv1.CodeSnapshot) error {
		c.done.Commits++
		if c.progress != nil {
			c.progress(c.done.Commits, c.total)
		}
		if s.Maps == nil {
			return nil
		}
		whole, err := c.snapshot(r, s)
		if err == nil && whole != nil && (newest == nil || schemas.PositionOf(s.Position).Offset > schemas.PositionOf(newest.Position).Offset) {
			newest = whole
		}
		return err
	}
	if err := c.v.Commits(r, one); err != nil {
		return err
	}
	tree, err := c.v.WorkingTree(r)
	if err == nil && tree != nil && tree.Maps != nil {
		_, err = c.snapshot(r, tree)
	}
	if err != nil || newest == nil {
		return err
	}
	return c.graph(newest)
}

// snapshot checks one snapshot's hash and chunks, and opens it if they are right, else returns nil.
func (c *check) snapshot(r RepoID, s *recountv1.CodeSnapshot) (*Snapshot, error) {
	c.done.Snapshots++
	fault := Fault{Repository: r.Name, Commit: s.Commit}
	roots, err := decodeRoots(s.Maps)
	if err != nil {
		fault.What = err.Error()
		return nil, c.fault(fault)
	}
	right := true
	if hash := snapshotHash(s, roots); !bytes.Equal(hash[:], s.Snapshot) {
		right = false
		fault.What = fmt.Sprintf("snapshot %x is stored, its commit and maps give %s", s.Snapshot, hash)
		if err := c.fault(fault); err != nil {
			return nil, err
		}
	}
	for i, root := range roots.all() {
		faults, err := c.chunks[r.TP][i].Check(c.ctx, *root)
		if c.ctx.Err() != nil {
			return nil, c.ctx.Err()
		}
		fault.Map = allMaps[i]
		for _, f := range faults {
			right = false
			fault.What = f.Error()
			var chunk *prolly.ChunkError
			if fault.Chunk = nil; errors.As(f, &chunk) {
				fault.Chunk = &chunk.Hash
			}
			if err := c.fault(fault); err != nil {
				return nil, err
			}
		}
		if err != nil {
			return nil, errTooMany
		}
	}
	if !right {
		return nil, nil
	}
	return c.v.open(r, s, roots), nil
}

// graph compares the two directions of the edges with each other and with the nodes, and the files
// with the facts.
func (c *check) graph(s *Snapshot) error {
	nodes, err := s.keys(c.ctx, NodesMap)
	if err != nil {
		return err
	}
	for _, d := range []struct {
		there, back Which
		between     bool // both ends are nodes of the repository
	}{{OutMap, InMap, true}, {ExternalsMap, UsersMap, false}} {
		if err := c.directions(s, d.there, d.back, d.between, nodes); err != nil {
			return err
		}
	}
	if err := c.lines(s, nodes); err != nil {
		return err
	}
	changes, err := s.Changes()
	if err != nil {
		return err
	}
	for _, f := range changes {
		if err := c.factsOf(s, f); err != nil {
			return err
		}
	}
	return nil
}

// lines checks that every path has as many lines as nodes, or none.
func (c *check) lines(s *Snapshot, nodes map[string]struct{}) error {
	has, want := map[string]int{}, map[string]int{}
	for key := range nodes {
		want[schemas.NodeKey(key).Path()]++
	}
	fault := Fault{Repository: s.Repository, Commit: s.Commit, Map: LinesMap}
	for e, err := range s.Range(LinesMap, nil, nil) {
		if err == nil {
			err = c.ctx.Err()
		}
		if err != nil {
			return err
		}
		path, _, lines, err := CutLines(e)
		if err != nil {
			fault.What = err.Error()
			if err := c.fault(fault); err != nil {
				return err
			}
			continue
		}
		has[path] += len(lines)
	}
	for _, path := range slices.Sorted(maps.Keys(has)) {
		if has[path] != want[path] {
			fault.What = fmt.Sprintf("%q has lines of %d nodes, and %d nodes", path, has[path], want[path])
			if err := c.fault(fault); err != nil {
				return err
			}
		}
	}
	return nil
}

// keys returns the keys of one map.
func (s *Snapshot) keys(ctx context.Context, w Which) (map[string]struct{}, error) {
	m, err := s.open(w)
	if err != nil {
		return nil, err
	}
	all := make(map[string]struct{}, m.Len())
	for e, err := range s.Range(w, nil, nil) {
		if err != nil {
			return nil, err
		}
		if len(all)%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		all[string(e.Key)] = struct{}{}
	}
	return all, nil
}

// directions compares a map of edges with the map in the other direction. It compares sums of
// hashes of the edges, which are equal if both have the same edges; if they differ, it compares
// edge by edge.
func (c *check) directions(s *Snapshot, there, back Which, between bool, nodes map[string]struct{}) error {
	fault := Fault{Repository: s.Repository, Commit: s.Commit, Map: there}
	tell := func(format string, args ...any) error {
		fault.What = fmt.Sprintf(format, args...)
		return c.fault(fault)
	}
	var sums [2]xxh3.Uint128
	for i, w := range []Which{there, back} {
		n := 0
		var turned []byte
		for e, err := range s.Range(w, nil, nil) {
			if err != nil {
				return err
			}
			if n++; n%1024 == 0 && c.ctx.Err() != nil {
				return c.ctx.Err()
			}
			at := bytes.IndexByte(e.Key, sep)
			if at < 0 || at+1 >= len(e.Key) {
				if err := tell("key %q is that of no edge", e.Key); err != nil {
					return err
				}
				continue
			}
			from, to := e.Key[:at], e.Key[at+2:]
			if i == 1 { // reversed, it is the edge's key in the first map
				turned = append(append(append(turned[:0], to...), e.Key[at:at+2]...), from...)
				sums[i] = sum(sums[i], xxh3.Hash128(turned))
				continue
			}
			c.done.Edges++
			sums[i] = sum(sums[i], xxh3.Hash128(e.Key))
			if _, ok := nodes[string(from)]; !ok {
				if err := tell("edge from %q to %q: no node where it begins", from, to); err != nil {
					return err
				}
			}
			if _, ok := nodes[string(to)]; between && !ok {
				if err := tell("edge from %q to %q: no node where it ends", from, to); err != nil {
					return err
				}
			}
		}
	}
	if sums[0] == sums[1] {
		return nil
	}
	for _, d := range [][2]Which{{there, back}, {back, there}} {
		other, err := s.keys(c.ctx, d[1])
		if err != nil {
			return err
		}
		mine, err := s.keys(c.ctx, d[0])
		if err != nil {
			return err
		}
		fault.Map = d[0]
		for _, key := range slices.Sorted(maps.Keys(mine)) {
			from, kind, to, ok := cutEdge([]byte(key))
			if _, both := other[string(edgeKey(to, kind, from))]; ok && !both {
				if err := tell("edge from %q to %q: not in the map %s", from, to, d[1]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func sum(a, b xxh3.Uint128) xxh3.Uint128 {
	return xxh3.Uint128{Hi: a.Hi + b.Hi, Lo: a.Lo + b.Lo}
}

// factsOf checks that the facts of a file are stored.
func (c *check) factsOf(s *Snapshot, f *recountv1.FileChange) error {
	if f.Skipped != "" {
		return nil
	}
	blob, err := hex.DecodeString(f.Blob)
	if err != nil {
		return err
	}
	language := c.v.c.opts.Language(f.Path)
	ok, err := c.v.Get(factsKey(s.repo.shard(), s.repo.Name, blob, language), func([]byte) error { return nil })
	if err == nil && !ok {
		err = c.fault(Fault{Repository: s.Repository, Commit: s.Commit, Map: FilesMap, What: fmt.Sprintf("file %q: no facts of its blob %s as %q", f.Path, f.Blob, language)})
	}
	return err
}
