package code

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/prolly"
	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// fold applies one step of a batch: the contents of files, then at most one commit.
type fold struct {
	c *Code
	t *store.Txn
	// pending has the values that the step has set so far, for its own reads.
	pending map[string][]byte
	// touched are the repositories whose cache may be ahead of the stored state.
	touched []string
}

func (f *fold) all(ctx context.Context) error {
	for _, r := range f.t.New {
		err := f.one(ctx, r)
		if err == nil {
			continue
		}
		f.forget()
		var bad *badRecord
		if errors.As(err, &bad) {
			return projections.Poison(schemas.PositionOf(r.Origin), "%w", bad.error)
		}
		return err
	}
	return nil
}

// forget drops the caches of the touched repositories.
func (f *fold) forget() {
	for _, key := range f.touched {
		f.c.forget(key)
	}
}

// badRecord is the error of a record that can never be applied.
type badRecord struct{ error }

func (e *badRecord) Unwrap() error { return e.error }

func badf(format string, args ...any) error { return &badRecord{fmt.Errorf(format, args...)} }

func (f *fold) one(ctx context.Context, r *recountv1.Record) error {
	switch body := r.Body.(type) {
	case *recountv1.Record_FileFacts:
		return f.facts(r, body.FileFacts)
	case *recountv1.Record_RefMoved:
		return f.ref(r, body.RefMoved)
	case *recountv1.Record_Commit:
		return f.commit(ctx, r, body.Commit)
	case *recountv1.Record_SnapshotsRetired:
		return f.t.Do(func() error { return f.retire(ctx, r, body.SnapshotsRetired) })
	}
	return nil
}

func (f *fold) get(key []byte) (value []byte, ok bool, err error) {
	if value, ok := f.pending[string(key)]; ok {
		return value, value != nil, nil
	}
	err = f.t.Do(func() (err error) {
		value, ok, err = f.t.Get(key)
		return err
	})
	return value, ok, err
}

func (f *fold) set(key, value []byte) error {
	f.pending[string(key)] = value
	return f.t.Set(key, value)
}

func (f *fold) delete(key []byte) error {
	f.pending[string(key)] = nil
	return f.t.Delete(key)
}

// facts stores the facts of a file once per blob and language; the first event counts. Commits look
// them up by the language of a path, snapshots by the language detected from the content: a
// manifest in YAML has two.
func (f *fold) facts(r *recountv1.Record, facts *recountv1.FileFacts) error {
	blob, err := objectID(facts.Blob)
	if err != nil {
		return &badRecord{err}
	}
	s := &recountv1.StoredFacts{Facts: facts, Position: r.Origin, EventId: r.EventId}
	var encoded []byte
	size := 0
	for _, language := range slices.Compact([]string{f.c.opts.Language(facts.Path), facts.Language}) {
		key := factsKey(f.t.Shard(), facts.Repository, blob, language)
		if _, known, err := f.get(key); err != nil {
			return err
		} else if known {
			continue
		}
		if encoded == nil {
			if encoded, size, err = encodeFacts(s); err != nil {
				s.Facts = validText(facts)
				encoded, size, err = encodeFacts(s)
			}
			if err != nil {
				return err
			}
		}
		f.memory(facts.Repository).facts.add(factsID{string(blob), language}, s, size)
		if err := f.set(key, encoded); err != nil {
			return err
		}
	}
	return nil
}

func (f *fold) ref(r *recountv1.Record, m *recountv1.RefMoved) error {
	key := refKey(f.t.Shard(), m.Repository, m.Ref)
	if m.NewCommit == "" && m.Target == "" {
		return f.delete(key)
	}
	value, err := marshal(&recountv1.CodeRef{Commit: m.NewCommit, Target: m.Target, MovedAt: m.MovedAt, Position: r.Origin})
	if err != nil {
		return err
	}
	return f.set(key, value)
}

// memory returns the cache of a repository of this partition.
func (f *fold) memory(repo string) *repository {
	key := string(f.t.Shard()) + repo
	if !slices.Contains(f.touched, key) {
		f.touched = append(f.touched, key)
	}
	return f.c.repositoryOf(key)
}

// commit stores a commit once all of its parts have arrived. A repetition of the commit changes
// nothing, unless it brings the graph that was missing.
func (f *fold) commit(ctx context.Context, r *recountv1.Record, m *recountv1.CommitRecorded) error {
	id, err := objectID(m.Commit)
	if err != nil {
		return &badRecord{err}
	}
	if m, err = f.whole(id, m); err != nil || m == nil {
		return err
	}
	key := commitKey(f.t.Shard(), m.Repository, id)
	if m.WorkingTree {
		key = about(f.t.Shard(), m.Repository, aboutWorking)
	}
	before, err := f.snapshot(key)
	if err != nil {
		return err
	}
	if before != nil && !m.WorkingTree && (before.Maps != nil || m.Scope == recountv1.Scope_SCOPE_METADATA) {
		return nil
	}
	s := &recountv1.CodeSnapshot{
		Repository: m.Repository, Commit: m.Commit, Parents: m.Parents, Tree: m.Tree,
		Author: m.Author, Committer: m.Committer, Message: m.Message,
		Scope: m.Scope, WorkingTree: m.WorkingTree, Position: r.Origin, EventId: r.EventId,
		ChangedCount: uint32(len(m.Changes)),
	}
	for _, c := range m.Changes {
		if len(s.Changed) < maxChanged {
			s.Changed = append(s.Changed, c.Path)
		}
	}
	slices.Sort(s.Changed)
	if m.Scope == recountv1.Scope_SCOPE_METADATA {
		s.WithoutGraph = "the content of its files is not on the log"
	} else if err := f.build(ctx, m, s); err != nil {
		return err
	}
	value, err := marshal(s)
	if err != nil {
		return err
	}
	if !m.WorkingTree {
		for _, issue := range schemas.IssuesNamed(m.Message, schemas.RepositoryOf(m.Repository)) {
			if err := f.set(append(issueKey(f.t.Shard(), m.Repository, issue), id...), []byte{}); err != nil {
				return err
			}
		}
	}
	return f.set(key, value)
}

// build builds the snapshot's maps and stores their chunks.
func (f *fold) build(ctx context.Context, m *recountv1.CommitRecorded, s *recountv1.CodeSnapshot) error {
	b := builder{
		fold: f, repo: m.Repository, memory: f.memory(m.Repository),
		staged: prolly.NewStaged(stored(f.t)),
	}
	b.maps = f.c.maps.On(b.staged)
	if err := f.t.Do(func() error { return b.build(ctx, m, s) }); err != nil {
		return err
	}
	if err := stored(f.t).Put(b.staged.Chunks()); err != nil {
		return err
	}
	return nil
}

// maxChanged is the maximum number of changed paths that a commit's snapshot lists.
const maxChanged = 1000

func (f *fold) snapshot(key []byte) (*recountv1.CodeSnapshot, error) {
	value, ok, err := f.get(key)
	if err != nil || !ok {
		return nil, err
	}
	s := &recountv1.CodeSnapshot{}
	if err := proto.Unmarshal(value, s); err != nil {
		return nil, f.c.Damaged(err)
	}
	return s, nil
}

// parent returns the snapshot of a commit, or nil if it is not known.
func (f *fold) parent(repo, commit string) (*recountv1.CodeSnapshot, error) {
	id, err := hex.DecodeString(commit)
	if err != nil {
		return nil, nil
	}
	return f.snapshot(commitKey(f.t.Shard(), repo, id))
}

// whole returns the commit with the changes of all its parts, or nil while some are missing. Parts
// wait in the store and are removed with the last one. Parts of the same commit sent with another
// scope or number of parts are kept apart.
func (f *fold) whole(id []byte, m *recountv1.CommitRecorded) (*recountv1.CommitRecorded, error) {
	if m.Parts <= 1 {
		return m, nil
	}
	if m.Parts > schemas.MaxCommitParts {
		return nil, badf("a commit of %d parts: at most %d are taken", m.Parts, schemas.MaxCommitParts)
	}
	key := func(part int32) []byte { return partKey(f.t.Shard(), m, id, part) }
	values := make([][]byte, m.Parts)
	// The loop runs from the end, because the last part normally arrives last: until then one
	// lookup is enough.
	for i := m.Parts - 1; i >= 0; i-- {
		if i == m.Part {
			continue
		}
		value, ok, err := f.get(key(i))
		if err != nil {
			return nil, err
		}
		if !ok {
			value, err := marshal(m)
			if err != nil {
				return nil, err
			}
			return nil, f.set(key(m.Part), value)
		}
		values[i] = value
	}
	all := proto.CloneOf(m)
	all.Changes = nil
	for i, value := range values {
		part := m
		if int32(i) != m.Part {
			part = &recountv1.CommitRecorded{}
			if err := proto.Unmarshal(value, part); err != nil {
				return nil, f.c.Damaged(err)
			}
		}
		all.Changes = append(all.Changes, part.Changes...)
		if err := f.delete(key(int32(i))); err != nil {
			return nil, err
		}
	}
	return all, nil
}
