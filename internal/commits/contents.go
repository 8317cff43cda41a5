package commits

import (
	"context"
	"time"

	"github.com/recountdb/recount/internal/git"
)

// readAhead is the number of objects that are requested at once.
const readAhead = 1000

// contents appends the contents of those changes that must be read and were not seen yet.
func (im *importer) contents(ctx context.Context, changes []git.Change, skipped []string, at time.Time) error {
	var wanted []git.Change
	queued := map[seenKey]bool{}
	for i, ch := range changes {
		if ch.Status == 'D' || skipped[i] != "" {
			continue
		}
		key := im.seenKey(ch)
		if _, seen := im.state.seen[key]; seen || queued[key] || im.isMissing(key) {
			continue
		}
		queued[key] = true
		wanted = append(wanted, ch)
	}
	for len(wanted) > 0 {
		n := min(readAhead, len(wanted))
		if err := im.some(ctx, wanted[:n], at); err != nil {
			return err
		}
		wanted = wanted[n:]
	}
	return nil
}

func (im *importer) isMissing(key seenKey) bool {
	_, missing := im.missing[key]
	return missing
}

// some appends contents that were not seen before.
func (im *importer) some(ctx context.Context, wanted []git.Change, at time.Time) error {
	ids := make([]string, len(wanted))
	for i, ch := range wanted {
		ids[i] = ch.Blob
	}
	var read []git.Change
	err := im.objects.Infos(ids, func(i int, info git.Info) error {
		ch := wanted[i]
		ch.Size = info.Size
		switch {
		case info.Type == "" && im.repo.Damaged(ch.Blob):
			return &git.ObjectError{ID: ch.Blob, Missing: true}
		case info.Type == "":
			// Not stored as skipped: the next clone may have it.
			im.missing[im.seenKey(ch)] = struct{}{}
			im.lacks(&im.report.Missing.Files, ch.Path)
		case info.Type != git.TypeBlob:
			return &git.ObjectError{ID: ch.Blob, Detail: "a " + info.Type + " where a file belongs"}
		case info.Size > im.o.Limits.Content:
			im.leaveOut(ch, oversized)
		default:
			read = append(read, ch)
		}
		return nil
	})
	if err != nil {
		return err
	}
	ids = ids[:0]
	for _, ch := range read {
		ids = append(ids, ch.Blob)
	}
	return im.objects.Read(ids, func(i int, info git.Info, content []byte) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if info.Type != git.TypeBlob {
			return &git.ObjectError{ID: info.ID, Detail: "a " + info.Type + " where a file belongs"}
		}
		return im.append(ctx, read[i], content, at)
	})
}

// append appends a content, or records the reason why it is skipped.
func (im *importer) append(ctx context.Context, ch git.Change, content []byte, at time.Time) error {
	if v := judge(ch.Path, content); v != sent {
		im.leaveOut(ch, v)
		return nil
	}
	e, fits, err := im.revised(ch, content, at)
	if err != nil {
		return err
	}
	if !fits {
		im.leaveOut(ch, incompressible)
		return nil
	}
	if err := im.feed.add(ctx, e); err != nil {
		return err
	}
	im.feed.see(im.seenKey(ch), seenContent{int64(len(content)), sent})
	im.report.Files++
	im.report.Bytes += int64(len(content))
	if im.report.Files%readAhead == 0 {
		im.progress() // for a commit of very many files
	}
	return nil
}

// leaveOut records why a content is not on the log.
func (im *importer) leaveOut(ch git.Change, v verdict) {
	im.feed.see(im.seenKey(ch), seenContent{max(0, ch.Size), v})
}
