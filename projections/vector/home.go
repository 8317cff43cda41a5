package vector

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/recountdb/recount/projections/sealed"
	"github.com/recountdb/recount/schemas"
)

// home is the folder of a shard.
type home struct {
	tp   schemas.TopicPartition
	dir  string
	opts *Options
	made bool // the folder exists
}

// folder creates the shard's folder.
func (h *home) folder() error {
	if h.made {
		return nil
	}
	if err := h.opts.disk.MkdirAll(h.dir); err != nil {
		return err
	}
	if err := h.opts.disk.SyncDir(filepath.Dir(h.dir)); err != nil {
		return err
	}
	h.made = true
	return nil
}

func (h *home) store(name string, durable bool, head header, regions []region) error {
	if err := h.folder(); err != nil {
		return err
	}
	replace := sealed.Replace
	if name == tailName {
		replace = sealed.ReplacePacked // it is read once, and rewritten until the next step
	}
	return replace(h.opts.disk, h.dir, name, durable, func(w io.Writer) error { return writeFile(w, head, regions) })
}

// remove deletes a file that is no longer needed.
func (h *home) remove(name string) {
	if err := h.opts.disk.Remove(filepath.Join(h.dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		h.opts.Logger.Warn("vector: leftover not removed", "projection", Name, "position", h.tp.String(), "err", err)
	}
}

// whose returns the regions that every file has: the options and the topic it was made with.
func (h *home) whose() []region {
	return []region{
		{tagParams, ofShard, [][]byte{[]byte(h.opts.params())}},
		{tagTopic, ofShard, [][]byte{[]byte(h.tp.Topic)}},
	}
}

// open opens a file of the shard and checks that it is the expected one.
func (h *home) open(path string, kind fileKind, seq uint64) (*file, error) {
	f, err := openFile(path)
	if errors.Is(err, fs.ErrNotExist) && kind != kindTail && kind != kindObjectTail {
		return nil, corrupt(path, "file", 0, 0, "missing")
	}
	if err != nil {
		return nil, err
	}
	if err := h.belongs(f, kind, seq); err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

func (h *home) belongs(f *file, kind fileKind, seq uint64) error {
	topic, err := f.get(tagTopic, ofShard)
	if err != nil {
		return err
	}
	params, err := f.get(tagParams, ofShard)
	if err != nil {
		return err
	}
	if got := (schemas.TopicPartition{Topic: string(topic), Partition: f.partition}); got != h.tp {
		return corrupt(f.path, "header", 0, headerSize, "it is a file of %s, not of %s", got, h.tp)
	}
	if string(params) != h.opts.params() {
		return schemas.Fatalf("%s was made with %s, not with %s: set that, or make it anew with `recount rebuild --projection %s`", f.path, params, h.opts.params(), Name)
	}
	if f.kind != kind || f.sequence != seq {
		return corrupt(f.path, "header", 0, headerSize, "kind %d, sequence %d: want kind %d, sequence %d", f.kind, f.sequence, kind, seq)
	}
	return nil
}
