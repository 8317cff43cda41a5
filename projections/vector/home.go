package vector

import (
	"errors"
	"io"
	"io/fs"

	"github.com/recountdb/recount/projections/sealed"
	"github.com/recountdb/recount/schemas"
)

// home is where the files of a shard are.
type home struct {
	tp     schemas.TopicPartition
	folder sealed.Folder
	opts   *Options
	damage *damage
}

// store writes a file of the shard, with the options and the topic that it was made with.
func (h *home) store(name string, durable bool, head header, regions []region) error {
	if err := h.folder.Make(); err != nil {
		return err
	}
	regions = append([]region{
		{tagParams, ofShard, [][]byte{[]byte(h.opts.params())}},
		{tagTopic, ofShard, [][]byte{[]byte(h.tp.Topic)}},
	}, regions...)
	return sealed.Replace(h.opts.disk, h.folder.Dir, name, durable, func(w io.Writer) error { return writeFile(w, head, regions) })
}

// remove deletes a file that is no longer needed.
func (h *home) remove(name string) {
	if err := h.folder.Remove(name); err != nil {
		h.opts.Logger.Warn("vector: leftover not removed", "projection", Name, "position", h.tp.String(), "err", err)
	}
}

// open opens a file of the shard and checks that it is the expected one. It does not read the regions
// with the tags of unread.
func (h *home) open(path string, kind fileKind, seq uint64, unread ...tag) (*file, error) {
	f, err := openFile(path, unread...)
	if errors.Is(err, fs.ErrNotExist) && kind != kindTail {
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
		return schemas.Fatalf("%s was made with %s, not with %s: set that, or rebuild it with `recount rebuild --projection %s`", f.path, params, h.opts.params(), Name)
	}
	if f.kind != kind || f.sequence != seq {
		return corrupt(f.path, "header", 0, headerSize, "kind %d, sequence %d: want kind %d, sequence %d", f.kind, f.sequence, kind, seq)
	}
	return nil
}
