package segment

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/sealed"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// tailName is the file with the checkpoint of a shard's unsealed rows.
const tailName = "tail.tbf"

// segmentName returns the file name of the sealed segment with a sequence number.
func segmentName(seq int) string { return fmt.Sprintf("%08d.tbf", seq) }

// shard is the state of one partition: sealed files and the hot buffer.
type shard struct {
	tp     schemas.TopicPartition
	folder sealed.Folder // guarded by write
	opts   *Options

	// write is held while rows are appended, sealed or saved. It guards the fields below.
	write sync.Mutex
	files []*file // sealed, oldest first
	hot   *hot
	// tail is the checkpoint that was there when the shard was opened, or nil. While frozen is true, its
	// rows are read in place, like those of a sealed file, and the hot buffer has only what came after
	// it: the records of recent. So a process that adds a few rows does not copy the others.
	tail   *file
	frozen bool
	recent []*recountv1.Record
	saved  int64 // the value of Next that is durable on disk; -1 if none is
	kept   int   // the unsealed rows that the checkpoint on disk has
	since  int   // rows since the last checkpoint

	// mu makes the view, and with it what readers see, change in one step. It is locked after write
	// and held for a copy only, never during I/O.
	mu   sync.RWMutex
	view view

	order hotOrder
}

// view is a state of the shard. A copy of it does not change, except for ids, which is read only
// under the shard's mu.
type view struct {
	files  []*file // sealed, oldest first, and a frozen checkpoint
	sealed int     // how many of files are sealed
	hot    columns
	base   int64 // the offset at which the hot rows begin
	next   int64
	// ordered is true if the hot rows are in order of time.
	ordered bool
	ids     hotIDs // hot rows by id; those from hot.n on are not yet visible
}

func newShard(tp schemas.TopicPartition, dir string, opts *Options) *shard {
	s := &shard{tp: tp, folder: sealed.Folder{Dir: dir, Disk: opts.disk}, opts: opts, hot: newHot(0), saved: -1}
	s.publish(0)
	return s
}

func (s *shard) snapshot() view {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.view
}

// publish makes the current state of the shard visible to readers.
func (s *shard) publish(next int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	files := s.files
	if s.frozen {
		files = append(slices.Clip(files), s.tail)
	}
	s.view = view{files: files, sealed: len(s.files), hot: s.hot.columns, base: s.hot.base, next: next, ordered: s.hot.ordered, ids: s.hot.ids}
}

// load reads the shard's folder.
func (s *shard) load() error {
	entries, err := os.ReadDir(s.folder.Dir)
	if err != nil {
		return err
	}
	s.folder.Made = true
	var names []string
	for _, e := range entries {
		switch name := e.Name(); {
		case strings.HasSuffix(name, sealed.TempSuffix):
			// A crash left this file before its rename.
			if err := s.folder.Remove(name); err != nil {
				s.opts.Logger.Warn("segment: leftover not removed", "projection", Name, "position", s.tp.String(), "err", err)
			}
		case name != tailName && strings.HasSuffix(name, ".tbf"):
			names = append(names, name)
		}
	}
	next := int64(0)
	for i, name := range names { // ReadDir sorts
		f, err := s.open(name, i, next)
		if f != nil {
			s.files = append(s.files, f)
		}
		if err != nil {
			return err
		}
		next, s.saved = f.h.Next, f.h.Next
	}
	s.hot = newHot(next)
	if f := s.loadTail(len(s.files), next); f != nil {
		next = f.h.Next
		s.hot, s.tail, s.frozen = newHot(next), f, true
		s.saved, s.kept = next, f.cols.n
	}
	s.publish(next)
	return nil
}

// open opens a sealed file, which must be the shard's i-th and start at base.
func (s *shard) open(name string, i int, base int64) (*file, error) {
	path := filepath.Join(s.folder.Dir, name)
	if name != segmentName(i) {
		return nil, corrupt(filepath.Join(s.folder.Dir, segmentName(i)), "file", 0, 0, "missing, yet there is %s", name)
	}
	f, err := openFile(path, s.tp)
	if err != nil {
		return nil, err
	}
	if f.h.Flags&schemas.TBFSealed == 0 || f.h.Sequence != uint64(i) || f.h.Base != base {
		return f, corrupt(path, "header", 0, schemas.TBFHeaderSize,
			"flags %d, sequence %d, base %d: want a sealed segment %d from %d", f.h.Flags, f.h.Sequence, f.h.Base, i, base)
	}
	return f, nil
}

// loadTail opens the checkpoint if it continues exactly what is sealed and every region of it is
// intact. Otherwise it is ignored: the rows are still in the log.
func (s *shard) loadTail(seq int, base int64) *file {
	path := filepath.Join(s.folder.Dir, tailName)
	f, err := openFile(path, s.tp)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		if _, _, err = f.rows(); err == nil {
			err = f.vectors()
		}
		switch {
		case err != nil:
		case f.h.Flags&schemas.TBFSealed != 0 || f.h.Sequence != uint64(seq) || f.h.Base != base:
			err = fmt.Errorf("%s: continues segment %d from %d, not %d from %d", path, f.h.Sequence, f.h.Base, seq, base)
		case f.h.DType != schemas.TBFPacked:
			err = fmt.Errorf("%s: it is of an older version", path)
		case s.full(f.cols.n, f.h.RowBytes):
			err = fmt.Errorf("%s: it has %d rows, which would be sealed", path, f.cols.n)
		default:
			return f
		}
		_ = f.close()
	}
	s.opts.Logger.Info("segment: checkpoint not used, reading the rows from the log again", "projection", Name, "position", s.tp.String(), "err", err)
	return nil
}

// full reports whether a segment must be sealed. It depends on the rows alone.
func (s *shard) full(rows int, bytes uint64) bool {
	return rows >= s.opts.SealRows || bytes >= uint64(s.opts.SealBytes)
}

func (s *shard) apply(ctx context.Context, b schemas.Batch) error {
	s.write.Lock()
	defer s.write.Unlock()
	next := s.view.next // only the holder of write changes it
	if b.Next <= next {
		return nil
	}
	if err := checkBatch(b, next); err != nil {
		return err
	}
	err := s.appendAll(ctx, b, &next)
	if err == nil {
		next = b.Next
	}
	s.publish(next)
	if err == nil && s.opts.CheckpointRows > 0 && s.since >= s.opts.CheckpointRows && !s.opts.paused.Load() {
		s.since = 0
		if err := s.save(false); err != nil {
			s.opts.Logger.Warn("segment: checkpoint not written", "projection", Name, "position", s.tp.String(), "err", err)
		}
	}
	return err
}

// appendAll appends the batch's new intents and keeps next after the last.
func (s *shard) appendAll(ctx context.Context, b schemas.Batch, next *int64) error {
	if err := s.sealIfFull(); err != nil {
		return err // an earlier attempt to seal failed, and this one too
	}
	for i, r := range b.Records {
		if i&255 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		in := r.GetIntent()
		if in == nil || r.Origin.Offset < *next {
			continue
		}
		known, err := s.known(schemas.EventID(r.EventId))
		if err != nil {
			return fmt.Errorf("apply segment at %s: %w", schemas.PositionOf(r.Origin), err)
		}
		if known {
			continue
		}
		s.hot.append(r, in)
		s.since++
		s.mu.Lock()
		s.hot.ids.added[schemas.EventID(r.EventId)] = int32(s.hot.n - 1)
		s.mu.Unlock()
		if s.frozen {
			if s.recent = append(s.recent, r); len(s.recent) == fewRows {
				s.thaw()
			}
		}
		*next = r.Origin.Offset + 1
		if err := s.sealIfFull(); err != nil {
			return err
		}
	}
	return nil
}

// known reports whether the shard has the event already.
func (s *shard) known(id schemas.EventID) (bool, error) {
	if s.hot.ids.find(s.hot.id, id) >= 0 {
		return true, nil
	}
	for _, f := range slices.Backward(s.files) {
		row, err := f.find(id)
		if err != nil || row >= 0 {
			return row >= 0, err
		}
	}
	if s.frozen {
		row, err := s.tail.find(id)
		return row >= 0, err
	}
	return false, nil
}

// thaw moves the rows of a frozen checkpoint into the hot buffer: a segment and another checkpoint are
// made of one buffer.
func (s *shard) thaw() {
	if !s.frozen {
		return
	}
	h := restore(s.tail)
	for _, r := range s.recent {
		h.append(r, r.GetIntent())
		h.ids.added[schemas.EventID(r.EventId)] = int32(h.n - 1)
	}
	s.hot, s.frozen, s.recent = h, false, nil
}

// unsealed returns the number of rows that are not in a sealed file, and what they count for sealing
// by size.
func (s *shard) unsealed() (rows int, bytes uint64) {
	if s.frozen {
		return s.tail.cols.n + s.hot.n, s.tail.h.RowBytes + s.hot.bytes
	}
	return s.hot.n, s.hot.bytes
}

// find returns the row of an id, -1 if it is not in the file.
func (f *file) find(id schemas.EventID) (int, error) {
	bloom, err := f.bloom()
	if err != nil || !sealed.BloomHas(bloom, id) {
		return -1, err
	}
	c, x, err := f.rows()
	if err != nil {
		return -1, err
	}
	return sealed.FindID(c.id, x.idOrder, id), nil
}

func (s *shard) sealIfFull() error {
	if !s.full(s.unsealed()) {
		return nil
	}
	s.thaw()
	if err := s.seal(); err != nil {
		return fmt.Errorf("seal segment %d of %s: %w", len(s.files), s.tp, err)
	}
	return nil
}

// seal writes the hot buffer as a sealed file; the caller publishes it. Until it returns nil
// nothing has changed, except perhaps a file on disk that the next attempt replaces with the same
// bytes or the next Open loads as the sealed segment that it is.
func (s *shard) seal() error {
	if err := s.folder.Make(); err != nil {
		return err
	}
	name := segmentName(len(s.files))
	next := s.hot.offset[s.hot.n-1] + 1
	x := buildIndex(&s.hot.columns, s.tp.Topic)
	if err := storeTBF(s.opts.disk, s.folder.Dir, name, true, s.header(schemas.TBFSealed, next), &s.hot.columns, x); err != nil {
		return err
	}
	f, err := openFile(filepath.Join(s.folder.Dir, name), s.tp)
	if err != nil {
		return err
	}
	s.files = append(slices.Clip(s.files), f) // readers keep the old slice
	s.hot, s.since, s.saved, s.kept = newHot(next), 0, next, 0
	// The rows of the checkpoint are sealed now. If it cannot be removed, it is ignored.
	if err := s.folder.Remove(tailName); err != nil {
		s.opts.Logger.Warn("segment: old checkpoint not removed", "projection", Name, "position", s.tp.String(), "err", err)
	}
	return nil
}

func (s *shard) header(flags uint16, next int64) schemas.TBFHeader {
	return schemas.TBFHeader{
		Sequence: uint64(len(s.files)), Partition: s.tp.Partition, Flags: flags,
		Base: s.hot.base, Next: next, RowBytes: s.hot.bytes,
	}
}

// fewRows is the number of new rows for which Close does not write a checkpoint again: the next Open
// reads so few from the log sooner.
const fewRows = 32

// flush saves the unsealed rows durably, unless a checkpoint lacks fewer than few of them.
func (s *shard) flush(few int) error {
	s.write.Lock()
	defer s.write.Unlock()
	// A full buffer must become a segment: a checkpoint of it would be a state that no log leads
	// to.
	err := s.sealIfFull()
	s.publish(s.view.next)
	if rows, _ := s.unsealed(); err != nil || s.kept > 0 && rows-s.kept < few {
		return err
	}
	return s.save(true)
}

// save writes the checkpoint, unless the one on disk is of the same state.
func (s *shard) save(durable bool) error {
	next := s.view.next
	if s.saved == next {
		return nil
	}
	if err := s.folder.Make(); err != nil {
		return err
	}
	s.thaw()
	err := storeTBF(s.opts.disk, s.folder.Dir, tailName, durable, s.header(0, next), &s.hot.columns, buildIndex(&s.hot.columns, s.tp.Topic))
	if err == nil && durable {
		s.saved, s.kept = next, s.hot.n
	}
	return err
}

// checkBatch rejects a batch that cannot be applied before any of it is.
func checkBatch(b schemas.Batch, next int64) error {
	last := int64(-1)
	for _, r := range b.Records {
		at := schemas.PositionOf(r.GetOrigin())
		if at.TP() != b.TP() || at.Offset <= last || at.Offset >= b.Next {
			return schemas.Fatalf("segment: record %s in a batch of %s up to %d, after offset %d", at, b.TP(), b.Next, last)
		}
		last = at.Offset
		in := r.GetIntent()
		if in == nil || at.Offset < next {
			continue
		}
		if err := checkIntent(r, in); err != nil {
			return projections.Poison(at, "%w", err)
		}
	}
	return nil
}

func checkIntent(r *recountv1.Record, in *recountv1.Intent) error {
	if id, err := schemas.EventIDFromBytes(r.EventId); err != nil || id.IsZero() {
		return fmt.Errorf("event id %x: want 16 bytes, not all zero", r.EventId)
	}
	if n := len(in.ParentId); n != 0 && n != 16 {
		return fmt.Errorf("parent id: %d bytes, want 16 or none", n)
	}
	if n := len(in.Embedding); n != 0 && n != schemas.EmbeddingDim {
		return fmt.Errorf("embedding: %d values, want %d or none", n, schemas.EmbeddingDim)
	}
	if n := rowBytes(in); n > maxRowBytes {
		return fmt.Errorf("the intent has %d bytes, at most %d can be stored", n, maxRowBytes)
	}
	ok := utf8.ValidString(in.Command) && utf8.ValidString(in.StatedIntent) && utf8.ValidString(in.OutputTail)
	for _, s := range rowTexts(in) {
		ok = ok && utf8.ValidString(s)
	}
	for _, list := range [2][]string{in.Programs, in.Concepts} {
		for _, s := range list {
			ok = ok && utf8.ValidString(s)
		}
	}
	for _, res := range in.Resources {
		ok = ok && utf8.ValidString(res.GetName())
	}
	for _, t := range in.Tokens {
		ok = ok && utf8.ValidString(t.GetText())
	}
	if !ok {
		return errors.New("a text is not UTF-8")
	}
	return nil
}
