package code

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/recountdb/recount/projections/graph/prolly"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Checked is what a check went over.
type Checked struct {
	Repositories, Commits, Snapshots int
	Entries                          uint64
	Chunks                           int
	Bytes                            int64
}

// Check goes over everything that the projection holds: every chunk of every
// snapshot has the hash it is stored under and is as the package prolly promises;
// every snapshot's hash is that of its commit and maps; of the newest graph of each
// repository both directions of each edge are there and both of its ends are
// nodes. What does not hold is in the error, joined; other errors end the check.
func (v *View) Check(ctx context.Context) (Checked, error) {
	var done Checked
	repos, err := v.Repositories()
	if err != nil {
		return done, err
	}
	var wrong []error
	for _, r := range repos {
		done.Repositories++
		var maps []prolly.Hash
		var newest *Snapshot
		err := v.Commits(r, func(s *recountv1.CodeSnapshot) error {
			done.Commits++
			if s.Maps == nil {
				return nil
			}
			done.Snapshots++
			roots, err := decodeRoots(s.Maps)
			if err != nil {
				return v.Damaged(err)
			}
			if hash := snapshotHash(s, roots); !bytes.Equal(hash[:], s.Snapshot) {
				wrong = append(wrong, fmt.Errorf("%s, commit %s: snapshot %x is stored, its commit and maps give %s", r.Name, s.Commit, s.Snapshot, hash))
			}
			for _, root := range roots.all() {
				maps = append(maps, *root)
			}
			if newest == nil || schemas.PositionOf(s.Position).Offset > schemas.PositionOf(newest.Position).Offset {
				newest = v.open(r, s, roots)
			}
			return nil
		})
		if err != nil {
			return done, err
		}
		checked, err := v.c.maps.On(viewed(v.View, r.shard())).Check(ctx, maps...)
		done.Entries, done.Chunks, done.Bytes = done.Entries+checked.Entries, done.Chunks+checked.Chunks, done.Bytes+checked.Bytes
		if err != nil {
			if ctx.Err() != nil {
				return done, err
			}
			wrong = append(wrong, fmt.Errorf("%s: %w", r.Name, err))
			continue
		}
		if newest != nil {
			if err := newest.checkEdges(ctx); err != nil {
				wrong = append(wrong, fmt.Errorf("%s, commit %s: %w", r.Name, newest.Commit, err))
			}
		}
	}
	return done, errors.Join(wrong...)
}

// checkEdges holds both directions of the edges against each other and against
// the nodes.
func (s *Snapshot) checkEdges(ctx context.Context) error {
	nodes, err := s.Nodes()
	if err != nil {
		return err
	}
	for _, d := range []struct {
		name          string
		there, back   func() (*prolly.Map, error)
		between       bool // nodes of the repository
		sourceIsFirst bool
	}{
		{"edge", s.Out, s.In, true, true},
		{"incoming edge", s.In, s.Out, true, false},
		{"edge to elsewhere", s.Externals, s.Users, false, true},
	} {
		there, err := d.there()
		if err != nil {
			return err
		}
		back, err := d.back()
		if err != nil {
			return err
		}
		if there.Len() != back.Len() {
			return fmt.Errorf("%d of %s, %d the other way", there.Len(), d.name, back.Len())
		}
		n := 0
		for e, err := range there.All() {
			if err != nil {
				return err
			}
			if n++; n%1024 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			from, kind, to, ok := cutEdge(e.Key)
			if !ok {
				return fmt.Errorf("%s: key %q", d.name, e.Key)
			}
			if ok, err := back.Has(edgeKey(to, kind, from)); err != nil || !ok {
				return errors.Join(err, fmt.Errorf("%s from %q to %q: not there the other way", d.name, from, to))
			}
			if !d.sourceIsFirst {
				continue
			}
			if ok, err := nodes.Has([]byte(from)); err != nil || !ok {
				return errors.Join(err, fmt.Errorf("%s from %q to %q: no node where it begins", d.name, from, to))
			}
			if ok, err := nodes.Has([]byte(to)); d.between && (err != nil || !ok) {
				return errors.Join(err, fmt.Errorf("%s from %q to %q: no node where it ends", d.name, from, to))
			}
		}
	}
	return nil
}
