package narrative

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

const (
	// Name is the name of the projection in data directories.
	Name = "graph"
	// Version is the version of the stored state. Changing it rebuilds the projection.
	Version = 3
	// depth is raised because a verb without a server that applies a command leaves a table of it: at 2,
	// every second such verb would merge them into all older data.
	depth = 8
)

// Kind registers this projection with a server.
var Kind = projections.Definition{Name: Name, Version: Version, Topics: []string{schemas.TopicCommands}, Open: func(dir string) (projections.Projection, error) {
	return Open(dir, store.Options{Depth: depth})
}}

// Graph is the open projection.
type Graph struct{ *store.DB }

// Open opens the projection in dir and creates it if needed.
func Open(dir string, o store.Options) (*Graph, error) {
	o.Name = Name
	db, err := store.Open(dir, o)
	if err != nil {
		return nil, err
	}
	return &Graph{db}, nil
}

func concerns(r *recountv1.Record) bool { return r.GetOutcome() != nil || r.GetIntent() != nil }

// Apply stores the outcomes and intents of a batch. It reads one key per batch, the clock;
// everything else that it stores is a function of the record alone, in log order.
func (g *Graph) Apply(ctx context.Context, b schemas.Batch) error {
	t, err := g.Begin(ctx, b, concerns)
	if err != nil || t == nil {
		return err
	}
	f := fold{g: g, t: t}
	if err := f.all(); err != nil {
		t.Discard()
		return err
	}
	return t.Commit()
}

// fold is the state of one Apply.
type fold struct {
	g *Graph
	t *store.Txn
	// key and value are reused buffers: the transaction copies its arguments.
	key, value []byte
	clock      clock
	err        error
}

func (f *fold) all() error {
	clockKey := append([]byte{kindClock}, f.t.Shard()...)
	if err := f.t.Do(func() error {
		value, ok, err := f.t.Get(clockKey)
		if ok && err == nil {
			if f.clock, err = decodeClock(value); err != nil {
				err = f.g.Damaged(err)
			}
		}
		return err
	}); err != nil {
		return err
	}
	before := f.clock
	for _, r := range f.t.New {
		var err error
		if o := r.GetOutcome(); o != nil {
			err = f.outcome(r, o)
		} else {
			err = f.intent(r, r.GetIntent())
		}
		if err != nil {
			return projections.Poison(schemas.PositionOf(r.Origin), "%w", err)
		}
	}
	if f.clock != before {
		f.set(clockKey, appendClock(f.value[:0], f.clock))
	}
	if f.err != nil {
		return fmt.Errorf("set: %w", f.err)
	}
	return nil
}

func (f *fold) set(key, value []byte) {
	if err := f.t.Set(key, value); err != nil && f.err == nil {
		f.err = err
	}
}

func (f *fold) outcome(r *recountv1.Record, o *recountv1.Outcome) error {
	id, err := schemas.EventIDFromBytes(o.IntentId)
	if err != nil {
		return fmt.Errorf("intent's %w", err)
	}
	f.key = appendOutcomeKey(f.key[:0], id, o.ObservedUnixNano, f.t.Shard(), r.Origin.Offset)
	f.value = appendOutcome(f.value[:0], r.EventId, o)
	f.set(f.key, f.value)
	return nil
}

func (f *fold) intent(r *recountv1.Record, in *recountv1.Intent) error {
	if len(in.ParentId) > 0 {
		if _, err := schemas.EventIDFromBytes(in.ParentId); err != nil {
			return fmt.Errorf("parent's %w", err)
		}
	}
	offset := r.Origin.Offset
	f.clock = f.clock.tick(in.TimeUnixNano)

	n := Node{
		session:  sessionList(in.Session, in.Host, in.User, in.Workspace),
		Template: hashOf(in.Template), Content: in.ContentHash,
	}
	if in.Host != "" {
		n.host = hashOf(in.Host)
	}
	if in.GitHead != "" {
		n.GitHead = hashOf(in.GitHead)
	}
	if in.StatedIntent != "" {
		n.StatedIntent = hashOf(in.StatedIntent)
	}
	n.Programs = in.Programs[:min(len(in.Programs), maxPrograms)]
	var aim goal
	n.Effects, n.Resources, aim = understand(in)
	n.Goal, n.Act = aim.kind, aim.act
	if aim.dir == "" && in.Cwd != "" {
		n.Dir = unknownDir
	} else if aim.dir != in.Cwd {
		n.Dir = aim.dir
	}
	if in.OutputTail != "" && in.GetExitCode() != 0 || in.ExitCode == nil {
		n.mentioned = mentions(in.OutputTail)
	}
	f.key = nodeKey(f.key[:0], f.t.Shard(), offset)
	f.value = appendNode(f.value[:0], r.EventId, in, f.clock.now, &n)
	f.set(f.key, f.value)

	effects := binary.AppendUvarint(f.value[:0], uint64(n.Effects))
	f.list(kindSession, n.session, offset, effects)
	if n.Effects&Changes != 0 {
		f.list(kindWorkspace, hashOf(in.Workspace), offset, effects)
	}
	f.list(kindGoal, goalList(in.Workspace, n.Goal), offset, nil)
	if len(in.ParentId) > 0 {
		f.key = binary.BigEndian.AppendUint64(childPrefix(f.key[:0], in.ParentId, f.t.Shard()), uint64(offset))
		f.set(f.key, nil)
	}
	f.resources(in.Workspace, offset, n.Resources)
	return nil
}

// resources adds an intent to the lists of the resources it reads and writes, and of the
// directories above those it writes.
func (f *fold) resources(workspace string, offset int64, rs []Resource) {
	var dirs []uint64
	for _, r := range rs {
		list := resourceList(r, workspace)
		if r.Access&Read != 0 {
			f.list(kindRead, list, offset, nil)
		}
		if r.Access&Write == 0 {
			continue
		}
		f.list(kindWrite, list, offset, nil)
		if r.Kind != recountv1.ResourceKind_RESOURCE_KIND_PATH || r.Access&Implied != 0 {
			continue
		}
		for dir := range above(r.Name, workspace) {
			dirs = append(dirs, resourceList(Resource{Kind: r.Kind, Name: dir}, workspace))
		}
	}
	for _, dir := range dirs {
		f.list(kindBelow, dir, offset, nil)
	}
}

func (f *fold) list(kind byte, list uint64, offset int64, value []byte) {
	f.key = binary.BigEndian.AppendUint64(listPrefix(f.key[:0], kind, f.t.Shard(), list), uint64(offset))
	f.set(f.key, value)
}
