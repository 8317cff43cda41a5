package node

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"slices"
	"sort"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/pipeline"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// retiredFile holds the keys of all events that retention removed of commands and agents: a
// hash that says which ids.retired events it was made from, the CRC-32C of that hash and the
// keys (little-endian), then the keys in ascending order. It is made from the log, and made
// again if it is missing, damaged or of another log.
const (
	retiredFile   = "retired-ids"
	retiredHeader = sha256.Size + 4
	retiredKey    = len(schemas.EventID{})
)

// keyOfRetired returns the key of an event, known by seenAs, of a topic's full name.
func keyOfRetired(topic string, id schemas.EventID) schemas.EventID {
	return schemas.NewCanon("recount/retired/1").String(topic).Bytes(id[:]).ID()
}

// retiredIDs says which events retention removed, so that nobody appends them again. Its
// zero value with a path and a log is ready.
type retiredIDs struct {
	path string
	log  *pipeline.Log

	mu     sync.RWMutex
	file   *os.File // nil until something is retired
	keys   int
	events int // ids.retired events that the file was made from
}

// has reports whether retention removed the event of a topic, without its prefix, that is
// known by id (seenAs), and a position of that topic that went. The event's own position is
// not kept.
func (r *retiredIDs) has(ctx context.Context, topic string, id schemas.EventID) (at schemas.Position, found bool, err error) {
	named := r.log.RetiredIDs()
	if len(named) == 0 {
		return at, false, nil
	}
	topic = r.log.Topic(topic)
	r.mu.RLock()
	if r.file == nil || r.events < len(named) {
		r.mu.RUnlock()
		// Others wait for it, too.
		if err := r.update(context.WithoutCancel(ctx)); err != nil {
			return at, false, schemas.Transientf("read the ids of retired events: %w", err)
		}
		r.mu.RLock()
	}
	defer r.mu.RUnlock()
	key := keyOfRetired(topic, id)
	var have schemas.EventID
	read := func(i int) schemas.EventID {
		if _, failed := r.file.ReadAt(have[:], int64(retiredHeader+i*retiredKey)); failed != nil {
			err = failed
		}
		return have
	}
	i := sort.Search(r.keys, func(i int) bool { x := read(i); return bytes.Compare(x[:], key[:]) >= 0 })
	if err == nil && i < r.keys {
		found = read(i) == key
	}
	if err != nil {
		return at, false, schemas.Transientf("look up a retired id: %w", err)
	}
	if found {
		at.Topic = topic
		for tp, c := range r.log.Cuts() {
			if tp.Topic == topic && (at.Offset == 0 || tp.Partition < at.Partition) {
				at.Partition, at.Offset = tp.Partition, c.First-1
			}
		}
	}
	return at, found, nil
}

// update adds to the file the ids that the log names and the file lacks.
func (r *retiredIDs) update(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	named := r.log.RetiredIDs()
	if r.file == nil {
		if err := r.open(); err != nil {
			return err
		}
	}
	have, sum, err := r.madeFrom(named)
	if err != nil {
		return err
	}
	var fresh []schemas.EventID
	for _, x := range named[have:] {
		if fresh, err = r.read(ctx, x, fresh); err != nil {
			return err
		}
		sum = nextRetired(sum, x)
	}
	if have < len(named) {
		slices.SortFunc(fresh, func(a, b schemas.EventID) int { return bytes.Compare(a[:], b[:]) })
		if err := r.merge(sum, slices.Compact(fresh), have > 0); err != nil {
			return err
		}
	}
	r.events = len(named)
	return nil
}

// nextRetired continues the header over one more ids.retired event.
func nextRetired(sum schemas.Hash, x pipeline.RetiredIDs) schemas.Hash {
	return sha256.Sum256(append(sum[:], x.SHA256[:]...))
}

// open opens the file, which is created if it is missing, and emptied if its checksum does not
// hold.
func (r *retiredIDs) open() error {
	f, err := os.OpenFile(r.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	b, err := io.ReadAll(f)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	whole := len(b) >= retiredHeader && (len(b)-retiredHeader)%retiredKey == 0 &&
		binary.LittleEndian.Uint32(b[sha256.Size:]) == schemas.UpdateCRC32C(schemas.CRC32C(b[:sha256.Size]), b[retiredHeader:])
	if !whole {
		if len(b) > 0 {
			r.log.Config().Logger.Warn("the file of retired ids is damaged: reading the ids from the log again", "file", r.path)
		}
		if err := f.Truncate(0); err != nil {
			return errors.Join(err, f.Close())
		}
		b = b[:0]
	}
	r.file, r.keys = f, max(0, len(b)-retiredHeader)/retiredKey
	return nil
}

// madeFrom says how many of the named events the file was made from, and its header then. A
// file of another log was made from none of them.
func (r *retiredIDs) madeFrom(named []pipeline.RetiredIDs) (events int, sum schemas.Hash, err error) {
	var header schemas.Hash
	if _, err := r.file.ReadAt(header[:], 0); err != nil && !errors.Is(err, io.EOF) {
		return 0, sum, err
	}
	at := sum
	for i, x := range named {
		if at = nextRetired(at, x); at == header {
			return i + 1, at, nil
		}
	}
	return 0, sum, nil
}

// read appends the keys of an ids.retired event. One that cannot be read any more is logged
// and passed over: appends must go on.
func (r *retiredIDs) read(ctx context.Context, x pipeline.RetiredIDs, keys []schemas.EventID) ([]schemas.EventID, error) {
	lr, err := r.log.Read(ctx, x.At)
	var e schemas.Event
	if err == nil {
		e, err = lr.Event()
	}
	var payload proto.Message
	if err == nil {
		payload, err = e.DecodePayload()
	}
	m, ok := payload.(*recountv1.IdsRetired)
	if err == nil && (!ok || sha256.Sum256(m.Ids) != x.SHA256) {
		err = schemas.Poisonf("the file holds other ids there")
	}
	if errors.Is(err, schemas.ErrPoison) {
		r.log.Config().Logger.Error("the log no longer has the ids of retired events: an import may bring these events back", "position", x.At.String(), "err", err)
		return keys, nil
	}
	if err != nil {
		return keys, err
	}
	for id := range slices.Chunk(m.Ids, retiredKey) {
		if len(id) == retiredKey {
			keys = append(keys, keyOfRetired(m.Topic, schemas.EventID(id)))
		}
	}
	return keys, nil
}

// merge replaces the file by one with more keys, synced, with or without those of the old.
func (r *retiredIDs) merge(header schemas.Hash, fresh []schemas.EventID, old bool) error {
	f, err := os.OpenFile(r.path+".new", os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<16)
	keys, sum := 0, schemas.CRC32C(header[:])
	put := func(key schemas.EventID) {
		_, _ = w.Write(key[:]) // Flush has the error
		sum = schemas.UpdateCRC32C(sum, key[:])
		keys++
	}
	err = func() error {
		if _, err := w.Write(append(header[:], 0, 0, 0, 0)); err != nil {
			return err
		}
		if old {
			have := bufio.NewReaderSize(io.NewSectionReader(r.file, int64(retiredHeader), int64(r.keys*retiredKey)), 1<<16)
			for range r.keys {
				var key schemas.EventID
				if _, err := io.ReadFull(have, key[:]); err != nil {
					return err
				}
				for len(fresh) > 0 && bytes.Compare(fresh[0][:], key[:]) < 0 {
					put(fresh[0])
					fresh = fresh[1:]
				}
				if len(fresh) > 0 && fresh[0] == key {
					fresh = fresh[1:]
				}
				put(key)
			}
		}
		for _, key := range fresh {
			put(key)
		}
		if err := w.Flush(); err != nil {
			return err
		}
		if _, err := f.WriteAt(binary.LittleEndian.AppendUint32(nil, sum), sha256.Size); err != nil {
			return err
		}
		return f.Sync()
	}()
	if err == nil {
		err = os.Rename(f.Name(), r.path)
	}
	if err != nil {
		return errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	before := r.file
	r.file, r.keys = f, keys
	return before.Close()
}

// Close closes the file.
func (r *retiredIDs) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file == nil {
		return nil
	}
	err := r.file.Close()
	r.file, r.keys, r.events = nil, 0, 0
	return err
}

// retiredPerEvent bounds an ids.retired to a mebibyte.
const retiredPerEvent = 1 << 16

// appendRetiredIDs appends the ids of the events that are about to be retired, and returns
// what names them. They have no effect until a records.retired does so.
func (n *Node) appendRetiredIDs(ctx context.Context, topic string, cuts map[schemas.TopicPartition]pipeline.Cut, m *meter) (named []*recountv1.RetiredIds, err error) {
	from, err := n.log.Starts(ctx, topic)
	if err != nil {
		return nil, err
	}
	until := schemas.Watermark{}
	for tp, c := range cuts {
		until[tp] = c.First
	}
	var mu sync.Mutex
	var ids []schemas.EventID
	m.begin("keep the ids", distance(from, until))
	err = n.log.Follow(ctx, pipeline.FollowOptions{
		Partitions: until.Partitions(), Until: until, MaxRecords: replayRecords, MaxBytes: replayBytes,
		From: func(tp schemas.TopicPartition) int64 { return from[tp] },
	}, func(_ context.Context, _ schemas.TopicPartition, recs []schemas.LogRecord, _ int64) error {
		mu.Lock()
		defer mu.Unlock()
		for _, r := range recs {
			if id, ok := seenAs(r); ok {
				ids = append(ids, id)
			}
		}
		m.add(int64(len(recs)))
		return nil
	})
	m.end()
	if err != nil {
		return nil, err
	}
	slices.SortFunc(ids, func(a, b schemas.EventID) int { return bytes.Compare(a[:], b[:]) })
	now := time.Now().UTC()
	each := min(retiredPerEvent, n.log.Config().MaxEventBytes/2/retiredKey)
	for chunk := range slices.Chunk(slices.Compact(ids), each) {
		payload := &recountv1.IdsRetired{Topic: topic}
		for _, id := range chunk {
			payload.Ids = append(payload.Ids, id[:]...)
		}
		data, err := proto.MarshalOptions{Deterministic: true}.Marshal(payload)
		if err != nil {
			return nil, err
		}
		e := schemas.Event{
			Type: schemas.TypeIDsRetired, Source: schemas.DefaultSource, Time: now, Key: schemas.KeyOf(payload),
			ContentType: schemas.ContentProto, Payload: data,
		}
		e.ID = e.DeriveID()
		at, err := n.log.Append(ctx, schemas.TopicFacts, e)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(payload.Ids)
		named = append(named, &recountv1.RetiredIds{Position: at[0].Proto(), Sha256: sum[:]})
	}
	return named, nil
}
