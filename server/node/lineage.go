package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/recountdb/recount/schemas"
)

// noteEvery is the interval at which noteLineage records the projections' position in an external
// log. A crash loses at most the last interval of what identifies that log.
const noteEvery = 15 * time.Second

// noteLineage keeps the record of the log from which the projections were made up to date, until
// ctx ends. The embedded log does not need it.
func (n *Node) noteLineage(ctx context.Context) error {
	if n.set == nil || n.log.Embedded() {
		return nil
	}
	tick := time.NewTicker(noteEvery)
	defer tick.Stop()
	var noted schemas.Watermark
	for {
		select {
		case <-ctx.Done():
			// Whatever is read after this is read again, or is not covered by the record.
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), n.cfg.ShutdownTimeout)
			defer cancel()
			if err := n.set.Note(last); err != nil {
				n.cfg.Logger.Warn("the projections do not name the log they were built from: noting the current one", "err", err)
			}
			return nil
		case <-tick.C:
		}
		w := n.set.Watermark()
		if noted.Covers(w) && w.Covers(noted) {
			continue
		}
		if err := n.set.Note(ctx); err != nil {
			continue // try again at the next tick
		}
		noted = w
	}
}

// erasedFile records which erasures are done here: the watermark of topic erasures, and below it
// the identity of the log. Without it all erasures are repeated, which only takes time.
const erasedFile = "erased"

// erased returns the watermark in erasedFile, empty if there is no file or if it belongs to another
// log.
func (n *Node) erased(ctx context.Context) (schemas.Watermark, error) {
	n.marking.Lock()
	defer n.marking.Unlock()
	if n.erasedUpTo == nil {
		w, err := n.readErased(ctx)
		if err != nil {
			return nil, err
		}
		n.erasedUpTo = w
	}
	return maps.Clone(n.erasedUpTo), nil
}

func (n *Node) readErased(ctx context.Context) (schemas.Watermark, error) {
	b, err := os.ReadFile(filepath.Join(n.dir.path, erasedFile))
	if errors.Is(err, fs.ErrNotExist) {
		return schemas.Watermark{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read how far erasures are applied: %w", err)
	}
	marks, kept, _ := strings.Cut(strings.TrimSpace(string(b)), "\n")
	w, err := schemas.ParseWatermark(marks)
	if err != nil {
		// The file is replaced atomically, so this is unexpected; repeating all erasures is safe.
		return schemas.Watermark{}, nil
	}
	why, err := n.log.Diverged(ctx, kept, w)
	if err != nil {
		return nil, fmt.Errorf("read how far erasures are applied: %w", err)
	}
	if why != "" {
		n.cfg.Logger.Warn("the erasures applied so far belong to another log: applying those of this one", "why", why)
		return schemas.Watermark{}, nil
	}
	return w, nil
}

// setErased writes the watermark up to which erasures are done to erasedFile.
func (n *Node) setErased(ctx context.Context, w schemas.Watermark) error {
	if have, err := n.erased(ctx); err == nil && have.Covers(w) && w.Covers(have) {
		return nil
	}
	kept, err := n.log.Lineage(ctx, w)
	if err == nil {
		err = writeFile(filepath.Join(n.dir.path, erasedFile), []byte(w.String()+"\n"+kept+"\n"), 0o600)
	}
	if err != nil {
		return fmt.Errorf("store how far erasures are applied: %w", err)
	}
	n.marking.Lock()
	defer n.marking.Unlock()
	n.erasedUpTo = maps.Clone(w)
	return nil
}
