package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/recountdb/recount/internal/backup"
	"github.com/recountdb/recount/internal/spool"
	"github.com/recountdb/recount/pipeline"
	"github.com/recountdb/recount/pipeline/broker"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
)

// backupDir holds hard links to the log's files at the moment that a backup copies. It is removed
// when the backup ends or the next node opens.
const backupDir = "backup.tmp"

// Backup implements api.Backend. A backup holds the log and the identity of the data directory;
// everything else can be rebuilt from them.
func (n *Node) Backup(ctx context.Context, r api.BackupRequest, progress func(api.Progress)) (report api.BackupReport, err error) {
	began := time.Now()
	switch {
	case !n.log.Embedded():
		return report, fmt.Errorf("%w: the log is on other brokers: back it up there; everything in this data directory is derived from it", api.ErrUnavailable)
	case !filepath.IsAbs(r.Dir):
		return report, schemas.Poisonf("dir: %q: want an absolute path on the server's machine", r.Dir)
	}
	dir := filepath.Clean(r.Dir)
	if rel, err := filepath.Rel(n.dir.path, dir); err == nil && filepath.IsLocal(rel) {
		return report, schemas.Poisonf("dir: %s is inside the data directory: a backup there would be lost with it; choose another folder", dir)
	}
	if !n.backingUp.TryLock() {
		return report, fmt.Errorf("%w: another backup is running", api.ErrBusy)
	}
	defer n.backingUp.Unlock()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(n.stopping, func() { cancel(errors.New("the node is shutting down")) })()
	of, err := n.log.Identity(ctx)
	if err != nil {
		return report, err
	}
	w, err := backup.Begin(dir, of)
	if err != nil {
		return report, fmt.Errorf("backup: %w", err)
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	// The backup will contain everything before these ends.
	ends, err := n.log.Ends(ctx)
	if err != nil {
		return report, err
	}
	moment := filepath.Join(n.dir.path, backupDir)
	if err := os.RemoveAll(moment); err != nil {
		return report, fmt.Errorf("backup: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(moment)) }()
	m := newMeter(progress)
	m.begin("freeze a consistent state of the log", 0)
	err = n.log.Checkpoint(ctx, filepath.Join(moment, pipeline.LogDir), func() error {
		return copyMoment(ctx, w, moment, filepath.Join(n.dir.path, identityFile), m)
	})
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return report, fmt.Errorf("backup: %w; the earlier backup in %s is unharmed", err, dir)
	}
	done, err := w.Finish(time.Now(), ends.String())
	if err != nil {
		return report, fmt.Errorf("backup: %w", err)
	}
	m.end()
	return api.BackupReport{
		Dir: dir, Files: len(done.Files), Bytes: done.Bytes(), Copied: w.Copied, Ends: ends,
		Spooled: !spool.Empty(spool.Dir(n.dir.path)), ElapsedMS: sinceMS(began),
	}, nil
}

// copyMoment adds the files below moment and the identity file to the backup.
func copyMoment(ctx context.Context, w *backup.Writer, moment, identity string, m *meter) error {
	var paths []string
	var total int64
	err := filepath.WalkDir(moment, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			paths, total = append(paths, path), total+info.Size()
		}
		return err
	})
	if err != nil {
		return err
	}
	m.begin("copy bytes", total)
	for _, path := range paths {
		rel, err := filepath.Rel(moment, path)
		if err != nil {
			return err
		}
		if err := w.Add(ctx, filepath.ToSlash(rel), path, m.add); err != nil {
			return err
		}
	}
	return w.Add(ctx, identityFile, identity, m.add)
}

// VerifyBackup reads a backup and returns in wrong every difference from its manifest.
func VerifyBackup(ctx context.Context, dir string, progress func(api.Progress)) (report api.BackupReport, wrong []error, err error) {
	m := newMeter(progress)
	total, _ := backup.Read(dir) // Verify reports what is wrong with it
	m.begin("read bytes", total.Bytes())
	done, wrong, err := backup.Verify(ctx, dir, m.add)
	if err != nil {
		return report, nil, err
	}
	m.end()
	report, err = reportOf(dir, done)
	report.ElapsedMS = sinceMS(m.start)
	return report, wrong, err
}

func reportOf(dir string, m backup.Manifest) (api.BackupReport, error) {
	ends, err := schemas.ParseWatermark(m.Ends)
	return api.BackupReport{Dir: dir, Files: len(m.Files), Bytes: m.Bytes(), Ends: ends, Made: m.Made}, err
}

// Restore creates a data directory from a backup. It checks the bytes against the manifest, opens
// the log and reads every batch, and compares its ends with those recorded in the manifest, and
// only then puts the directory in place. A crash before that leaves a folder beside it, whose name
// ends in ".restoring".
func Restore(ctx context.Context, from, dataDir string, progress func(api.Progress)) (report api.BackupReport, err error) {
	target, err := filepath.Abs(dataDir)
	if err != nil {
		return report, err
	}
	if entries, err := os.ReadDir(target); err == nil && len(entries) > 0 {
		return report, fmt.Errorf("%s: not empty: name a new directory, or move this one away", target)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return report, err
	}
	m := newMeter(progress)
	total, _ := backup.Read(from) // Extract reports what is wrong with it
	beside := target + ".restoring"
	if err := os.RemoveAll(beside); err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(beside)) }()
	if err := os.MkdirAll(beside, 0o700); err != nil {
		return report, err
	}
	m.begin("copy bytes", total.Bytes())
	done, err := backup.Extract(ctx, from, beside, m.add)
	if err != nil {
		return report, fmt.Errorf("restore: %s was left unchanged: %w", target, err)
	}
	m.begin("check the log", 0)
	if err := checkRestored(ctx, filepath.Join(beside, pipeline.LogDir), done); err != nil {
		return report, fmt.Errorf("restore: %s was left unchanged: %w", target, err)
	}
	if report, err = reportOf(from, done); err != nil {
		return report, err
	}
	if err := os.Remove(target); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return report, err
	}
	if err := os.Rename(beside, target); err != nil {
		return report, err
	}
	parent, err := os.Open(filepath.Dir(target))
	if err != nil {
		return report, err
	}
	m.end()
	report.ElapsedMS = sinceMS(m.start)
	return report, errors.Join(parent.Sync(), parent.Close())
}

// checkRestored opens a restored log, reads all of it, and compares its id and ends with the
// manifest.
func checkRestored(ctx context.Context, dir string, m backup.Manifest) (err error) {
	b, err := broker.Open(dir, broker.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	if b.ClusterID() != m.Of {
		return fmt.Errorf("the log is %s, but the backup names %s", b.ClusterID(), m.Of)
	}
	damage, err := b.Check(ctx)
	if err != nil {
		return err
	}
	if len(damage) > 0 {
		return fmt.Errorf("the log is damaged: %s, and in %d more places", damage[0], len(damage)-1)
	}
	want, err := schemas.ParseWatermark(m.Ends)
	if err != nil {
		return err
	}
	for _, tp := range want.Partitions() {
		if end := b.End(tp.Topic, tp.Partition); end < want[tp] {
			return fmt.Errorf("%s ends at offset %d, but ended at %d when the backup was made", tp, end, want[tp])
		}
	}
	return nil
}
