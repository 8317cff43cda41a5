package broker

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recountdb/recount/pipeline/broker/storage"
	"github.com/recountdb/recount/pipeline/broker/wire"
)

// maxFetchWait is the maximum duration of a long poll, whatever the client asks for.
const maxFetchWait = 5 * time.Minute

// serveFetch answers with the batches from each partition's offset, or waits until there are
// enough. There are no fetch sessions: every request names all partitions, which KIP-227 allows and
// which is cheap with one broker.
func (b *Broker) serveFetch(ctx context.Context, r *request) (kmsg.Response, error) {
	req := r.msg.(*kmsg.FetchRequest)
	resp := kmsg.NewPtrFetchResponse()
	resp.SetVersion(req.Version)
	if req.SessionID != 0 {
		resp.ErrorCode = kerr.FetchSessionIDNotFound.Code
		return resp, nil
	}
	f := b.newFetch(req)
	f.memory, f.who = r.conn.answers(), r.conn.host
	// The memory is held until the response is written, also if there is an error.
	defer func() { r.conn.held += f.held }()
	start, wait := time.Now(), min(max(time.Duration(req.MaxWaitMillis)*time.Millisecond, 0), maxFetchWait)
	deadline := time.NewTimer(wait)
	defer deadline.Stop()
	for {
		f.read(b)
		if f.short && f.got == 0 && !f.settled && ctx.Err() == nil {
			// Other answers use all the memory: try again when some may have been written.
			b.freeStalled(time.Now())
			select {
			case <-time.After(roomPause):
			case <-ctx.Done():
			}
			if time.Since(start) < wait {
				continue
			}
			break
		}
		enough := int(req.MinBytes)
		if f.limit > 0 { // without memory now, it still waits for what is appended
			enough = min(enough, f.limit)
		}
		if f.settled || f.got >= enough {
			break
		}
		w := storage.NewWaiter(int64(enough - f.got))
		f.watch(w)
		wait := true
		select {
		case <-w.Ready:
		case <-deadline.C:
			wait = false
		case <-ctx.Done():
			wait = false
		}
		f.unwatch(w)
		if !wait {
			break
		}
	}
	f.respond(resp)
	return resp, nil
}

const (
	// minFetch is the minimum size of a response, if there is memory.
	minFetch = 64 << 10
	// roomPause is the interval at which a fetch checks for free memory.
	roomPause = 50 * time.Millisecond
	// copies is how many times a response holds its records in memory: as read, and as written.
	copies = 2
)

// fetch is the state of one fetch request.
type fetch struct {
	req     *kmsg.FetchRequest
	parts   []fetchPart
	max     int  // maximum bytes of batches in the response
	limit   int  // of max, what memory allows now
	got     int  // bytes read
	took    int  // bytes allocated for them
	settled bool // waiting is pointless: there is an error to report, or more data than fits
	short   bool // there are batches to read but no memory for them

	memory *memoryLimiter
	who    string // the address that the memory is charged to
	held   int64  // bytes taken from memory
}

// fetchPart is what is requested of one partition, and what was found.
type fetchPart struct {
	p    *storage.Partition
	want *kmsg.FetchRequestTopicPartition
	err  *kerr.Error
	view storage.State
	data []byte
}

func (b *Broker) newFetch(req *kmsg.FetchRequest) *fetch {
	f := &fetch{req: req, max: b.opts.MaxFetchBytes}
	if req.MaxBytes > 0 {
		f.max = min(f.max, int(req.MaxBytes))
	}
	for i := range req.Topics {
		rt := &req.Topics[i]
		t, terr := b.data.FindTopic(rt.Topic, rt.TopicID)
		for j := range rt.Partitions {
			part := fetchPart{want: &rt.Partitions[j], err: terr}
			if t != nil {
				if part.p = t.Partition(part.want.Partition); part.p == nil {
					part.err = kerr.UnknownTopicOrPartition
				}
			}
			f.parts = append(f.parts, part)
		}
	}
	return f
}

// ahead estimates how many bytes there are from the requested offset on.
func (part *fetchPart) ahead() int {
	if part.view.End <= 0 {
		return 0
	}
	each := float64(part.view.Bytes) / float64(part.view.End) // both counted from the log's first record
	return int(each*float64(part.view.End-part.want.FetchOffset)*1.05) + 4<<10
}

// read reads every partition again.
func (f *fetch) read(b *Broker) {
	f.memory.give(f.who, f.held)
	f.held = f.memory.grant(f.who, copies*int64(f.max), copies*min(minFetch, int64(f.max)))
	f.got, f.took, f.limit = 0, 0, int(f.held/copies)
	defer func() {
		took := int64(f.took) * copies
		f.memory.give(f.who, f.held-took)
		f.held = took
	}()
	f.settled, f.short = len(f.parts) == 0, false
	for i := range f.parts {
		part := &f.parts[i]
		if part.p != nil {
			part.err = part.check()
			part.data = part.data[:0]
		}
		if part.err == nil {
			if err := f.readPart(b, part); err != nil {
				part.err, part.data = b.readFailed(part, err), nil
			}
			f.got += len(part.data)
			f.took += cap(part.data)
		}
		if part.err != nil {
			f.settled = true
		}
	}
}

// readFailed returns the error for a client when a partition cannot be read, and logs it once for
// each place, since a client may retry at once. Damage does not go away, so the error must not make
// clients retry for ever.
func (b *Broker) readFailed(part *fetchPart, err error) *kerr.Error {
	if e := part.check(); e != nil {
		return e // deleted while it was read
	}
	if part.p.FailureIsNew(part.want.FetchOffset) {
		b.log.Error("cannot read the log", "partition", part.p.String(), "offset", part.want.FetchOffset, "err", err)
	}
	if storage.Unreadable(err) {
		return kerr.UnknownServerError
	}
	return kerr.KafkaStorageError
}

// check takes a view of the partition and checks the client's epoch and offset against it.
func (part *fetchPart) check() *kerr.Error {
	part.view = part.p.View()
	w := part.want
	if part.p.Retired() {
		return kerr.UnknownTopicOrPartition
	}
	if err := storage.CheckEpoch(w.CurrentLeaderEpoch); err != nil {
		return err
	}
	if w.FetchOffset < part.view.Start || w.FetchOffset > part.view.End {
		return kerr.OffsetOutOfRange
	}
	return nil
}

// readPart reads whole batches from the partition, as many as the limits allow. It reads the first
// batch of a response whatever its size, since a client with a smaller limit would never get past
// it. An error after readable batches is left to the next fetch, which then begins at the error.
func (f *fetch) readPart(b *Broker, part *fetchPart) error {
	offset := part.want.FetchOffset
	switch {
	case offset >= part.view.End:
		return nil
	case f.limit == 0:
		f.short = true
		return nil
	case f.took >= f.limit:
		return nil
	}
	r, err := b.data.OpenReader(part.p, offset)
	if err != nil {
		return err
	}
	if err := f.readBatches(r, part); err != nil {
		r.Close() // it would return the same error
		if len(part.data) > 0 {
			f.settled = true
			return nil
		}
		return err
	}
	return r.Park()
}

func (f *fetch) readBatches(r *storage.Reader, part *fetchPart) error {
	limit := min(f.limit-f.took, int(part.want.PartitionMaxBytes))
	for r.Valid() {
		last := r.Last()
		if last >= part.view.End {
			break // not on disk yet
		}
		size, err := r.Size()
		if err != nil {
			return fmt.Errorf("batch ending at offset %d: %w", last, err)
		}
		if n := len(part.data) + size; n > limit && f.got+len(part.data) > 0 {
			f.settled = true
			break
		} else if len(part.data) == 0 {
			// The first batch is read whatever its size, if there is memory.
			want := max(size, min(limit, part.ahead()))
			if over := int64(f.took+want-f.limit) * copies; over > 0 {
				if !f.memory.more(f.who, f.held, over) {
					f.short = true
					break
				}
				f.held += over
			}
			part.data = slices.Grow(part.data, want)
		}
		if part.data, err = r.AppendBatch(part.data); err != nil {
			return err
		}
	}
	return r.Err()
}

func (f *fetch) watch(w *storage.Waiter) {
	for i := range f.parts {
		if p := f.parts[i].p; p != nil {
			p.Watch(w, f.parts[i].view)
		}
	}
}

func (f *fetch) unwatch(w *storage.Waiter) {
	for i := range f.parts {
		if p := f.parts[i].p; p != nil {
			p.Unwatch(w)
		}
	}
}

func (f *fetch) respond(resp *kmsg.FetchResponse) {
	parts := f.parts
	resp.Topics = make([]kmsg.FetchResponseTopic, 0, len(f.req.Topics))
	for i := range f.req.Topics {
		rt := &f.req.Topics[i]
		st := kmsg.NewFetchResponseTopic()
		st.Topic, st.TopicID = rt.Topic, rt.TopicID
		st.Partitions = make([]kmsg.FetchResponseTopicPartition, 0, len(rt.Partitions))
		for range rt.Partitions {
			part := &parts[0]
			parts = parts[1:]
			sp := kmsg.NewFetchResponseTopicPartition()
			sp.Partition = part.want.Partition
			sp.PreferredReadReplica = -1
			// Some clients do not expect null.
			sp.RecordBatches = part.data
			if sp.RecordBatches == nil {
				sp.RecordBatches = []byte{}
			}
			sp.ErrorCode = wire.ErrorCode(part.err)
			if part.p == nil {
				sp.HighWatermark, sp.LastStableOffset, sp.LogStartOffset = -1, -1, -1
			} else {
				sp.HighWatermark, sp.LastStableOffset, sp.LogStartOffset = part.view.End, part.view.End, part.view.Start
			}
			st.Partitions = append(st.Partitions, sp)
		}
		resp.Topics = append(resp.Topics, st)
	}
}
