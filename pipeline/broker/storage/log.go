package storage

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Log is an open log: topics and their partitions, in one directory.
type Log struct {
	dir  string
	opts Options
	log  *slog.Logger

	disk  *disk
	store *store

	clusterID string
	topics    topics
	space     space
	guarded   bool // the free space can be measured

	ctx    context.Context // ends when Close begins
	cancel context.CancelFunc

	mu      sync.Mutex
	closed  bool
	running sync.WaitGroup // background work, and calls that need the store

	// rewriting is held while records are replaced, until the old ones are scrubbed.
	rewriting sync.Mutex
}

// Options configure a log. All of them have to be set, except where it says so.
type Options struct {
	// DefaultPartitions is the number of partitions of topics created without a number.
	DefaultPartitions int
	// MaxPartitions is the maximum number of partitions of all topics together.
	MaxPartitions int
	// MaxBatchBytes is the maximum size of a record batch, unless the topic has its own.
	MaxBatchBytes int
	// MinFreeBytes is the free disk space below which Full returns an error; 0 or less: no guard.
	MinFreeBytes int64
	// ProducerExpiry is how long the sequence numbers of a silent producer are kept.
	ProducerExpiry time.Duration
	// AcceptLoss opens a log that has lost acknowledged records as it is.
	AcceptLoss bool
	// BulkBytes is the number of bytes for one topic in one group commit from which they go to a
	// segment file.
	BulkBytes int
	// SegmentBytes is the size at which a segment file is full.
	SegmentBytes int
	// ParseConfigs parses the settings of a topic; its error names the first invalid one.
	ParseConfigs func(set map[string]string) (*TopicConfigs, error)
	// Logger receives messages for operators.
	Logger *slog.Logger
	// FS is the file system of the log.
	FS vfs.FS
}

// Open opens the log in dir, creating it if there is none. It takes the same short time whatever
// the log's size. Nothing runs in the background before start.
func Open(dir string, o Options) (_ *Log, err error) {
	l := &Log{dir: dir, opts: o, log: o.Logger}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	defer func() {
		if err != nil {
			l.cancel()
			err = errors.Join(err, l.closeStorage())
		}
	}()
	if l.disk, err = openDisk(o.FS, dir); err != nil {
		return nil, err
	}
	if err = l.disk.readMarks(); err != nil {
		return nil, err
	}
	if l.store, err = openStore(o.FS, l.disk.storeDir(), l.log); err != nil {
		return nil, err
	}
	if err = l.loadTopics(); err != nil {
		return nil, err
	}
	if err = l.openSegments(); err != nil {
		return nil, err
	}
	if err = l.openHighwater(); err != nil {
		return nil, err
	}
	if err = l.store.segments.removeOrphans(); err != nil {
		return nil, err
	}
	if err = l.initCluster(); err != nil {
		return nil, err
	}
	l.space.min = uint64(max(o.MinFreeBytes, 0))
	l.space.free = func() (uint64, error) {
		u, err := o.FS.GetDiskUsage(dir)
		return u.AvailBytes, err
	}
	l.guarded = l.space.min > 0 && l.measureSpace() // before the first append
	return l, nil
}

// Start starts the work in the background: syncing the high-water file, expiring producers, guarding
// the free space, and finishing what a crash interrupted.
func (l *Log) Start() {
	l.running.Go(l.runHousekeeping)
	l.running.Go(l.resumeScrub)
	if l.guarded {
		l.running.Go(l.guardSpace)
	}
}

// enter keeps the store open until leave; false when the log is closing.
func (l *Log) enter() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.running.Add(1)
	return true
}

func (l *Log) leave() { l.running.Done() }

// Close ends the work in the background and closes the log. It returns the store's failure if there
// was one; the store is then left as it is, and the directory stays locked until the process ends.
func (l *Log) Close() error {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.cancel()
	l.running.Wait()
	return l.closeStorage()
}

func (l *Log) closeStorage() error {
	var errs []error
	if l.store != nil {
		l.closeReaders()
		errs = append(errs, l.store.close())
	}
	errs = append(errs, l.disk.close())
	return errors.Join(errs...)
}

// ClusterID returns the log's id, which never changes.
func (l *Log) ClusterID() string { return l.clusterID }

// Failed returns a channel that is closed when the store has failed.
func (l *Log) Failed() <-chan struct{} { return l.store.failed }

// Err returns why the store failed, or nil.
func (l *Log) Err() error { return l.store.failure() }
