package node

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
)

// maxDifferences is the maximum number of differences to look for and report.
const maxDifferences = 20

// Verify implements api.Backend. It replays the log into a scratch directory up to the live
// watermark and compares one projection after the other: the root hash of the whole state, and
// every sealed file byte for byte. A projection applies no batch while it is compared; the log
// continues.
func (n *Node) Verify(ctx context.Context, r api.VerifyRequest, progress func(api.Progress)) (report api.VerifyReport, err error) {
	ctx, names, done, err := n.work(ctx, r.Projections)
	if err != nil {
		return report, err
	}
	defer done()
	if report.Unread, err = n.awaitRead(ctx); err != nil {
		return report, fmt.Errorf("verify: %w", err)
	}
	dir := filepath.Join(n.dir.path, scratchDir)
	if err := os.RemoveAll(dir); err != nil {
		return report, fmt.Errorf("verify: %w", err)
	}
	var wanted []projections.Definition
	for _, k := range n.cfg.kinds() {
		if slices.Contains(names, k.Name) {
			wanted = append(wanted, k)
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return report, fmt.Errorf("verify: %w", err)
	}
	scratch, err := projections.Open(dir, projections.Options{Logger: n.cfg.Logger, Reject: passOver, Seed: n.seed}, wanted...)
	if err != nil {
		return report, fmt.Errorf("verify: %w", errors.Join(err, os.RemoveAll(dir)))
	}
	defer func() { err = errors.Join(err, scratch.Close(), os.RemoveAll(dir)) }()

	m := newMeter(progress)
	for phase := "replay"; ; phase = "catch up" {
		live := n.set.Watermark()
		left := missing(scratch, live)
		if phase != "replay" && left < replayRecords {
			break
		}
		m.begin(phase, left)
		if err := n.replay(ctx, scratch, live, nil, m.add); err != nil {
			return report, fmt.Errorf("verify: %w", err)
		}
		m.end()
		report.Events += m.done.Load()
	}
	report.OK = len(report.Unread) == 0
	for _, name := range names {
		m.begin("compare "+name, 0)
		v, err := n.compare(ctx, name, scratch, dir)
		if err != nil {
			return report, fmt.Errorf("verify %s: %w", name, err)
		}
		report.Projections = append(report.Projections, v)
		report.OK = report.OK && v.Differing == 0 && v.Error == "" && v.Live == v.Replayed
	}
	m.end()
	report.Erased = n.log.Erased()
	report.ElapsedMS = sinceMS(m.start)
	return report, nil
}

// compare holds a live projection, brings the replayed one to the same watermark and compares them.
// An error is about the replay; what is wrong with the live state is in the result.
func (n *Node) compare(ctx context.Context, name string, scratch *projections.Set, dir string) (v api.VerifiedProjection, err error) {
	// The projection compared before may have been held with a batch applied that this one still
	// lacks.
	if err := n.set.Wait(ctx, scratch.Watermark()); err != nil {
		return v, err
	}
	live, release, err := n.set.AcquireExclusive(name)
	if err != nil {
		return v, err
	}
	defer release()
	v.Name, v.Watermark = name, live.Watermark()
	if err := n.replay(ctx, scratch, v.Watermark, nil, func(int64) {}); err != nil {
		return v, err
	}
	replayed, leave, err := scratch.Acquire(name)
	if err != nil {
		return v, err
	}
	defer leave()
	if have := replayed.Watermark(); !have.Covers(v.Watermark) || !v.Watermark.Covers(have) {
		return v, schemas.Fatalf("replayed up to %s, but the live state is at %s", have, v.Watermark)
	}
	if v.Replayed, err = projections.Root(ctx, replayed); err != nil {
		return v, err
	}
	counted := &counter{Projection: live}
	if v.Live, err = projections.Root(ctx, counted); err != nil {
		if ctx.Err() != nil {
			return v, err
		}
		v.Error = err.Error()
	}
	v.Keys = counted.keys
	if v.Live != v.Replayed {
		diffs, err := projections.Compare(ctx, live, replayed, maxDifferences)
		if err != nil && ctx.Err() != nil {
			return v, err
		} else if err != nil {
			v.Error = err.Error()
		}
		for _, d := range diffs {
			v.Differences = append(v.Differences, keyDifference(d))
		}
	}
	files, count, err := compareFiles(ctx, liveDir(filepath.Join(n.dir.path, projectionsDir), name), liveDir(dir, name))
	if err != nil {
		return v, err
	}
	v.Files = count
	v.Differences = append(v.Differences, files...)
	v.Differing = int64(len(v.Differences))
	return v, nil
}

// counter counts the keys of a dump.
type counter struct {
	projections.Projection
	keys int64
}

func (c *counter) Dump(ctx context.Context, yield func(key, value []byte) error) error {
	return c.Projection.Dump(ctx, func(k, v []byte) error {
		c.keys++
		return yield(k, v)
	})
}

// keyDifference describes where two values of a key differ. A is the live value.
func keyDifference(d projections.Difference) api.Difference {
	out := api.Difference{Key: strconv.Quote(string(d.Key))}
	switch {
	case d.A == nil:
		out.Kind = "key_missing"
	case d.B == nil:
		out.Kind = "key_extra"
	default:
		out.Kind = "key_differs"
		out.Byte = int64(parting(d.A, d.B))
	}
	out.Live, out.Replayed = excerpt(d.A, out.Byte), excerpt(d.B, out.Byte)
	return out
}

// parting returns the index of the first byte at which a and b differ.
func parting(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// excerpt returns up to 16 bytes from index at, in hex.
func excerpt(b []byte, at int64) string {
	if at >= int64(len(b)) {
		return ""
	}
	return hex.EncodeToString(b[at:min(int64(len(b)), at+16)])
}

// sealedFile matches files that never change once written and whose bytes are a function of the
// log: TBF segments and the steps of package vector. Pebble's files, checkpoints, and the links and
// codes of package vector are not.
var sealedFile = regexp.MustCompile(`^[0-9][^/]*\.(tbf|vec)$`)

func sealedFiles(dir string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && sealedFile.MatchString(e.Name()) {
			rel, rerr := filepath.Rel(dir, path)
			files, err = append(files, rel), rerr
		}
		return err
	})
	return files, err
}

// compareFiles compares the sealed files below two folders.
func compareFiles(ctx context.Context, live, replayed string) (diffs []api.Difference, count int, err error) {
	a, err := sealedFiles(live)
	if err != nil {
		return nil, 0, err
	}
	b, err := sealedFiles(replayed)
	if err != nil {
		return nil, 0, err
	}
	for _, name := range b {
		if !slices.Contains(a, name) {
			diffs = append(diffs, api.Difference{Kind: "file_missing", File: name})
		}
	}
	for _, name := range a {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		count++
		if !slices.Contains(b, name) {
			diffs = append(diffs, api.Difference{Kind: "file_extra", File: name})
			continue
		}
		d, err := compareFile(filepath.Join(live, name), filepath.Join(replayed, name))
		if err != nil {
			return nil, 0, err
		}
		if d != nil {
			d.File = name
			diffs = append(diffs, *d)
		}
		if len(diffs) >= maxDifferences {
			break
		}
	}
	return diffs, count, nil
}

// compareFile finds the first byte at which two files differ; nil if they are equal.
func compareFile(live, replayed string) (*api.Difference, error) {
	f, err := os.Open(live)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	g, err := os.Open(replayed)
	if err != nil {
		return nil, err
	}
	defer g.Close()
	const chunk = 1 << 20
	a, b := make([]byte, chunk), make([]byte, chunk)
	for at := int64(0); ; at += chunk {
		na, err := readFull(f, a)
		if err != nil {
			return nil, err
		}
		nb, err := readFull(g, b)
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(a[:na], b[:nb]) {
			i := int64(parting(a[:na], b[:nb]))
			return &api.Difference{
				Kind: "file_differs", Byte: at + i,
				Live: excerpt(a[:na], i), Replayed: excerpt(b[:nb], i),
			}, nil
		}
		if na < chunk {
			return nil, nil
		}
	}
}

// readFull reads until b is full or the file ends.
func readFull(r io.Reader, b []byte) (int, error) {
	n, err := io.ReadFull(r, b)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return n, err
}

// liveDir returns the folder of a projection's live generation, given the folder of all
// projections, or "" if it is unknown (package projections documents the layout).
func liveDir(dir, name string) string {
	b, err := os.ReadFile(filepath.Join(dir, name, "CURRENT"))
	if err != nil {
		return ""
	}
	return filepath.Join(dir, name, strings.TrimSpace(string(b)))
}
